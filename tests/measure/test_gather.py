"""What measuring a subject comes to: which checks pass, and what was not measured never does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.measured import CASE, GPU, KERNEL, PART, counter, missed, of_size, row, subject, timed
from tritonaudit.capture.launch import KernelRef
from tritonaudit.compile.places import Place
from tritonaudit.config import Config
from tritonaudit.engine import judge
from tritonaudit.finding import Outcome, Span, Status
from tritonaudit.measure.checks import Check
from tritonaudit.measure.counters import SECTORS, SPILLS
from tritonaudit.measure.facts import Profile, Role, Row
from tritonaudit.measure.gather import IMPOSSIBLE, facts_of, held_against
from tritonaudit.measure.profiled import profiled_kernels

WRONG = "wrong after the timing: output: errors of 3 elements are above 16 times the budget"
SEEN = Profile(KERNEL, CASE, (counter(SPILLS, 0.0),))


def outcomes(*rows: Row, **said: Any) -> dict[Check, Outcome]:
    found = {Check(outcome.check): outcome for outcome in subject(*rows, **said).outcomes}
    assert all(outcome.subject == "audit_it.py: softmax" for outcome in found.values())
    return found


def statuses(*rows: Row, **said: Any) -> dict[Check, Status]:
    return {check: outcome.status for check, outcome in outcomes(*rows, **said).items()}


def test_all_that_was_measured_passes() -> None:
    found = outcomes(row(1.1, 2.0, 1.5), of_size(row(1.2, 2.0, 1.5), "small", n=1000), profiles=(SEEN,))
    assert {outcome.status for outcome in found.values()} == {Status.PASS}
    assert found[Check.TIMED].case == found[Check.VERIFIED].case == "2 sizes"


def test_a_baseline_is_compared_where_the_subject_names_one() -> None:
    named = row(1.1)
    named = replace(named, timed=(*named.timed, timed(Role.BASELINE, 2.0, 1.8, name="liger")))
    assert statuses(named)[Check.BASELINES] is Status.PASS
    assert Check.BASELINES not in statuses(row(1.1))


@pytest.mark.parametrize("reason", ["there is no GPU", "the time was spent", "it does not fit into the GPU's memory"])
def test_what_was_not_run_never_passes(reason: str) -> None:
    found = outcomes(missed(reason), missed(reason, size="small"))
    assert {(outcome.status, outcome.reason) for outcome in found.values()} == {(Status.NOT_RUN, reason)}


def test_a_subject_of_which_nothing_is_known_never_passes() -> None:
    for said in ({"reason": "its process was killed"}, {"reason": "interrupted"}, {}):
        assert set(statuses(**said).values()) == {Status.NOT_RUN}
        assert all(outcome.reason for outcome in outcomes(**said).values())


def test_what_cannot_be_measured_is_said_of_that_check_alone() -> None:
    found = outcomes(row(1.1))
    assert {check for check, outcome in found.items() if outcome.status is Status.PASS} == {
        Check.TIMED,
        Check.VERIFIED,
        Check.ROOFLINE,
    }
    assert found[Check.PYTORCH].reason == found[Check.COMPILED].reason == "the subject has no reference"


def test_a_contender_that_fails_is_not_compared() -> None:
    failed = row(1.1, 2.0)
    refused = replace(timed(Role.COMPILED, 1.0), device=None, wall=None, speedup=None, reason="it raises an error")
    found = outcomes(replace(failed, timed=(*failed.timed, refused)))
    assert found[Check.PYTORCH].status is Status.PASS
    assert (found[Check.COMPILED].status, found[Check.COMPILED].reason) == (Status.NOT_RUN, "it raises an error")


def test_unstable_times_are_not_compared() -> None:
    unstable = row(1.1, spread=0.3, status=Status.WARN, reason="unstable: its times spread")
    unstable = replace(unstable, timed=(*unstable.timed, timed(Role.PYTORCH, 2.0)))
    found = outcomes(unstable)
    assert (found[Check.PYTORCH].status, found[Check.PYTORCH].reason) == (Status.NOT_RUN, "the times are unstable")
    assert (found[Check.TIMED].status, found[Check.TIMED].reason) == (Status.WARN, "unstable: its times spread")


def test_sizes_that_were_missed_are_reported_beside_those_that_were_not() -> None:
    found = outcomes(row(1.1), missed("the time was spent", size=""), missed("the time was spent", size=""))
    assert (found[Check.TIMED].case, found[Check.TIMED].reason) == ("1 size", "2 sizes not timed: the time was spent")


def test_what_was_interrupted_says_so() -> None:
    assert outcomes(row(1.1), reason="interrupted")[Check.TIMED].reason == "the rest: interrupted"


def test_a_size_in_which_the_worker_was_lost_is_reported() -> None:
    lost = missed("its process was killed by signal 9", status=Status.FAIL)
    found = outcomes(row(1.1), lost, reason=lost.reason)
    assert found[Check.TIMED].reason == "1 size not timed: its process was killed by signal 9"
    assert found[Check.PROFILED].status is Status.NOT_RUN
    assert statuses(lost, reason=lost.reason)[Check.TIMED] is Status.FAIL


def test_a_profiler_that_sees_nothing_says_why() -> None:
    found = outcomes(row(1.1), profiles=(Profile(KERNEL, CASE, reason="ERR_NVGPUCTRPERM"),))[Check.PROFILED]
    assert (found.status, found.reason) == (Status.NOT_RUN, "ERR_NVGPUCTRPERM")


def test_where_no_kernel_of_triton_is_launched_there_is_none_to_profile() -> None:
    found = outcomes(row(1.1), kernel=None, launched=())[Check.PROFILED]
    assert (found.status, found.reason) == (Status.NOT_RUN, "it launches no kernel of Triton")


# what is wrong, or cannot be


def test_a_wrong_result_fails_and_has_no_speedup() -> None:
    wrong = row(1.1, 2.0).refused(WRONG)
    found = outcomes(wrong)
    assert (found[Check.VERIFIED].status, found[Check.VERIFIED].reason) == (Status.FAIL, WRONG)
    assert found[Check.TIMED].status is Status.FAIL
    assert found[Check.PYTORCH].status is Status.NOT_RUN


def test_a_time_that_cannot_be_fails_and_has_no_speedup() -> None:
    impossible = row(0.1, 2.0)
    assert (impossible.status, impossible.reason) == (Status.FAIL, IMPOSSIBLE)
    assert all(one.speedup is None for one in impossible.timed)
    found = outcomes(impossible)
    assert found[Check.ROOFLINE].status is found[Check.TIMED].status is Status.FAIL
    assert found[Check.VERIFIED].status is Status.PASS  # its result is right
    assert found[Check.PYTORCH].status is Status.NOT_RUN


def test_a_wrong_result_stays_wrong_however_fast_it_is() -> None:
    wrong = row(1.1, 2.0).refused(WRONG)
    quick = held_against(replace(wrong, timed=(timed(Role.SUBJECT, 0.1),)), GPU, PART)
    assert (quick.status, quick.reason) == (Status.FAIL, WRONG)
    assert statuses(quick)[Check.VERIFIED] is statuses(quick)[Check.ROOFLINE] is Status.FAIL


def test_a_result_that_was_not_verified_stays_so_however_fast_it_is() -> None:
    quick = row(0.1, status=Status.WARN, reason="not verified: the subject has no reference")
    assert quick.reason == f"not verified: the subject has no reference; {IMPOSSIBLE}"
    assert statuses(quick)[Check.VERIFIED] is Status.NOT_RUN


def test_an_unstable_time_that_cannot_be_is_no_wrong_result() -> None:
    quick = row(0.1, status=Status.WARN, reason="unstable: its times spread")
    assert statuses(quick)[Check.VERIFIED] is Status.PASS
    assert statuses(quick)[Check.ROOFLINE] is Status.FAIL


def test_without_known_work_there_is_no_roof() -> None:
    found = outcomes(row(1.1, bytes=None))[Check.ROOFLINE]
    assert (found.status, found.reason) == (Status.NOT_RUN, "unknown: bytes")


def test_of_an_unknown_gpu_no_time_is_impossible() -> None:
    nobody = replace(PART, figures=(), rates=())
    one = replace(row(1.1), timed=(timed(Role.SUBJECT, 1e-6),), status=Status.PASS, reason="")
    assert held_against(one, replace(GPU, ceilings=()), nobody).status is Status.PASS


# what rules read


KERNELS = """\
import triton


