"""Programs made from kernels by Triton's own front end, for the tests of this folder."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import triton
import triton.compiler
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton.runtime.driver import driver

from tritonaudit.capture.launch import Program
from tritonaudit.compile.analyse import analyse_program, line_accesses
from tritonaudit.compile.facts import CompileError, LineAccess, Variant
from tritonaudit.compile.pipeline import ASSEMBLY, compile_program
from tritonaudit.compile.ttir import Module
from tritonaudit.hardware.targets import gpu_target, unsupported

VERSION = tuple(map(int, triton.__version__.split(".")[:2]))


def supported(*targets: str) -> list[str]:
    """Those that the installed Triton compiles for."""
    return [target for target in targets if unsupported(target, triton.__version__) is None]


@dataclass(frozen=True)
class Pointer:
    """A stand-in for a tensor: Triton asks for its dtype and address, on AMD for the size of its storage."""

    dtype: str
    address: int = 1 << 20
    bytes: int = 1 << 20

    def data_ptr(self) -> int:
        return self.address

    def ptr_range(self) -> int:
        return self.bytes


class _Captured(Exception):
    def __init__(self, source: Any, options: Mapping[str, Any]) -> None:
        self.source = source
        self.options = options


class _Driver:
    """What a launch asks of a driver; each target is a device of its own, since launches are cached by device."""

    devices: ClassVar[list[GPUTarget]] = []

    def __init__(self, target: GPUTarget) -> None:
        self._target = target
        if target not in self.devices:
            self.devices.append(target)

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_current_device(self) -> int:
        return self.devices.index(self._target)

    def get_current_stream(self, device: int | None = None) -> int:
        return 0


def source_of(kernel: Any, target: str, **arguments: Any) -> tuple[Any, Mapping[str, Any]]:
    """What Triton would compile for a launch, and with which options."""

    def stop(source: Any, target: Any = None, options: Any = None, **_: Any) -> None:
        raise _Captured(source, options)

    found = gpu_target(target)
    before = triton.compiler.compile
    triton.compiler.compile = stop
    driver.set_active(_Driver(GPUTarget(found.backend, found.arch, found.warp_size)))
    try:
        kernel.run(grid=(1,), warmup=True, **arguments)
    except _Captured as captured:
        return captured.source, captured.options
    finally:
        triton.compiler.compile = before
    raise AssertionError("the launch compiled nothing")


@cache
def program(kernel: Any, target: str, **arguments: Any) -> Program:
    """The program of `kernel[grid](**arguments)` on the target."""
    from triton._C.libtriton import ir

    source, options = source_of(kernel, target, **arguments)
    found = gpu_target(target)
    gpu = GPUTarget(found.backend, found.arch, found.warp_size)
    backend = make_backend(gpu)
    parsed = backend.parse_options(dict(options))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    wanted = inspect.signature(source.make_ir).parameters
    codegen = backend.get_codegen_implementation
    given = {
        "target": gpu,
        "options": parsed,
        "codegen_fns": codegen(parsed) if inspect.signature(codegen).parameters else codegen(),
        "module_map": backend.get_module_map(),
        "context": context,
    }
    module = source.make_ir(**{name: given[name] for name in wanted})
    stages: dict[str, Any] = {}
    by_language = "language" in inspect.signature(backend.add_stages).parameters
    backend.add_stages(stages, parsed, *([source.language] if by_language else []))
    module = stages["ttir"](module, dict(parsed.__dict__))
    return Program(target, str(module), tuple(options.items()))


@cache
def analysed(kernel: Any, target: str, **arguments: Any) -> Variant:
    """The facts of `kernel[grid](**arguments)` on the target."""
    return analyse_program(program(kernel, target, **arguments))


@cache
def accesses(kernel: Any, target: str, **arguments: Any) -> tuple[LineAccess, ...]:
    """The accesses of the assembly alone, which are the `analysed` variant's and are quicker to have."""
    given = program(kernel, target, **arguments)
    compilation = compile_program(given, ASSEMBLY[gpu_target(target).backend])
    assert not isinstance(compilation, CompileError)
    return line_accesses(compilation, Module(given.ttir))


def widths(kernel: Any, target: str, **arguments: Any) -> dict[tuple[int, str], dict[int, int]]:
    """How many instructions move how many bytes, by line and kind of access."""
    found = accesses(kernel, target, **arguments)
    return {(access.span.line, access.kind.name): dict(access.widths) for access in found}


def line(kernel: Any, text: str) -> int:
    """The one line of the kernel's source that holds the text."""
    lines, first = inspect.getsourcelines(kernel.fn)
    (found,) = (number for number, written in enumerate(lines, first) if text in written)
    return found
