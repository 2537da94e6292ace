"""Trials on a GPU share it, and what they wait for their turn is nobody's time; on the CPU engine there are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tritonaudit.capture.launch import KernelRef
from tritonaudit.execute import turns
from tritonaudit.execute.turns import Turns
from tritonaudit.subject.model import Case, Subject, Tensor
from tritonaudit.suites.calling import Lost
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.journal import Ended, Record, Trial
from tritonaudit.suites.late import Late
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.trials import SubjectTask, Trials


class Device:
    lost = None

    def __init__(self, is_engine: bool) -> None:
        self.is_engine = is_engine


def audit(folder: Path, *, is_engine: bool) -> Trials:
    device: Any = Device(is_engine)
    subject = Subject(lambda x: x, inputs=[Tensor("n")])
    return Trials(device, subject, SubjectTask(folder / "audit_it.py", "it", 10.0), turns=Turns(folder))


@pytest.mark.parametrize("is_engine", [False, True])
def test_nobody_times_while_a_trial_is_on_a_gpu(tmp_path: Path, is_engine: bool) -> None:
    other = Turns(tmp_path)
    with audit(tmp_path, is_engine=is_engine)._turn():
        files = other._open(tmp_path)
        assert turns._clear(*files) is is_engine
        other._leave()
        with other.shared(60):
            pass


class Busy(Device):
    """A GPU that never comes to the end of a launch."""

    def __init__(self) -> None:
        super().__init__(is_engine=False)
        self.lost: Lost | None = None

    def work(self, case: Case) -> CaseOutcome:
        self.lost = Lost(KernelRef("k.py", "kernel", 1), "the GPU is busy")
        raise Late(8.0, waits=True, computes=False)


def test_what_keeps_the_gpu_busy_again_is_held_against_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time, in another worker, for the reference could not be timed behind it."""
    monkeypatch.setattr("torch.cuda.synchronize", lambda: None)
    monkeypatch.setattr("tritonaudit.subject.inputs.make_inputs", lambda *_: ((torch.zeros(4),), {}))
    subject = Subject(lambda x: x, inputs=[Tensor("n")], reference=lambda x: x)
    task = SubjectTask(tmp_path / "audit_it.py", "it", 10.0)
    case, first, second = Case({"n": 4}), Trial("integrity", "n=4 float32"), Trial("call", "n=4 float32")
    one: Any = Trials(Busy(), subject, task, turns=Turns(tmp_path))  # type: ignore[arg-type]
    (seen,) = one._timed(first, case, one.device.work).sightings
    assert (seen.symptom, seen.is_certain) == (Symptom.HANG, False)
    known = Record((Ended(first, CaseOutcome(case, frozenset((Symptom.HANG,)), (seen,))),))
    two: Any = Trials(Busy(), subject, replace(task, known=known), turns=Turns(tmp_path))  # type: ignore[arg-type]
    assert two.lates == 1
    (seen,) = two._timed(second, case, two.device.work).sightings
    assert (seen.symptom, seen.is_certain) == (Symptom.HANG, True)
    assert "and the reference takes" in seen.text


@pytest.mark.parametrize(("in_host", "hangs"), [(True, True), (False, False)])
def test_host_code_that_computes_on_and_on_is_held_against_the_reference_the_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_host: bool, hangs: bool
) -> None:
    """How long launches take that the CPU engine executes says nothing."""
    monkeypatch.setattr("tritonaudit.subject.inputs.make_inputs", lambda *_: ((torch.zeros(4),), {}))
    subject = Subject(lambda x: x, inputs=[Tensor("n")], reference=lambda x: x)
    task, case = SubjectTask(tmp_path / "audit_it.py", "it", 10.0), Case({"n": 4})
    one: Any = Trials(Device(is_engine=True), subject, task, turns=Turns(tmp_path))  # type: ignore[arg-type]

    def work(_: Case) -> CaseOutcome:
        raise Late(8.0, waits=False, computes=True, in_host=in_host)

    outcomes = [one._timed(Trial(check, "n=4 float32"), case, work) for check in ("integrity", "call")]
    found = [[seen.is_certain for seen in outcome.sightings] for outcome in outcomes]
    assert found == [[], [True] * hangs]


def test_waiting_is_not_spent(tmp_path: Path) -> None:
    one = audit(tmp_path, is_engine=False)
    spent = one.spent
    one.turns.waited += 5.0
    assert one.spent - spent == pytest.approx(-5.0, abs=0.5)
    assert one.left > 10.0