@triton.jit
def softmax_kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x)


def softmax(x):
    softmax_kernel[(1,)](x)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS, encoding="utf-8")
    return str(file)


def test_facts_are_of_the_kernel_at_its_name(path: str) -> None:
    found = facts_of(subject(row(1.1), kernel=KernelRef(path, "softmax_kernel", 5)), GPU)
    assert found is not None
    assert (found.path, found.name, found.span) == (path, "softmax_kernel", Span(5, 5, 5, 19))
    assert facts_of(subject(row(1.1), kernel=None), GPU) is None


def test_what_was_counted_in_a_kernel_stands_at_its_lines(path: str) -> None:
    one, other = KernelRef(path, "softmax_kernel", 5), KernelRef(path, "another", 5)
    profiles = (
        Profile(one, CASE, (counter(SECTORS, 8.0, 6), counter(SECTORS, 1.0, 7), counter(SPILLS, 3.0))),
        Profile(other, CASE, reason="ncu saw no launch"),
    )
    (found,) = profiled_kernels(subject(row(1.1), launched=(one, other), profiles=profiles), GPU)
    assert (found.path, found.span, found.is_alone) == (path, Span(5, 5, 5, 19), False)
    assert found.places == {6: Place(Span(6, 9, 6, 23), "load"), 7: Place(Span(7, 5, 7, 23), "store")}
    assert found.by_line(SECTORS) == {6: 8.0, 7: 1.0}
    assert (found.total(SPILLS), found.total(SECTORS)) == (3.0, None)
    assert found.row == row(1.1)


def test_a_profile_of_a_case_that_was_not_timed_or_is_wrong_has_no_row(path: str) -> None:
    profile = Profile(KernelRef(path, "softmax_kernel", 5), CASE, (counter(SPILLS, 3.0),))
    for one in (row(1.1, case=replace(CASE, seed=3)), row(1.1).refused(WRONG)):
        (found,) = profiled_kernels(subject(one, profiles=(profile,)), GPU)
        assert found.row is None


def test_subjects_of_one_kernel_have_findings_of_their_own(path: str) -> None:
    ref = KernelRef(path, "softmax_kernel", 5)
    wide, narrow = (
        replace(subject(row(time, 1.0), kernel=ref), name=name) for name, time in (("wide", 4), ("narrow", 2))
    )
    facts = [one for one in (facts_of(subject, GPU) for subject in (wide, narrow, narrow)) if one is not None]
    found = [one for one in judge({Path(path): facts}, Config(Path(path).parent)).findings if one.code == "TAP501"]
    assert [one.message.split("`")[1] for one in found] == ["narrow", "wide"]
    assert len({one.fingerprint for one in found}) == 2
