"""A worker on a GPU has a process apart get ready for its first subject while it gets ready itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import Limits, run_tasks

pytest.importorskip("torch", reason="torch makes the tensors")
pytest.importorskip("triton", reason="the engine stands in for its driver")

from tests.suites.beforehand import called_apart, called_while_something_fails, called_with_streams

SUBJECTS = """\
from tritonaudit import Subject, Tensor


def twice(x):
    return x * 2


once = Subject(twice, reference=lambda x: x * 2, inputs=[Tensor("n")])
again = Subject(twice, reference=lambda x: x + x, inputs=[Tensor("n")])
"""


def outcome_of(work: Callable[[tuple[Path, bool]], Any], folder: Path, *, suffices: bool) -> Any:
    path = folder / "audit_it.py"
    path.write_text(SUBJECTS, encoding="utf-8")
    ((_, outcome),) = run_tasks(work, [(path, suffices)], workers=1, limits=Limits(30, 8 << 30))
    return outcome


def test_the_first_subject_has_the_process_that_was_begun_beforehand(tmp_path: Path) -> None:
    assert outcome_of(called_apart, tmp_path, suffices=True) == [("once", True), ("again", False)]


def test_what_needs_streams_is_called_in_another_process_that_has_them(tmp_path: Path) -> None:
    assert outcome_of(called_with_streams, tmp_path, suffices=True) == ("None", [2.0, 2.0, 2.0], True)


def test_one_that_asks_for_streams_again_and_again_is_not_believed(tmp_path: Path) -> None:
    error, *_ = outcome_of(called_with_streams, tmp_path, suffices=False)
    assert error == "an answer that only one with fewer streams can give"


def test_one_that_cannot_use_the_gpu_is_reported_of_where_it_is_needed(tmp_path: Path) -> None:
    outcome = outcome_of(called_apart, tmp_path, suffices=False)
    assert isinstance(outcome, Killed)
    assert (outcome.end, outcome.message) == (End.EXIT, "exited with code 1")
    assert outcome.log.count("OSError: no GPU") == 2


@pytest.mark.parametrize(("is_late", "raised"), [(True, "OutOfTime"), (False, "RuntimeError")])
def test_an_answer_is_never_taken_for_that_to_the_next_question(tmp_path: Path, is_late: bool, raised: str) -> None:
    found = outcome_of(called_while_something_fails, tmp_path, suffices=is_late)
    assert found == (raised, [[2.0, 2.0], [4.0, 4.0]])
