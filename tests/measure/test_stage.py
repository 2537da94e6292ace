"""The measure stage as a whole: without a GPU sizes are listed and none is said to have run; losses are reported."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch makes the inputs")
pytest.importorskip("triton", reason="triton loads the kernels")

from tests.checkout import ROOT
from tests.measured import CASE, KERNEL, counter, missed, row
from tritonaudit.config import Config
from tritonaudit.execute.killed import End, Killed
from tritonaudit.finding import Status
from tritonaudit.measure.checks import Check
from tritonaudit.measure.counters import SPILLS
from tritonaudit.measure.facts import NO_ROOM, Profile, Role, Timed
from tritonaudit.measure.stage import MeasureAudit, MeasureRequest, _Measuring, measure_paths
from tritonaudit.measure.worker import Begun, Done, MeasureTask, ProfileTask
from tritonaudit.progress import SILENT
from tritonaudit.suites.stage import Where

FIXTURES = ROOT / "fixtures" / "rules"
TASK = MeasureTask(Path("audit_it.py"), "softmax", 1.0)
KILLED = Killed(End.CRASH, "was killed by signal 11", "")


def copied(folder: Path, *fixtures: str) -> Path:
    for number, fixture in enumerate(fixtures):
        shutil.copy(FIXTURES / fixture, folder / f"audit_{number}.py")
    return folder


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> MeasureAudit:
    folder = copied(
        tmp_path_factory.mktemp("listed"), "TAP504_superlinear/good.py", "TAP506_faster_than_possible/bad.py"
    )
    return measure_paths([folder], Config(ROOT), MeasureRequest(1.0, device=Where.CPU))


def test_without_a_gpu_each_size_is_listed_with_its_work(listed: MeasureAudit) -> None:
    assert (listed.gpu, listed.reason, listed.is_interrupted) == (None, "there is no GPU", False)
    doubled, rows = listed.subjects
    assert [one.case.label for one in doubled.rows] == ["n=33554432 float32", "n=134217728 float32"]
    assert [one.work.bytes for one in doubled.rows if one.work] == [8 * (1 << 25), 8 * (1 << 27)]
    assert [one.work.bytes_source for one in rows.rows if one.work] == ["given by the subject"]


def test_without_a_gpu_nothing_runs_passes_or_is_found(listed: MeasureAudit) -> None:
    rows = [one for subject in listed.subjects for one in subject.rows]
    assert {(one.status, one.reason, one.timed) for one in rows} == {(Status.NOT_RUN, "there is no GPU", ())}
    assert {one.status for one in listed.audit.outcomes} == {Status.NOT_RUN}
    assert all(one.reason for one in listed.audit.outcomes)
    assert listed.audit.findings == listed.audit.problems == ()


def test_a_subject_that_cannot_be_loaded_is_a_problem_and_the_rest_goes_on(tmp_path: Path) -> None:
    copied(tmp_path, "TAP504_superlinear/good.py")
    (tmp_path / "audit_broken.py").write_text("import tritonaudit\nraise RuntimeError('no')\n")
    found = measure_paths([tmp_path], Config(ROOT), MeasureRequest(1.0, device=Where.CPU))
    assert [subject.name for subject in found.subjects] == ["doubled"]
    (problem,) = found.audit.problems
    assert "audit_broken.py" in problem.path


# what a subject comes to when its process, or the whole, ends too soon


def measuring() -> _Measuring:
    return _Measuring(1.0, SILENT, tasks=[TASK])


def test_what_was_never_begun_was_interrupted() -> None:
    found = measuring().measured(TASK)
    assert (found.rows, found.reason) == ((), "interrupted")
    assert {one.status for one in found.outcomes} == {Status.NOT_RUN}


def test_what_was_interrupted_has_what_was_done() -> None:
    one = measuring()
    one._hear(TASK, Begun(CASE, "large"))
    one._hear(TASK, Done(row(1.1), (KERNEL,)))
    one._hear(TASK, Begun(replace(CASE, seed=1), ""))
    found = one.measured(TASK)
    assert (found.rows, found.reason, found.kernel) == ((row(1.1),), "interrupted", KERNEL)


def test_a_worker_that_dies_fails_the_size_that_it_was_at() -> None:
    one = measuring()
    one._hear(TASK, Begun(CASE, "large"))
    one._hear(TASK, Done(row(1.1), (KERNEL,)))
    one._hear(TASK, Begun(replace(CASE, seed=1), ""))
    one._finish(TASK, KILLED)
    found = one.measured(TASK)
    reason = "its process was killed by signal 11"
    assert found.rows == (row(1.1), missed(reason, status=Status.FAIL, case=replace(CASE, seed=1), size=""))
    assert found.reason == reason
    assert one.problems == ()


def test_a_profilers_worker_that_dies_costs_no_size() -> None:
    one = measuring()
    one._hear(TASK, Done(row(1.1), (KERNEL,)))
    one._finish(TASK, None)
    one._unprofiled[TASK.key] = KILLED
    found = one.measured(TASK)
    assert (found.rows, found.reason) == ((row(1.1),), "")
    profiled = next(outcome for outcome in found.outcomes if outcome.check == Check.PROFILED.value)
    assert (profiled.status, profiled.reason) == (Status.NOT_RUN, "its process was killed by signal 11")


def test_a_worker_that_dies_at_once_is_a_problem() -> None:
    one = measuring()
    one._finish(TASK, KILLED)
    (problem,) = one.problems
    assert problem.message == "the subject 'softmax' was not measured: was killed by signal 11"
    assert {outcome.status for outcome in one.measured(TASK).outcomes} == {Status.NOT_RUN}


def test_findings_blame_the_kernel_where_there_is_one_alone() -> None:
    wrapper, other = replace(KERNEL, name="softmax"), replace(KERNEL, name="other_kernel")
    one, several = measuring(), measuring()
    one._hear(TASK, Done(row(1.1), (KERNEL,), wrapper))
    several._hear(TASK, Done(row(1.1), (KERNEL, other), wrapper))
    assert one.measured(TASK).kernel == KERNEL
    assert (several.measured(TASK).kernel, several.measured(TASK).launched) == (wrapper, (KERNEL, other))


def test_what_a_contender_had_no_room_for_is_measured_again_too() -> None:
    one = measuring()
    one._hear(TASK, Done(row(1.1), (KERNEL,)))
    assert one._cramped() == []
    refused = Timed(Role.PYTORCH, "PyTorch", reason=f"its first calls: what they need {NO_ROOM}")
    one._hear(TASK, Done(replace(row(1.1), timed=(*row(1.1).timed, refused)), (KERNEL,)))
    assert one._cramped() == [TASK, ProfileTask(*TASK.key)]
    assert one.measured(TASK).rows == ()


def test_profiles_are_kept_with_their_subject() -> None:
    one = measuring()
    profile = Profile(KERNEL, CASE, (counter(SPILLS, 1.0),))
    one._hear(TASK, Done(row(1.1), (KERNEL,)))
    one._hear(ProfileTask(*TASK.key), profile)
    assert one.measured(TASK).profiles == (profile,)


def test_what_was_not_timed_has_no_profile() -> None:
    one = measuring()
    one._hear(ProfileTask(*TASK.key), Profile(KERNEL, CASE, (counter(SPILLS, 1.0),)))
    one._hear(TASK, Done(missed("wrong before it was timed", status=Status.FAIL), (KERNEL,)))
    assert one.measured(TASK).profiles == ()


# on a GPU


@pytest.mark.slow
def test_on_a_gpu_a_subject_is_measured_against_all_it_is_compared_with(tmp_path: Path) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no GPU: nothing can be timed")
    found = measure_paths(
        [copied(tmp_path, "TAP501_slower_than_pytorch/bad.py")],
        Config(ROOT),
        MeasureRequest(2.0, device=Where.GPU),
    )
    assert found.gpu is not None
    assert found.gpu.ceilings
    ((one,),) = (subject.rows for subject in found.subjects)
    assert one.status is Status.PASS
    assert [timed.role for timed in one.timed] == [Role.SUBJECT, Role.PYTORCH, Role.COMPILED]
    assert all(timed.device is not None and timed.wall is not None for timed in one.timed)
    pytorch = one.of(Role.PYTORCH)
    assert pytorch is not None
    assert pytorch.speedup is not None
    assert pytorch.speedup.high < 0.5
    assert "TAP501" in {finding.code for finding in found.audit.findings}
