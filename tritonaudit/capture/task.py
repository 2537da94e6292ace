"""What a capture worker does: it becomes a process with a stand-in GPU, calls subjects, and returns their launches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.capture.launch import Launch, Sibling
from tritonaudit.capture.time_limit import OutOfTime, time_limit
from tritonaudit.execute.blame import depends_on_stand_in, described, text_of, users_place
from tritonaudit.execute.confine import confine
from tritonaudit.subject.model import Case, Subject

if TYPE_CHECKING:
    from tritonaudit.capture.record import Recorder
    from tritonaudit.capture.standin import Host

_SECONDS = 90.0  # for the cases of a subject: each has at most half of what is left
_LEAST_SECONDS = 2.0
IMPORT_SECONDS = 60.0  # for the import of a file with subjects
_CONFIGS_PER_VARIATION = 3  # of an autotuner's configs, where a case only varies the sizes of another
_MOST_ELEMENTS = 1 << 27  # of inputs that are given data: what two cores fill in a second


@dataclass(frozen=True)
class Missed:
    """Launches of a case that could not be captured: why, and at which line of the user's.

    `is_absent` says that they depend on what is absent, and is stood in for.
    """

    case: str
    reason: str
    path: str = ""
    line: int | None = None
    is_absent: bool = False


@dataclass(frozen=True)
class CaptureTask:
    """One subject of a file or folder, by its name, on the worker's target.

    `is_brief` asks for what one call launches: the first case, a few configs, no sweeps.
    """

    path: Path
    subject: str
    is_brief: bool = False


@dataclass(frozen=True)
class SweepLaunches:
    """The specialisations that a growing dimension leads to, case by case."""

    dimension: str
    sizes: tuple[int, ...]
    launches: tuple[tuple[Launch, ...], ...]


@dataclass(frozen=True)
class Captured:
    """What calling one subject made: of so many cases, `failed` could not be called, nor `unswept` of the sweeps.

    `stood_in` says what was stood in for to have the subject. On its `siblings` it would be the same.
    """

    task: CaptureTask
    target: str
    launches: tuple[Launch, ...] = ()
    sweeps: tuple[SweepLaunches, ...] = ()
    missed: tuple[Missed, ...] = ()
    cases: int = 0
    failed: int = 0
    unswept: int = 0
    stood_in: tuple[str, ...] = ()
    siblings: tuple[Sibling, ...] = ()


@dataclass(frozen=True)
class Found:
    """The subjects of a file or folder by their names, and sentences that say what was stood in for to have them."""

    subjects: tuple[str, ...]
    stood_in: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unloadable:
    """A subject file whose subjects cannot be had: why, and at which line of the user's."""

    path: str
    reason: str
    line: int | None = None


_target = ""


def become_gpu(target: str, *others: str) -> None:
    """Prepare this process: torch and Triton see a GPU of the target, and launches are recorded.

    What it captures is that of the other targets, too, as long as nothing tells them apart.
    """
    global _target
    from tritonaudit.absent import importer
    from tritonaudit.capture import driver, record, siblings, standin
    from tritonaudit.capture.device import device_for

    _target = target
    importer.install()
    device = device_for(target)
    driver.stand_in_driver(device)
    standin.stand_in_tensors(device)
    record.install()
    if others:
        siblings.serve(target, others)
    confine()


def target() -> str:
    """The target of this process."""
    return _target


def capture_all(path: Path, *, is_brief: bool = False) -> tuple[Captured, ...] | Unloadable:
    """The launches of every subject of a file or folder."""
    from tritonaudit.capture import siblings

    found = find_subjects(path)
    if isinstance(found, Unloadable):
        return found
    captured = [capture(CaptureTask(path, name, is_brief)) for name in found.subjects]
    return tuple(replace(one, stood_in=found.stood_in, siblings=siblings.found()) for one in captured)


def find_subjects(path: Path) -> Found | Unloadable:
    """The subjects of a file or folder."""
    from tritonaudit.absent.said import newly_said
    from tritonaudit.subject.load import LoadError

    try:
        with time_limit(IMPORT_SECONDS):
            return Found(tuple(loaded(path)), newly_said())
    except LoadError as error:
        return Unloadable(error.path, error.message, error.line)
    except OutOfTime:
        return Unloadable(str(path), f"importing it takes longer than {IMPORT_SECONDS:g} s")


@lru_cache(maxsize=8)
def loaded(path: Path) -> dict[str, Subject]:
    """The subjects of a file or folder by their names; the file is run once. Raises LoadError."""
    from tritonaudit.subject.load import load_subjects

    return {subject.name: subject for subject in load_subjects(path)}


