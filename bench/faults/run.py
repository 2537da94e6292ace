"""Runs one file with kernels and their test in a worker process, every launch on the CPU engine."""

from __future__ import annotations

import contextlib
import io
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonaudit.simulator.live import NoProgram

TARGET = "sm_89"


@dataclass(frozen=True)
class Flag:
    """A fault at a line of the file."""

    kind: str
    path: str
    line: int
    kernel: str
    tensor: str
    detail: str


@dataclass(frozen=True)
class Ran:
    """What a file came to: `error` says why it did not run through."""

    path: Path
    seconds: float
    launches: int
    flags: tuple[Flag, ...]
    error: str = ""


def become_cpu() -> None:
    """Prepare this process: a stand-in GPU whose tensors are on the CPU."""
    import torch

    from tritonaudit.capture.task import become_gpu

    become_gpu(TARGET)
    torch.set_num_threads(1)


def run_file(path: Path, *, is_checked: bool = True, then: Callable[[ModuleType], None] = lambda _: None) -> Ran:
    """Execute a file, as `python FILE` would, and `then` what is to be done with its module."""
    import torch

    from tritonaudit.capture.record import Recorder, recording
    from tritonaudit.capture.standin import Host, tensors_on
    from tritonaudit.simulator.faults import FaultKind
    from tritonaudit.simulator.fresh import FreshMemory
    from tritonaudit.simulator.live import Execution, NoProgram

    torch.manual_seed(0)
    started = time.perf_counter()
    fresh = FreshMemory()
    execution = Execution(fresh, is_checked)
    recorder = Recorder(TARGET, configs=1, execute=execution.launch)
    error = ""
    rejected: list[Flag] = []
    with contextlib.redirect_stdout(io.StringIO()), tensors_on(Host.CPU), fresh, recording(recorder):
        try:
            then(import_file(path))
        except NoProgram as failure:
            error = f"does not compile: {failure}"
            rejected += _rejected(failure)
        except Exception as failure:
            place = traceback.extract_tb(failure.__traceback__)[-1]
            words = " ".join(str(failure).split())[:200]
            error = f"{type(failure).__name__}: {words} ({Path(place.filename).name}:{place.lineno})"
    flags = tuple(
        Flag(
            fault.kind.value,
            fault.location.path if fault.location else "",
            fault.location.line if fault.location else 0,
            executed.launch.kernel.name,
            fault.tensor,
            f"program {fault.program} lane {fault.lane} element {fault.element} other {fault.other}"
            f" origin {fault.origin.line if fault.origin else None} count {fault.count}",
        )
        for executed in execution.launches
        for fault in executed.faults
        if fault.kind not in (FaultKind.MASKED_STORED, FaultKind.MASKED_MASK, FaultKind.SAME_WRITES)
    )
    distinct = tuple({(f.kind, f.path, f.line, f.tensor): f for f in (*flags, *rejected)}.values())
    return Ran(path, time.perf_counter() - started, len(execution.launches), distinct, error)


def _rejected(failure: NoProgram) -> Iterator[Flag]:
    if failure.error is not None:
        place = (failure.error.path, failure.error.line)
        yield Flag("does not compile", *place, failure.launch.kernel.name, "", failure.error.message)


def import_file(path: Path) -> ModuleType:
    """Execute a file as a module."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
