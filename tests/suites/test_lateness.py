"""What is known of trials that do not end: by whom, and by what the reference takes, on the CPU engine, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tritonaudit.capture import standin
from tritonaudit.capture.standin import Host
from tritonaudit.execute.turns import Turns
from tritonaudit.subject.model import Case, Subject, Tensor
from tritonaudit.suites.journal import Trial
from tritonaudit.suites.late import Late
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.trials import SubjectTask, Trials


class Engine:
    """The CPU engine, as far as it is asked."""

    is_engine = True
    lost = None


def computes_on(_: Case) -> CaseOutcome:
    raise Late(8.0, waits=False, computes=True, in_host=True)


def trials_with(reference: Callable[[Any], Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("tritonaudit.subject.inputs.make_inputs", lambda *_: ((torch.zeros(4),), {}))
    subject = Subject(lambda x: x, inputs=[Tensor("n")], reference=reference)
    task = SubjectTask(folder / "audit_it.py", "it", 10.0)
    return Trials(Engine(), subject, task, turns=Turns(folder))  # type: ignore[arg-type]


def test_a_reference_is_timed_on_tensors_that_have_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without, the CPU would have nothing to compute, and whatever it takes with data would take far longer."""
    hosts: list[Host] = []

    def reference(x: torch.Tensor) -> torch.Tensor:
        hosts.append(standin._current.host)
        return x

    one = trials_with(reference, tmp_path, monkeypatch)
    for check in ("integrity", "call"):
        one._timed(Trial(check, "n=4 float32"), Case({"n": 4}), computes_on)
    assert set(hosts) == {Host.CPU}


def test_a_reference_that_does_not_end_is_timed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def reference(x: torch.Tensor) -> torch.Tensor:
        asked.append(len(x))
        while True:
            pass

    monkeypatch.setattr("tritonaudit.suites.trials.LEAST_SECONDS", 0.2)
    one = trials_with(reference, tmp_path, monkeypatch)
    found = [one._timed(Trial("call", f"n={size}"), Case({"n": size}), computes_on).sightings for size in (4, 8, 16)]
    assert (len(asked), found) == (1, [(), (), ()])


def test_a_reference_is_not_timed_on_what_may_have_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    one = trials_with(lambda x: asked.append(len(x)) or x, tmp_path, monkeypatch)
    for size in (1 << 34, 4, 1 << 34):
        one._timed(Trial("call", f"n={size}"), Case({"n": size}), computes_on)
    assert len(asked) > 0
    assert one.referred == 4


def test_what_takes_the_compiler_too_long_is_late_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a smaller case may stand for it."""
    late = Late(10.0, waits=False, computes=True)

    def work(_: Case) -> CaseOutcome:
        exec(compile("raise late", "/somewhere/triton/compiler/compiler.py", "exec"), {"late": late})
        raise AssertionError("it has raised")

    outcome = trials_with(abs, tmp_path, monkeypatch)._timed(Trial("call", "n=4"), Case({"n": 4}), work)
    assert (outcome.is_late, outcome.sightings) == (True, ())
    assert {reason for _, reason in outcome.unchecked} == {"compiling it takes longer than 10 s"}
