"""Calls a subject's wrapper in a worker process, every launch on the CPU engine. Imports torch where it is called."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from bench.judge.noted import Noted
    from tritonaudit.capture.launch import Launch
    from tritonaudit.simulator.faults import Fault
    from tritonaudit.simulator.live import Executed
    from tritonaudit.subject.model import Case, Subject

Launching = Callable[["Launch", Mapping[str, Any]], None]

_LARGEST = 100
_ODD = 3
"""Less than a size, so that it is no multiple of a block."""
_SMALLEST = 8
_APART = {"float64": 1e-8, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""Of the largest number among them: results that are nearer differ by rounding."""
_APART_IN_8_BITS = 0.2


@dataclass(frozen=True, eq=False)
class Execution:
    """What a call came to: `error` says why it did not return, `kind` whether Triton, the engine or Python says so.

    `first` is the fault that has ended it.
    """

    results: tuple[torch.Tensor, ...]
    launches: tuple[Executed, ...]
    error: str = ""
    kind: str = ""
    first: str = ""

    @property
    def faults(self) -> tuple[str, ...]:
        """`race at line 12` for each fault that the engine has seen."""
        seen = tuple(_said(fault) for one in self.launches for fault in one.faults if not fault.kind.is_harmless)
        return (self.first, *seen) if self.first else seen

    @property
    def remarks(self) -> frozenset[str]:
        """What the engine has seen besides, and all GPUs do alike."""
        return frozenset(_said(fault) for one in self.launches for fault in one.faults if fault.kind.is_harmless)

    @property
    def is_healthy(self) -> bool:
        return not self.error and not self.faults and bool(self.launches) and bool(self.results)


def become_ready(site: Path, required: Path) -> None:
    """Prepare this worker: it imports the package, and has a GPU in whose place the CPU is."""
    import sys

    from bench.faults.run import become_cpu

    sys.path[:0] = [str(site), str(required)]
    become_cpu()


def loaded(path: Path) -> tuple[tuple[Subject, ...], str]:
    """The subjects of a file, and why there are none where it cannot be loaded."""
    from tritonaudit.subject.load import load_subjects

    with _quiet():
        try:
            return tuple(load_subjects(path)), ""
        except (Exception, SystemExit) as error:
            return (), f"it cannot be loaded: {type(error).__name__}: {error}"[:200]


def small_cases(subject: Subject) -> Iterator[Case]:
    """Cases that take little time: of sizes that no block divides, in 16 bits with rows apart, and ordinary ones."""
    from tritonaudit.subject.model import Case, Layout
    from tritonaudit.subject.sweep import compile_cases

    base = compile_cases(subject)[0]
    small = {name: min(size, _LARGEST) for name, size in base.sizes.items()}
    odd = {name: size - _ODD if size > _SMALLEST else size for name, size in small.items()}
    yield Case(odd, base.dtype)
    yield Case(odd, "float16" if "float16" in subject.dtypes else base.dtype, Layout.PADDED)
    if odd != small:
        yield Case(small, base.dtype)


def executed(subject: Subject, one: Noted, seconds: float, *, to_first_fault: bool = False) -> Execution:
    """Call the wrapper of a subject as noted, and look for faults or for one, for at most the seconds."""
    from tritonaudit.simulator.fresh import FreshMemory
    from tritonaudit.simulator.live import Execution as Running

    fresh = FreshMemory()
    running = Running(fresh, is_checked=True)
    with _ending_at_first_fault() if to_first_fault else contextlib.nullcontext([]) as first:
        results, error, kind = called(subject, one, seconds, fresh, running.launch)
    return Execution(tuple(results), tuple(running.launches), error, kind, *first)


def called(
    subject: Subject, one: Noted, seconds: float, fresh: Any, launch: Launching
) -> tuple[list[torch.Tensor], str, str]:
    """The results of a call whose launches, each of one configuration, are made so; else why, and who says so."""
    from bench.faults.run import TARGET
    from tritonaudit.capture.record import Recorder, recording
    from tritonaudit.capture.standin import Host, tensors_on
    from tritonaudit.simulator.live import NoProgram
    from tritonaudit.subject.inputs import call, passed_in, tensors_in
    from tritonaudit.suites.late import Late, patience

    recorder = Recorder(TARGET, configs=1, execute=launch, chosen=one.chosen)
    results: list[torch.Tensor] = []
    error = kind = ""
    with _quiet(), tensors_on(Host.CPU), fresh, recording(recorder):
        try:
            with patience(seconds):
                subject = one.applied(subject)
                positional, keywords = one.arguments(subject)
                gradients = subject.gradients
                returned = call(subject.function, positional, keywords, gradients=gradients, passed=passed_in(one.case))
                inputs = list(tensors_in([positional, keywords]))
                grads = [one.grad for one in inputs if one.grad is not None]
                results = [one.detach().clone() for one in (*tensors_in(returned), *inputs, *grads)]
        except NoProgram as failure:
            error, kind = str(failure)[:200], "compile"
        except Late:
            error, kind = "it does not end", "hang"
        except BaseException as failure:
            error, kind = f"{type(failure).__name__}: {failure}"[:200], "python"
    return results, error, kind


class _Ended(BaseException):
    """A fault has ended a launch."""


@contextlib.contextmanager
def _ending_at_first_fault() -> Iterator[list[str]]:
    """The first fault that is none of all GPUs' ways ends what is executed meanwhile, and is in the list."""
    from tritonaudit.simulator.faults import Faults

    first: list[str] = []
    add = Faults.add_lanes

    def adding(faults: Faults, fault: Fault, bad: torch.Tensor, *more: Any, **named: Any) -> None:
        before = len(faults.found)
        add(faults, fault, bad, *more, **named)
        if len(faults.found) > before and not fault.kind.is_harmless and not fault.kind.is_undecided:
            first[:] = [_said(fault)]
            raise _Ended

    Faults.add_lanes = adding  # type: ignore[method-assign]
    try:
        yield first
    finally:
        Faults.add_lanes = add  # type: ignore[method-assign]


def _said(fault: Fault) -> str:
    return f"{fault.kind.value} at line {fault.location.line if fault.location else '?'}"


def difference(wanted: Sequence[torch.Tensor], found: Sequence[torch.Tensor]) -> str:
    """`equal`, `rounding` or `result`."""
    if [(one.shape, one.dtype) for one in wanted] != [(one.shape, one.dtype) for one in found]:
        return "result"
    return max((_between(one, other) for one, other in zip(wanted, found, strict=True)), key=_ORDER.index)


_ORDER = ("equal", "rounding", "result")


def _between(one: torch.Tensor, other: torch.Tensor) -> str:
    if one.shape.numel() == 0:
        return "equal"
    if not one.dtype.is_floating_point:
        return "equal" if bool((one == other).all()) else "result"
    wide, found = one.double().contiguous(), other.double().contiguous()
    if bool((wide.isnan() != found.isnan()).any()) or bool((wide.isinf() != found.isinf()).any()):
        return "result"
    wide, found = wide.nan_to_num(0.0, 1e30, -1e30), found.nan_to_num(0.0, 1e30, -1e30)
    apart = float((wide - found).abs().max())
    if apart == 0:
        return "equal"
    share = _APART.get(str(one.dtype).removeprefix("torch."), _APART_IN_8_BITS)
    return "result" if apart > share * float(wide.abs().max()) else "rounding"


@contextlib.contextmanager
def _quiet() -> Iterator[Any]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield
