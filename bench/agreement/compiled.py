"""The tool's side, a process that sees no GPU: what the compile stage says of each launch.

    python -m bench.agreement.compiled TARGET OUT

Launches are captured in one process, and compiled in others, as `tritonaudit compile` does it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.agreement.facts import LOAD, STORE, Access, Compiled, write
from bench.agreement.launches import SUBJECTS
from tritonaudit.capture.launch import Launch, Program
from tritonaudit.capture.task import Captured, become_gpu, capture_all
from tritonaudit.compile.analyse import analyse_program
from tritonaudit.compile.facts import Cause, Narrow, Variant
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

_LIMITS = Limits(seconds=240, memory=8 << 30)


def compiled(target: str) -> list[Compiled]:
    """Every subject's launch, captured on stand-in tensors and compiled for the target."""
    found = _captured(target)
    programs = dict.fromkeys(launch.program for one in found for launch in one.launches if launch.program)
    variants = _analysed(list(programs))
    return [_compiled(one, variants) for one in found]


def _captured(target: str) -> Sequence[Captured]:
    [(_, captured)] = run_tasks(
        capture_all, [SUBJECTS], workers=1, limits=_LIMITS, prepare=become_gpu, arguments=(target,)
    )
    if not isinstance(captured, tuple):
        sys.exit(f"the subjects cannot be captured: {captured}")
    return captured


def _analysed(programs: Sequence[Program]) -> dict[Program, Variant | Killed]:
    workers = min(len(programs), len(os.sched_getaffinity(0)))
    return dict(run_tasks(analyse_program, programs, workers=workers, limits=_LIMITS))


def _compiled(captured: Captured, variants: dict[Program, Variant | Killed]) -> Compiled:
    subject = captured.task.subject
    if captured.missed:
        return Compiled(subject, error=captured.missed[0].reason)
    if len(captured.launches) != 1:
        return Compiled(subject, error=f"{len(captured.launches)} launches in place of one")
    [launch] = captured.launches
    if launch.program is None:
        return Compiled(subject, launch.kernel.name, error=launch.error.message if launch.error else "")
    variant = variants[launch.program]
    if isinstance(variant, Killed):
        return Compiled(subject, launch.kernel.name, error=variant.message)
    if variant.resources is None:
        return Compiled(subject, launch.kernel.name, error=variant.error.message if variant.error else "")
    resources = variant.resources
    return Compiled(
        subject=subject,
        kernel=launch.kernel.name,
        registers=resources.registers,
        local=(resources.stack or 0) + (resources.local or 0),
        shared=resources.shared,
        occupancy=resources.occupancy,
        spill_stores=resources.spill_stores,
        spill_loads=resources.spill_loads,
        matrix=variant.matrix,
        program=hashlib.sha256(launch.program.ttir.encode()).hexdigest(),
        accesses=tuple(_accesses(variant, launch)),
    )


def _accesses(variant: Variant, launch: Launch) -> list[Access]:
    """The loads and stores, each width of a line by itself."""
    causes = {(narrow.access.kind, narrow.access.span, narrow.bytes): narrow for narrow in variant.narrow}
    found = []
    for access in variant.accesses:
        if access.kind.value not in (LOAD, STORE):
            continue
        for width, instructions in access.widths:
            plain = Access(access.kind.value, access.span.line, width, instructions)
            narrow = causes.get((access.kind, access.span, width))
            found.append(plain if narrow is None else _narrow(plain, narrow, launch))
    return found


def _narrow(access: Access, narrow: Narrow, launch: Launch) -> Access:
    values = dict(launch.arguments)
    strides = [values[name] for name in narrow.arguments if isinstance(values.get(name), int)]
    apart = narrow.cause is Cause.LANE_STRIDE
    step = access.bytes * min(strides, default=1) if apart else 0
    return Access(
        access.kind, access.line, access.bytes, access.instructions, narrow.cause.value, narrow.could_be, step
    )


if __name__ == "__main__":
    write(Path(sys.argv[2]), compiled(sys.argv[1]))
