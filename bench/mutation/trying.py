"""What a worker does with a mutant: compares what it launches with the original's, and its results plainly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from bench.mutation.calling import call, launches, subject_of
from bench.mutation.kernels import Kernel, awkward_cases
from tritonaudit.capture.launch import Launch
from tritonaudit.capture.time_limit import OutOfTime, time_limit
from tritonaudit.subject.model import Case
from tritonaudit.subject.sweep import compile_cases

TOLERANCES = {"float32": 1e-4, "float16": 1e-2}
"""KernelBench's, for both the absolute and the relative part."""

_SEEDS = 5
_SECONDS = 20.0
_LOCATION = re.compile(r" loc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


@dataclass(frozen=True)
class Task:
    """A mutant of a kernel, written to files; `is_seen` says that what it launches tells it from the original."""

    id: str
    kernel: str
    spec: Path
    is_seen: bool


@dataclass(frozen=True)
class Tried:
    """What a mutant came to: `rejected` says why none of its launches compiles or none is made.

    `is_equal` says that in all cases it launches what the original launches; `float32` and `float16` say what a plain
    comparison on one shape notices.
    """

    rejected: str = ""
    is_equal: bool = False
    float32: str = ""
    float16: str = ""


def try_mutant(task: Task) -> Tried:
    """Everything but the audit. Raises what loading the file raises."""
    rejected = _rejected(task.spec)
    if rejected:
        return Tried(rejected)
    if task.is_seen and _is_equal(task):
        return Tried(is_equal=True)
    return Tried("", False, *(_noticed(task, dtype) for dtype in TOLERANCES))


# -- what is launched ------------------------------------------------------------------------------------------------


def _cases(kernel: str) -> Iterator[Case]:
    """The plain one, those of the compile stage, awkward ones."""
    original = Kernel(kernel)
    subject = subject_of(original.spec)
    yield original.plain
    yield from compile_cases(subject)
    yield from awkward_cases(subject)


def _rejected(spec: Path) -> str:
    """Why nothing that the mutant launches in its first cases compiles; empty where something does."""
    why = ""
    for case in islice(_cases(spec.stem.removeprefix("audit_")), 3):
        made = _launched(spec, case)
        if isinstance(made, str):
            why = why or made
        elif any(launch.error is None for launch in made):
            return ""
        else:
            why = why or next((launch.error.message for launch in made if launch.error), "launches nothing")
    return why


def _is_equal(task: Task) -> bool:
    original = Kernel(task.kernel).spec
    return all(_signs(task.spec, case) == _known_signs(original, number, case) for number, case in _numbered(task))


def _numbered(task: Task) -> Iterator[tuple[int, Case]]:
    yield from enumerate(_cases(task.kernel))


_known: dict[tuple[Path, int], Any] = {}


def _known_signs(spec: Path, number: int, case: Case) -> Any:
    if (spec, number) not in _known:
        _known[spec, number] = _signs(spec, case)
    return _known[spec, number]


def _signs(spec: Path, case: Case) -> Any:
    """What a call launches, less names of files and places in them; or what it raises."""
    made = _launched(spec, case)
    return made if isinstance(made, str) else [_sign(launch) for launch in made]


def _sign(launch: Launch) -> Any:
    program = launch.program and replace(launch.program, ttir=_without_locations(launch.program.ttir))
    nowhere = replace(launch.kernel, path="", line=0)
    return replace(launch, kernel=nowhere, program=program, error=None, warnings=()), launch.error is None


@lru_cache(maxsize=4096)
def _without_locations(ttir: str) -> str:
    lines = (line for line in ttir.splitlines() if not line.startswith("#loc"))
    return "\n".join(_LOCATION.sub("", line) for line in lines)


def _launched(spec: Path, case: Case) -> Sequence[Launch] | str:
    try:
        with time_limit(_SECONDS):
            return launches(subject_of(spec), case)
    except (Exception, OutOfTime) as error:
        return f"{type(error).__name__}: {error}"


# -- results ---------------------------------------------------------------------------------------------------------


def _noticed(task: Task, dtype: str) -> str:
    """What is wrong with the results on the plain shape; empty where they are close for every seed."""
    subject, case = subject_of(task.spec), replace(Kernel(task.kernel).plain, dtype=dtype)
    for seed in range(_SEEDS):
        try:
            with time_limit(_SECONDS):
                called = call(subject, replace(case, seed=seed), is_checked=False)
            close = _are_close(called.outputs, called.expected, TOLERANCES[dtype])
        except OutOfTime:
            return "takes too long"
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
        if not close:
            return "differs"
    return ""


def _are_close(outputs: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], tolerance: float) -> bool:
    return len(outputs) == len(expected) and all(
        one.shape == other.shape and torch.allclose(one, other, atol=tolerance, rtol=tolerance)
        for one, other in zip(outputs, expected, strict=True)
    )
