"""Calls a subject with its launches on the CPU engine. For worker processes: the mutants' code is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from tritonaudit.capture.launch import Launch
from tritonaudit.capture.record import Recorder, recording
from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.capture.task import become_gpu
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.live import Execution
from tritonaudit.subject.inputs import make_inputs, tensors_in
from tritonaudit.subject.load import load_subjects
from tritonaudit.subject.model import Case, Subject

_TARGET = "sm_89"
_NO_FAULT = (FaultKind.MASKED_STORED, FaultKind.MASKED_MASK, FaultKind.SAME_WRITES)


@dataclass(frozen=True)
class Called:
    """What a call came to: the tensors that it returned, and those of the reference in its place."""

    outputs: Sequence[torch.Tensor]
    expected: Sequence[torch.Tensor]
    faults: Sequence[Fault] = ()


def become_cpu() -> None:
    """Prepare this process: a stand-in GPU whose tensors are on the CPU."""
    become_gpu(_TARGET)
    torch.set_num_threads(1)


@lru_cache(maxsize=64)
def subject_of(spec: Path) -> Subject:
    """The only subject of a spec file."""
    (subject,) = load_subjects(spec)
    return subject


def call(subject: Subject, case: Case, *, is_checked: bool, is_wide: bool = False) -> Called:
    """Call it and its reference on equal inputs; `is_wide` gives the reference those in float64.

    Raises what the wrapper raises, NoProgram where the kernel does not compile, and NotSimulated.
    """
    fresh = FreshMemory()
    execution = Execution(fresh, is_checked)
    recorder = Recorder(_TARGET, configs=1, execute=execution.launch)
    with tensors_on(Host.CPU):
        args, kwargs = make_inputs(subject, case)
        with fresh, recording(recorder):
            outputs = list(tensors_in(subject.function(*args, **kwargs)))
        assert subject.reference is not None
        args, kwargs = make_inputs(subject, case)
        if is_wide:
            args, kwargs = tuple(map(_wide, args)), {name: _wide(value) for name, value in kwargs.items()}
        expected = list(tensors_in(subject.reference(*args, **kwargs)))
    faults = [fault for done in execution.launches for fault in done.faults if fault.kind not in _NO_FAULT]
    return Called(outputs, expected, faults)


def _wide(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def launches(subject: Subject, case: Case) -> Sequence[Launch]:
    """What the wrapper launches, with every config of an autotuner, on tensors without data. Raises what it raises."""
    recorder = Recorder(_TARGET)
    with tensors_on(Host.META), recording(recorder):
        args, kwargs = make_inputs(subject, case)
        subject.function(*args, **kwargs)
    return (*recorder.launches, *recorder.refused)
