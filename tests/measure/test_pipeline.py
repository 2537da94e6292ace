"""Subjects on their way through workers, without a GPU: prepared several at once, timed one by one, each to its end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch makes the inputs")
pytest.importorskip("triton", reason="triton loads the kernels")

from tests.execute.test_pool import wait_until
from tests.measure import doubles, pretended
from tests.port.doubles import RIGHT, SPEC
from tritonaudit.config import Config
from tritonaudit.execute.pool import cancelling
from tritonaudit.finding import Status
from tritonaudit.measure import stage
from tritonaudit.measure.facts import Role
from tritonaudit.measure.further import CHANGES_NOTHING
from tritonaudit.measure.stage import (
    NOT_RIGHT,
    Lane,
    MeasureAudit,
    MeasureRequest,
    at_once,
    measure_paths,
    measure_subjects,
)
from tritonaudit.progress import SILENT

JOBS = 4
"""Of which two are workers."""


@pytest.fixture
def pretending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "measure", pretended.measure)
    monkeypatch.setattr(stage, "become_gpu_user", pretended.become)
    monkeypatch.setattr(stage, "memory", lambda _: 8 << 30)


def measured(folder: Path, *names: str, jobs: int = JOBS) -> MeasureAudit:
    return measure_subjects(
        [(folder / "audit_it.py", name) for name in names], Config(folder), MeasureRequest(1.0, jobs)
    )


def reasons(found: MeasureAudit) -> dict[str, list[str]]:
    return {subject.name: [row.reason for row in subject.rows] for subject in found.subjects}


def whole(name: str) -> list[str]:
    return [f"{size} of {name}" for size in pretended.SIZES]


def said(folder: Path) -> list[tuple[str, str]]:
    return [(what, process) for what, process in map(str.split, (folder / "log").read_text().splitlines())]


@pytest.mark.usefixtures("pretending")
def test_several_are_prepared_and_one_is_timed_at_a_time(tmp_path: Path) -> None:
    found = measured(tmp_path, "first", "second", "third")
    assert found.gpu == pretended.GPU
    assert reasons(found) == {name: whole(name) for name in ("first", "second", "third")}
    log = said(tmp_path)
    assert [what for what, _ in log if what != "begins"] == ["times", "timed"] * 9
    assert {what for what, _ in log[:2]} == {"begins"}
    assert len({process for _, process in log}) == 2


@pytest.mark.usefixtures("pretending")
def test_with_few_processes_they_are_measured_one_after_the_other(tmp_path: Path) -> None:
    found = measured(tmp_path, "first", "second", jobs=2)
    assert reasons(found) == {name: whole(name) for name in ("first", "second")}
    assert len({process for _, process in said(tmp_path)}) == 1


@pytest.mark.usefixtures("pretending")
def test_a_worker_that_dies_costs_its_own_subject_only(tmp_path: Path) -> None:
    found = measured(tmp_path, "crashing", "broken", "whole")
    crashing, broken, right = found.subjects
    assert [(row.size, row.status) for row in crashing.rows] == [("small", Status.NOT_RUN), ("medium", Status.FAIL)]
    assert crashing.reason.startswith("its process killed by signal 6")
    assert broken.rows == ()
    assert [row.reason for row in right.rows] == whole("whole")
    (problem,) = found.audit.problems
    assert "'broken' was not measured: raised ValueError: it cannot be loaded" in problem.message


@pytest.mark.usefixtures("pretending")
def test_what_had_no_room_beside_others_is_measured_again_alone(tmp_path: Path) -> None:
    found = measured(tmp_path, "cramped", "other")
    assert reasons(found) == {"cramped": whole("cramped"), "other": whole("other")}
    assert [what for what, _ in said(tmp_path)].count("begins") == 3


@pytest.mark.usefixtures("pretending")
def test_where_what_the_gpu_can_reach_is_not_known_nothing_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "measure", pretended.lose_the_gpu)
    found = measured(tmp_path, "first")
    assert (found.gpu, found.subjects) == (None, ())
    assert found.reason.startswith("measuring what the GPU can reach killed by signal 6")


@pytest.mark.usefixtures("pretending")
def test_what_the_gpu_can_reach_is_asked_once_in_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = measured(tmp_path, "first")
    monkeypatch.setattr(stage, "measure", pretended.lose_the_gpu)
    found = measured(tmp_path, "second")
    assert found.gpu == first.gpu == pretended.GPU
    assert reasons(found) == {"second": whole("second")}


# -- a lane beside the run stage -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("pretending")
def test_in_a_lane_each_is_measured_as_it_is_added_and_the_others_are_reported(tmp_path: Path) -> None:
    keys = [(tmp_path / "audit_it.py", name) for name in ("wrong", "first", "second")]
    with Lane(Config(tmp_path), MeasureRequest(1.0, JOBS), SILENT) as lane:
        lane.add(keys[1])
        assert wait_until((tmp_path / "log").exists, 60)
        lane.add(keys[2])
        found = lane.measured(keys)
    assert reasons(found) == {"wrong": [], "first": whole("first"), "second": whole("second")}
    assert found.subjects[0].reason == NOT_RIGHT
    assert {outcome.status for outcome in found.subjects[0].outcomes} == {Status.NOT_RUN}
    assert not found.is_interrupted


@pytest.mark.usefixtures("pretending")
def test_a_lane_that_loses_the_gpu_tells_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "measure", pretended.lose_the_gpu)
    key = (tmp_path / "audit_it.py", "first")
    with Lane(Config(tmp_path), MeasureRequest(1.0, JOBS), SILENT) as lane:
        lane.add(key)
        found = lane.measured([key])
    assert found.gpu is None
    assert found.subjects[0].reason == found.reason
    assert found.reason.startswith("measuring what the GPU can reach killed by signal 6")


@pytest.mark.usefixtures("pretending")
def test_a_lane_that_is_cancelled_has_what_was_done_by_then(tmp_path: Path) -> None:
    keys = [(tmp_path / "audit_it.py", name) for name in ("first", "second", "third", "fourth")]
    with cancelling() as cancel, Lane(Config(tmp_path), MeasureRequest(1.0, JOBS), SILENT) as lane:
        for key in keys:
            lane.add(key)
        assert wait_until(lambda: (tmp_path / "log").exists() and len(said(tmp_path)) >= 8)
        cancel()
        found = lane.measured(keys)
    assert found.is_interrupted
    assert any(subject.rows for subject in found.subjects)
    assert found.subjects[-1].rows == ()


@pytest.mark.usefixtures("pretending")
def test_a_lane_that_is_left_by_an_exception_ends(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Lane(Config(tmp_path), MeasureRequest(1.0, JOBS), SILENT):
        raise KeyError


def test_without_subjects_nothing_is_measured(tmp_path: Path) -> None:
    assert measured(tmp_path).reason == "there is no subject"


@pytest.mark.parametrize(("jobs", "workers"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 6), (16, 6)])
def test_two_processors_are_left_for_what_is_timed(jobs: int, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "memory", lambda _: 8 << 30)
    assert at_once(jobs) == workers


def test_each_needs_memory_of_the_machine_and_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "memory", lambda workers: (25 << 30) // workers)
    assert at_once(16) == 4
    monkeypatch.setattr(stage, "turns_folder", lambda: None)
    assert at_once(16) == 1


# -- what a worker does, on the CPU engine ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a subject of two dtypes that has an odd size, too."""
    path = tmp_path_factory.mktemp("subject") / "audit_double.py"
    spec = SPEC.replace("Subject(twice, ", "Subject(triton_double, ").replace('["float32"]', '["float32", "float16"]')
    path.write_text(f"{RIGHT}\n\n{spec}")
    return path


