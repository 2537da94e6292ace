"""A worker on a GPU has a process apart get ready for its first subject while it gets ready itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import Limits, run_tasks

pytest.importorskip("torch", reason="torch makes the tensors")
pytest.importorskip("triton", reason="the engine stands in for its driver")

from tests.suites.beforehand import called_apart

SUBJECTS = """\
from tritonaudit import Subject, Tensor


def twice(x):
    return x * 2


once = Subject(twice, reference=lambda x: x * 2, inputs=[Tensor("n")])
again = Subject(twice, reference=lambda x: x + x, inputs=[Tensor("n")])
"""


def called(folder: Path, *, comes_up: bool) -> Any:
    path = folder / "audit_it.py"
    path.write_text(SUBJECTS, encoding="utf-8")
    ((_, outcome),) = run_tasks(called_apart, [(path, comes_up)], workers=1, limits=Limits(30, 8 << 30))
    return outcome


def test_the_first_subject_has_the_process_that_was_begun_beforehand(tmp_path: Path) -> None:
    assert called(tmp_path, comes_up=True) == [("once", True), ("again", False)]


def test_one_that_cannot_use_the_gpu_is_reported_of_where_it_is_needed(tmp_path: Path) -> None:
    outcome = called(tmp_path, comes_up=False)
    assert isinstance(outcome, Killed)
    assert (outcome.end, outcome.message) == (End.EXIT, "exited with code 1")
    assert outcome.log.count("OSError: no GPU") == 2