def capture(task: CaptureTask) -> Captured:
    """The launches of a subject over its cases."""
    from tritonaudit.subject.sweep import compile_cases, is_least, storm_cases

    subject = loaded(task.path)[task.subject]
    clock = _Clock(time.monotonic() + _SECONDS)
    launches: list[Launch] = []
    missed: list[Missed] = []
    failed = 0
    cases = compile_cases(subject)[: 1 if task.is_brief else None]
    for case in cases:
        configs = _CONFIGS_PER_VARIATION if task.is_brief else _configs_for(case, cases)
        recorder, failure = _call(subject, case, configs, clock)
        least = is_least(subject, case)
        launches.extend(replace(launch, is_least=least) for launch in (*recorder.launches, *recorder.refused))
        missed.extend(_in_gluon(recorder))
        if failure is not None:
            missed.append(_missed(case, failure))
            failed += 1
    growths = storm_cases(subject) if launches and not task.is_brief else ()
    tried = [_sweep(subject, dimension, growing, clock) for dimension, growing in growths]
    sweeps = tuple(sweep for sweep in tried if sweep is not None)
    unswept = len(tried) - len(sweeps)
    return Captured(task, _target, tuple(launches), sweeps, tuple(missed), len(cases), failed, unswept)


@dataclass(frozen=True)
class _Clock:
    """The time that a subject has; no case takes so much of it that the next has none."""

    ends: float

    def share(self) -> float:
        """Seconds for the next case."""
        return max(_LEAST_SECONDS, (self.ends - time.monotonic()) / 2)


def _configs_for(case: Case, cases: Sequence[Case]) -> int | None:
    """Every config for the first case of each dtype, a few for the cases that vary it."""
    first = next(other for other in cases if other.dtype == case.dtype)
    return None if case == first else _CONFIGS_PER_VARIATION


def _sweep(subject: Subject, dimension: str, cases: Sequence[Case], clock: _Clock) -> SweepLaunches | None:
    rows: list[tuple[Launch, ...]] = []
    for case in cases:
        recorder, failure = _call(subject, case, 1, clock, front_end=False)
        if failure is not None:
            return None
        rows.append(tuple(recorder.launches))
    return SweepLaunches(dimension, tuple(case[dimension] for case in cases), tuple(rows))


def _call(
    subject: Subject, case: Case, configs: int | None, clock: _Clock, front_end: bool = True
) -> tuple[Recorder, BaseException | None]:
    """What one call launches: on tensors without data, or with data where host code reads it.

    Of a call that fails on both, or takes too long, they are those that came before.
    """
    from tritonaudit.capture.record import Recorder
    from tritonaudit.capture.standin import Host

    recorder, again = (
        Recorder(_target, case.label, configs, front_end, subject=subject.name) for _ in (Host.META, Host.CPU)
    )
    try:
        with time_limit(clock.share()):
            failure = _attempt(subject, case, recorder, Host.META)
            if failure is None or _elements(subject, case) > _MOST_ELEMENTS:
                return recorder, failure
            failure = _attempt(subject, case, again, Host.CPU)
    except OutOfTime as error:
        return again if again.launches else recorder, error
    return again if again.launches else recorder, failure


def _attempt(subject: Subject, case: Case, recorder: Recorder, host: Host) -> Exception | None:
    from tritonaudit.capture.record import recording
    from tritonaudit.capture.standin import tensors_on
    from tritonaudit.subject.inputs import run_subject

    try:
        with tensors_on(host), recording(recorder):
            run_subject(subject, case)
    except Exception as error:
        if depends_on_stand_in(error):
            recorder.launches.clear()
            recorder.refused.clear()
        return error
    return None


def _elements(subject: Subject, case: Case) -> int:
    """How many elements the inputs of a case have; 0 where they cannot be made without data."""
    import torch

    from tritonaudit.capture.standin import Host, tensors_on
    from tritonaudit.subject.inputs import make_inputs

    try:
        with tensors_on(Host.META):
            args, kwargs = make_inputs(subject, case)
    except Exception:
        return 0
    return sum(value.numel() for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor))


def _in_gluon(recorder: Recorder) -> list[Missed]:
    return [
        Missed(recorder.case, f"`{name}` is written in Gluon, which is not compiled", kernel.path, kernel.line)
        for name, kernel in recorder.gluon.items()
    ]


def _missed(case: Case, error: BaseException) -> Missed:
    """The failure, at the innermost line that is the user's."""
    if isinstance(error, OutOfTime):
        return Missed(case.label, f"calling it takes too long: all of its cases together have {_SECONDS:g} s")
    if depends_on_stand_in(error):
        return Missed(case.label, f"calling it {described(error)}", is_absent=True)
    reason = f"calling it gives {type(error).__name__}: {text_of(error) or 'no message'}"
    return Missed(case.label, reason, *(users_place(error) or ()))
