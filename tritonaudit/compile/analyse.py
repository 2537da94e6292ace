"""The task of a compile worker: from a program to the facts of its variant. Imports triton once it has to compile."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tritonaudit.capture.launch import Program
from tritonaudit.compile import amdgcn, ptx, ptxas
from tritonaudit.compile.accesses import Access, at_operations, by_line
from tritonaudit.compile.cache import Cache
from tritonaudit.compile.facts import CompileError, LineAccess, Resources, Variant
from tritonaudit.compile.narrow import narrow_accesses
from tritonaudit.compile.occupancy import occupancy
from tritonaudit.compile.ttir import Module
from tritonaudit.hardware.targets import GpuTarget, gpu_target

if TYPE_CHECKING:
    from tritonaudit.compile.pipeline import Compilation


def analyse_program(
    program: Program, cache: Cache | None = None, explains: bool = True, until: float = math.inf
) -> Variant:
    """What compiling the program comes to, without its config, its cases and its signature: these a launch knows.

    Why accesses are narrow, which takes several compilations, is left out unless it `explains`, and by the monotonic
    clock's `until` that is known. The result is taken from the cache where that has it. The compiler may print, and on
    targets that it does not know abort the process.
    """
    found = cache.get(program) if cache else None
    if found is not None:
        return replace(found, cached=True)
    variant = _analysed(program, explains, until)
    if cache and (variant.explained or not explains):
        cache.put(program, variant)
    return variant


class _OutOfTime(Exception):
    """There is no time to explain."""


def _analysed(program: Program, explains: bool, until: float) -> Variant:
    from tritonaudit.compile.pipeline import compile_program

    target = gpu_target(program.target)
    limit = target.shared_per_block
    base = Variant(program.target, config="", cases=(), signature=(), shared_limit=limit, explained=explains)
    compilation = compile_program(program)
    error = compilation if isinstance(compilation, CompileError) else _unlaunchable(compilation, target)
    if isinstance(compilation, CompileError) or error is not None:
        return replace(base, error=error)
    module = Module(program.ttir)
    resources = _resources(compilation, target)
    accesses = line_accesses(compilation, module)
    known = replace(base, resources=resources, accesses=accesses, dots=module.dots(), matrix=_matrix(compilation))
    if not explains or (limit is not None and resources.shared > limit):
        return known
    try:
        return replace(known, narrow=narrow_accesses(module, accesses, partial(_recompiled, program, until)))
    except _OutOfTime:
        return replace(known, explained=False)


def _recompiled(program: Program, until: float, module: Module) -> tuple[LineAccess, ...] | None:
    from tritonaudit.compile.pipeline import ASSEMBLY, compile_program

    if time.monotonic() >= until:
        raise _OutOfTime
    through = ASSEMBLY[gpu_target(program.target).backend]
    compilation = compile_program(replace(program, ttir=module.text), through)
    return None if isinstance(compilation, CompileError) else line_accesses(compilation, module)


def _unlaunchable(compilation: Compilation, target: GpuTarget) -> CompileError | None:
    """What Triton refuses at the launch beside too much shared memory: more tensor memory than there is."""
    columns = compilation.metadata.get("tmem_size") or 0
    if columns <= target.tensor_memory_columns:
        return None
    return CompileError(f"it needs {columns} columns of tensor memory, and there are {target.tensor_memory_columns}")


def line_accesses(compilation: Compilation, module: Module) -> tuple[LineAccess, ...]:
    """The accesses to global memory in a compilation of the module, which has gone as far as assembly."""
    texts = compilation.texts
    if "ptx" in texts:
        found: Iterable[Access] = ptx.accesses(texts["ptx"])
    else:
        found = at_operations(amdgcn.accesses(texts["amdgcn"]), module.memory_operations())
    return by_line(found, first_column=0 if module.counts_columns_from_zero else 1)


def _matrix(compilation: Compilation) -> tuple[str, ...]:
    texts = compilation.texts
    return ptx.matrix_instructions(texts["ptx"]) if "ptx" in texts else amdgcn.matrix_instructions(texts["amdgcn"])


def _resources(compilation: Compilation, target: GpuTarget) -> Resources:
    metadata = compilation.metadata
    resources = Resources(
        registers=None,
        spill_stores=None,
        spill_loads=None,
        stack=None,
        local=None,
        shared=metadata["shared"],
        warps=metadata["num_warps"],
        stages=metadata.get("num_stages"),
    )
    resources = _amd(resources, compilation) if target.backend == "hip" else _nvidia(resources, compilation)
    held = occupancy(target, resources.registers, resources.shared, resources.warps)
    if held is None:
        return resources
    return replace(resources, occupancy=held.warps, occupancy_of=held.of, occupancy_limit=held.limit)


def _nvidia(resources: Resources, compilation: Compilation) -> Resources:
    used = ptxas.usage(compilation.log or "")
    if used is None:
        return resources
    return replace(
        resources,
        registers=used.registers,
        spill_stores=used.spill_stores,
        spill_loads=used.spill_loads,
        stack=used.stack,
        local=used.local,
    )


def _amd(resources: Resources, compilation: Compilation) -> Resources:
    used = amdgcn.registers(compilation.texts["amdgcn"])
    if used is None:
        return resources
    return replace(
        resources,
        registers=used.vector,
        spill_stores=4 * used.vector_spills,
        spill_loads=4 * used.vector_spills,
        stack=used.scratch,
        local=0,
        accumulators=used.accumulators,
        scalar_registers=used.scalar,
    )
