"""Wrappers that ask how many multiprocessors there are: they have to be right where there are few, too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.subject.model import Case
from tritonaudit.suites.facts import Symptom

pytest.importorskip("torch")
pytest.importorskip("triton")

FOLDER = ROOT / "tests" / "suites" / "subjects" / "persistent"
CHECK = "multiprocessors 2"


@pytest.fixture(scope="module")
def runs() -> dict[str, Any]:
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    found = run_paths([FOLDER], Config(ROOT), RunRequest(seconds=60, jobs=2, device=Where.CPU, most_cases=1))
    assert not found.audit.problems
    return {run.name: run for run in found.runs}


@pytest.mark.parametrize("name", ["by_driver", "never_reset", "kept", "at_import"])
def test_an_accumulator_that_is_not_reset_is_wrong_where_a_program_has_several_rows(
    name: str, runs: dict[str, Any]
) -> None:
    sightings = [one for trial in runs[name].trials for one in trial.sightings]
    assert {one.symptom for one in sightings} == {Symptom.WRONG_RESULT}
    assert all(one.is_certain and "with 2 multiprocessors" in one.text for one in sightings)


@pytest.mark.parametrize("name", ["by_torch", "at_import_reset", "quarter", "unasked"])
def test_the_others_are_right(name: str, runs: dict[str, Any]) -> None:
    assert not runs[name].kernels
    assert not runs[name].coverage.missing


def test_it_is_tried_where_the_number_is_asked_for(runs: dict[str, Any]) -> None:
    plain = runs["unasked"].coverage
    assert runs["by_torch"].coverage.tried == plain.tried + 1
    assert any("2 multiprocessors" in one.text for trial in runs["at_import"].trials for one in trial.sightings)
    assert (runs["quarter"].coverage.refused, plain.refused) == (1, 0)
    (reason,) = {reason for trial in runs["quarter"].trials for _, reason in trial.unchecked if "multi" in reason}
    assert reason == "with 2 multiprocessors it launches no programs"


def test_a_witness_shows_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    from tritonaudit.suites.reproduce import reproduce

    path = str(FOLDER / "audit_rows.py")
    assert reproduce(path, "never_reset", Case({"rows": 37, "cols": 100}))
    assert "with 2 multiprocessors" in capsys.readouterr().out
    assert not reproduce(path, "by_torch", Case({"rows": 37, "cols": 100}))


def test_a_pair_is_tried_with_few_though_its_reference_is_known_already() -> None:
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    pair = ROOT / "bench" / "cheating" / "honest" / "pair_persistent_matmul.py"
    found = run_paths([pair], Config(pair.parent), RunRequest(seconds=10, device=Where.CPU, most_cases=1))
    (run,) = found.runs
    assert not run.coverage.missing
    assert not run.kernels
