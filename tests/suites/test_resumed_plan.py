"""What a worker that goes on where another one ended knows of the calls that were made before it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch makes the tensors")
pytest.importorskip("triton", reason="triton specialises the launches")

from tritonaudit import Case, Subject, Tensor
from tritonaudit.execute.turns import Turns
from tritonaudit.suites.core import CALL, MEMORY
from tritonaudit.suites.journal import Ended, Record, Trial
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.trials import SubjectTask, Trials

ENGINE: Any = SimpleNamespace(is_engine=True, lost=None)
CASE = Case({"n": 64}, "float32")


def nothing(*_: object) -> None:
    """In place of a wrapper that nobody calls."""


def resumed(tmp_path: Path, *outcomes: tuple[str, CaseOutcome]) -> Trials:
    record = Record(tuple(Ended(Trial(check, outcome.case.label), outcome, 1.0) for check, outcome in outcomes))
    subject = Subject(nothing, reference=nothing, inputs=[Tensor("n")])
    task = SubjectTask(Path("audit_it.py"), "it", 10.0, record)
    return Trials(ENGINE, subject, task, turns=Turns(tmp_path))


@pytest.mark.parametrize("check", [CALL, MEMORY])
def test_blocks_and_launches_are_known_whatever_was_looked_at(check: str, tmp_path: Path) -> None:
    trials = resumed(tmp_path, (check, CaseOutcome(CASE, frozenset(), blocks=frozenset({64}), launches=32)))
    assert (trials.blocks, trials.launches) == ([64], 32)


def test_a_call_that_did_not_end_does_not_say_how_many_launches_it_makes(tmp_path: Path) -> None:
    late = CaseOutcome(CASE, frozenset(), launches=7, is_late=True)
    ended = CaseOutcome(Case({"n": 65}, "float32"), frozenset(), launches=32)
    assert resumed(tmp_path, (CALL, late)).launches == 0
    assert resumed(tmp_path, (CALL, late), (CALL, ended)).launches == 32
