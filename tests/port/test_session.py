"""Selecting as a whole, on the CPU: what is wrong or hostile costs itself alone, and the choice stays the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

from tests.port.doubles import HANGING, HOSTILE, RIGHT, WRONG, write_operation
from tests.port.test_attempts import MENDS_AT_2
from tritonaudit.audit import AuditRequest
from tritonaudit.config import Config
from tritonaudit.hardware.parts import known_parts
from tritonaudit.port.folders import operations_named
from tritonaudit.port.repairing import Repairer
from tritonaudit.port.selecting import SelectRequest
from tritonaudit.port.session import Session, run_session
from tritonaudit.port.validating import PARTS

CASES = 2
"""Of each variant: a count ends them where a clock shall not."""


def selected(
    folder: Path, *names: str, repairer: Repairer | None = None, seconds: float = 150.0, cases: int | None = CASES
) -> Session:
    """Of the operations of these folders, with their logs in `logs` beside them."""
    operations, problems = operations_named([str(folder / name) for name in names])
    audit = AuditRequest(PARTS, seconds, 2, "cpu", most_cases=cases)
    request = SelectRequest(audit, folder / "logs", "sm_90", repairer=repairer)
    return run_session(operations, Config(folder), request, known_parts(), problems)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two operations: one with a right variant and several that are not, one with none that is right."""
    folder = tmp_path_factory.mktemp("ported")
    texts = {name: text for name, (text, _) in HOSTILE.items()}
    write_operation(folder, {"v1_wrong": WRONG, **texts, "v8_right": RIGHT, "v10_right": RIGHT})
    (folder / "hopeless").mkdir()
    (folder / "hopeless" / "v1_baseline.py").write_text("def triton_hopeless(:\n")
    return folder


@pytest.fixture(scope="module")
def session(folder: Path) -> Session:
    return selected(folder, "nowhere", "hopeless", "double")


def test_each_operation_is_done_whatever_the_others_come_to(session: Session) -> None:
    assert [(one.operation.name, one.choice.name) for one in session.selected] == [
        ("hopeless", None),
        ("double", "v8_right"),
    ]
    assert [problem.message for problem in session.problems] == ["there is no such folder, here or in kernels/"]
    assert not session.has_choices


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_is_refused_for_the_right_reason(session: Session, name: str) -> None:
    reasons = {one.name: one.verdict.reasons for one in session.selected[1].variants}
    assert any(HOSTILE[name][1] in reason for reason in reasons[name]), reasons[name]


def test_what_is_wrong_is_refused_and_what_is_right_is_not(session: Session) -> None:
    verdicts = {one.name: one.verdict for one in session.selected[1].variants}
    assert verdicts["v1_wrong"].reasons[0].startswith("wrong result: ")
    assert {finding.code for finding in verdicts["v1_wrong"].findings} >= {"TAC401"}
    assert [name for name, verdict in verdicts.items() if verdict.is_right] == ["v8_right", "v10_right"]
    assert verdicts["v8_right"].launched[0].name == "double_kernel"


def test_the_log_has_its_phases_and_says_that_nothing_was_timed(session: Session, folder: Path) -> None:
    log = (folder / "logs" / "double_log.md").read_text()
    heads = [line for line in log.splitlines() if line.startswith("## ")]
    assert [head.partition(":")[0] for head in heads] == ["## Phase 1", "## Phase 2", "## Phase 3", "## Phase 4"]
    assert "NOT RUN: there is no GPU. What the compiler makes of each for sm_90 instead:" in log
    assert "**Chosen**: v8_right" in log
    assert "on what the compiler makes of each kernel for sm_90, and says nothing certain about speed" in log
    assert "| v7_other | ❌ refused | — | no function `triton_double` is defined in it |" in log
    hopeless = (folder / "logs" / "hopeless_log.md").read_text()
    assert "NOT RUN: no variant is right" in hopeless
    assert "**Chosen**: none" in hopeless
    assert (folder / "logs" / "summary.md").read_text().startswith(session.summary.rstrip())


def test_a_second_run_writes_the_same_and_leaves_what_is_not_its_own(tmp_path: Path) -> None:
    write_operation(tmp_path, {"v1": WRONG, "v2": RIGHT})
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "summary.md").write_text("mine\n")
    script = tmp_path / "repair.py"
    script.write_text(MENDS_AT_2)
    repairer = Repairer((sys.executable, str(script)))
    first = selected(tmp_path, "double", repairer=repairer)
    log = (tmp_path / "logs" / "double_log.md").read_text()
    assert first.selected[0].choice.name == "v1 (attempt 2)"
    assert "kept in `" in log
    assert "* v1 is refused: wrong result: " in log
    assert "; attempt 2 is right" in log
    again = selected(tmp_path, "double", repairer=repairer)
    assert again.selected[0].choice.name == "v1 (attempt 2)"
    assert (tmp_path / "logs" / "double_log.md").read_text() == log
    assert (tmp_path / "logs" / "summary.md").read_text() == "mine\n"
    assert "was not written by this tool" in again.problems[0].message
    assert (tmp_path / "double" / "v1.py").read_text() == WRONG


@pytest.mark.slow
def test_one_that_hangs_is_refused_for_that(tmp_path: Path) -> None:
    write_operation(tmp_path, {"v1": HANGING, "v2": RIGHT})
    session = selected(tmp_path, "double", seconds=5.0)
    (one,) = session.selected
    assert any(reason.startswith("hang: ") for reason in one.variants[0].verdict.reasons)
    assert one.choice.name == "v2"