@pytest.fixture
def standing_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "measure", doubles.measure)
    monkeypatch.setattr(stage, "become_gpu_user", doubles.become)


@pytest.mark.usefixtures("standing_in")
def test_a_subject_is_timed_at_its_named_sizes_and_then_at_others(subject: Path) -> None:
    found = measure_subjects([(subject, "double")], Config(subject.parent), MeasureRequest(2.0, JOBS))
    ((small, half, odd),) = (one.rows for one in found.subjects)
    assert [(row.size, row.case.label, row.status) for row in (small, half, odd)] == [
        ("small", "n=64 float32", Status.PASS),
        ("small", "n=64 float16", Status.PASS),
        ("", "n=7 float32", Status.PASS),
    ]
    roles = [[one.role for one in row.timed] for row in (small, half, odd)]
    assert roles == [[Role.SUBJECT, Role.PYTORCH, Role.COMPILED]] * 2 + [[Role.SUBJECT, Role.PYTORCH]]
    assert all(one.device is not None and not one.reason for row in (small, half, odd) for one in row.timed)
    assert found.subjects[0].kernel is not None
    assert [(one.kernel.name, one.reason) for one in found.subjects[0].profiles] == [
        ("double_kernel", "" if shutil.which("ncu") else "there is no `ncu`")
    ]
    assert found.audit.problems == ()


@pytest.mark.usefixtures("standing_in")
def test_in_brief_it_is_timed_beside_pytorch_only(subject: Path) -> None:
    found = measure_subjects([(subject, "double")], Config(subject.parent), MeasureRequest(2.0, JOBS, is_brief=True))
    ((small,),) = (one.rows for one in found.subjects)
    assert (small.size, [one.role for one in small.timed]) == ("small", [Role.SUBJECT, Role.PYTORCH])
    assert found.subjects[0].profiles == ()


@pytest.mark.usefixtures("standing_in")
def test_a_size_that_could_change_nothing_is_listed_and_not_timed(
    subject: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "become_gpu_user", doubles.become_quick)
    found = measure_subjects([(subject, "double")], Config(subject.parent), MeasureRequest(2.0, JOBS))
    *_, odd = found.subjects[0].rows
    assert (odd.status, odd.reason, odd.timed) == (Status.NOT_RUN, CHANGES_NOTHING, ())
    timed = found.audit.outcomes[0]
    assert (timed.status, timed.reason) == (Status.PASS, f"1 size not timed: {CHANGES_NOTHING}")


def test_without_a_gpu_nothing_is_prepared(subject: Path) -> None:
    found = measure_paths([subject], Config(subject.parent), MeasureRequest(1.0, device=stage.Where.CPU))
    assert found.reason == stage.NO_GPU
