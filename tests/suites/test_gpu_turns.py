"""Trials on a GPU share it, and what they wait for their turn is nobody's time; on the CPU engine there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tritonaudit.execute import turns
from tritonaudit.execute.turns import Turns
from tritonaudit.subject.model import Subject, Tensor
from tritonaudit.suites.worker import SubjectTask, _Audit


class Device:
    lost = None

    def __init__(self, is_engine: bool) -> None:
        self.is_engine = is_engine


def audit(folder: Path, *, is_engine: bool) -> _Audit:
    device: Any = Device(is_engine)
    subject = Subject(lambda x: x, inputs=[Tensor("n")])
    return _Audit(device, subject, SubjectTask(folder / "audit_it.py", "it", 10.0), turns=Turns(folder))


@pytest.mark.parametrize("is_engine", [False, True])
def test_nobody_times_while_a_trial_is_on_a_gpu(tmp_path: Path, is_engine: bool) -> None:
    other = Turns(tmp_path)
    with audit(tmp_path, is_engine=is_engine)._turn():
        files = other._open(tmp_path)
        assert turns._clear(*files) is is_engine
        other._leave()
        with other.shared(60):
            pass


def test_waiting_is_not_spent(tmp_path: Path) -> None:
    one = audit(tmp_path, is_engine=False)
    spent = one.spent
    one.turns.waited += 5.0
    assert one.spent - spent == pytest.approx(-5.0, abs=0.5)
    assert one.left > 10.0
