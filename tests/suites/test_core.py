"""What has to be tried before anything passes, and what a verdict is without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.capture.launch import KernelRef
from tritonaudit.config import Config
from tritonaudit.finding import Outcome, Status
from tritonaudit.subject.model import Case, Subject, Tensor
from tritonaudit.suites.axes import axes_of
from tritonaudit.suites.cases import audit_cases
from tritonaudit.suites.core import called_cases, config_trial, configs_trial, core_trials, inapplicable
from tritonaudit.suites.coverage import (
    SUITES,
    Coverage,
    Missed,
    Verdict,
    core_outcome,
    coverage_of,
    shown_missing,
    verdict_of,
)
from tritonaudit.suites.facts import CORE, CROSS_CHECK, Symptom
from tritonaudit.suites.gather import SubjectRun, gather
from tritonaudit.suites.journal import CoreTrial, Ended, Planned, Record, Stopped, Trial
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.suite import Suite

ROWS = Subject(abs, inputs=[Tensor("rows", "cols")])
CALL = CoreTrial("correctness", "an ordinary case", Trial("call", "n=64 float32"), frozenset((Symptom.WRONG_RESULT,)))
TIES = CoreTrial("stability", "ties", Trial("stability: ties", "n=64 float32 3"), frozenset((Symptom.UNSTABLE,)))
COMPARED = CaseOutcome(Case({"n": 64}), frozenset((Symptom.WRONG_RESULT,)))
SPENT = Stopped((("the rest", "the time was spent"),), 8.0, "the time was spent")


# what the core is


def trials(subject: Subject, *blocks: int, is_watched: bool = True) -> list[CoreTrial]:
    plan = audit_cases(subject, blocks)
    cases = called_cases(subject, axes_of(subject, blocks), plan)
    return list(core_trials(subject, plan.cases[0], cases, blocks, is_watched=is_watched))


def of(suite: str, found: list[CoreTrial]) -> list[str]:
    return [one.what for one in found if one.suite == suite]


def test_the_core_has_sizes_around_the_largest_block_special_values_dtypes_and_layouts() -> None:
    what = of("correctness", trials(ROWS, 128, 32))
    for name in ("rows", "cols"):
        assert {f"{name}={size}" for size in (127, 129, 259, 1)} <= set(what)
    assert {"fill nan", "fill nan among normal", "fill 0 among normal", "fill inf", "fill zeros"} <= set(what)
    assert {"fill nan with rows=1", "fill nan with cols=1"} <= set(what)
    assert {"dtype float16", "dtype bfloat16"} <= set(what)
    assert {"layout transposed", "layout offset", "layout expanded"} <= set(what)
    assert {"an ordinary case", "odd sizes", "other orders of programs"} <= set(what)


def test_each_of_its_cases_differs_in_one_thing_from_an_ordinary_one() -> None:
    cases = called_cases(ROWS, axes_of(ROWS, (128,)), audit_cases(ROWS, (128,)))
    ordinary = cases[0].case
    for one in [one for one in cases[2:] if not one.case.seed and "fill nan with" not in one.what]:
        apart = [name for name in ordinary.sizes if one.case.sizes[name] != ordinary.sizes[name]]
        apart += [name for name in ("dtype", "layout", "fill") if getattr(one.case, name) != getattr(ordinary, name)]
        assert len(apart) == 1, one


def test_the_largest_sizes_that_are_named_are_tried_in_the_coarsest_dtype() -> None:
    """A sum that is rounded to 16 bits as it grows loses nothing worth reporting in a few rows."""
    rows = replace(ROWS, sizes={"rows": [8, 1, 33], "cols": [128, 100]})
    found = called_cases(rows, axes_of(rows, (128,)), audit_cases(rows, (128,)))
    (largest,) = [one.case for one in found if one.what == "the largest sizes in bfloat16"]
    assert (largest.sizes, largest.dtype) == ({"rows": 33, "cols": 128}, "bfloat16")


def test_the_largest_sizes_that_are_named_meet_as_far_as_there_is_room() -> None:
    dims = [Tensor("rows", "inner"), Tensor("groups", "inner", "cols")]
    small = {"rows": [16, 1, 33], "inner": [8, 40], "groups": [2, 1, 3], "cols": [8, 31]}
    large = {"rows": [64, 1, 333], "inner": [64, 33, 100], "groups": [4, 7], "cols": [64, 160]}
    for sizes, label in (
        (small, "rows=33 inner=40 groups=3 cols=31 float32"),
        (large, "rows=333 inner=33 groups=7 cols=160 float32"),
    ):
        subject = Subject(abs, inputs=dims, sizes=sizes)
        cases = called_cases(subject, axes_of(subject, (16,)), audit_cases(subject, (16,)))
        assert [one.case.label for one in cases if one.what == "the largest sizes"] == [label]
    cases = called_cases(ROWS, axes_of(ROWS, (128,)), audit_cases(ROWS, (128,)))
    assert not any(one.what == "the largest sizes" for one in cases)


def test_the_core_has_every_hardship_once_and_integrity_on_the_first_case() -> None:
    found = trials(ROWS, 128)
    hardships = of("stability", found)
    assert len(hardships) == len(set(hardships)) == 17
    assert of("integrity", found) == ["rows=128 cols=128 float32"]


def test_what_is_missing_of_integrity_is_named_by_its_case() -> None:
    (trial,) = [one for one in trials(ROWS, 128) if one.suite == "integrity"]
    text = shown_missing([Missed(trial.suite, trial.what, "its process was killed")])
    assert text == f"integrity: {trial.trial.case}: its process was killed"


def test_memory_is_part_of_the_core_where_it_is_watched_and_not_with_special_values() -> None:
    assert of("memory", trials(ROWS, 128, is_watched=False)) == []
    watched = of("memory", trials(ROWS, 128))
    assert {"cols=127", "cols=129", "odd sizes"} <= set(watched)
    assert not any(what.startswith("fill") for what in watched)


def test_sizes_that_a_subject_names_are_its_core() -> None:
    named = replace(ROWS, sizes={"cols": [64, 7, 4096]})
    what = of("correctness", trials(named, 128))
    assert {"cols=7", "cols=4096"} <= set(what)
    assert "cols=129" not in what


# what is missing


def coverage(*entries: Ended | Planned | Stopped) -> Coverage:
    planned = [one.suite for entry in entries if isinstance(entry, Planned) for one in entry.core]
    suites = [suite for suite in SUITES if suite.value in planned] if planned else SUITES
    return coverage_of([(Record(entries), suites)], "interrupted")


def test_what_was_tried_misses_nothing() -> None:
    found = coverage(Planned((CALL,), ("n=64 float32", "n=7 float32")), Ended(CALL.trial, COMPARED), SPENT)
    assert found == Coverage(1, 1, (), 2, 1)
    assert found.is_complete
    assert found.shown == "1 of 1 core trials, 1 of 2 cases"


def test_every_case_that_was_tried_counts_once_whatever_it_was_tried_for() -> None:
    hard = CaseOutcome(Case({"n": 64}, fill="3"), frozenset((Symptom.UNSTABLE,)))
    entries = (
        Planned((CALL, TIES), ("n=64 float32", "n=7 float32")),
        Ended(CALL.trial, COMPARED),
        Ended(TIES.trial, hard),
    )
    run = gather(Path("audit_it.py"), "it", Record((*entries, SPENT)))
    assert run.coverage.shown == "2 of 2 core trials, 2 of 3 cases"
    assert run.cases == run.coverage.called


def test_what_was_not_tried_is_missing_for_the_reason_that_trying_ended() -> None:
    found = coverage(Planned((CALL, TIES), ()), Ended(CALL.trial, COMPARED), SPENT)
    assert found.missing == (Missed("stability", "ties", "the time was spent"),)
    assert not found.is_complete
    cut = coverage(Planned((CALL,), ()))
    assert cut.missing == (Missed("correctness", "an ordinary case", "interrupted"),)


def test_nothing_is_complete_before_it_is_known_what_is_to_be_tried() -> None:
    found = coverage(SPENT)
    assert {missed.suite for missed in found.missing} == {"correctness", "stability", "memory", "integrity"}
    assert not found.is_complete


def test_what_the_cpu_engine_did_not_watch_for_a_gpu_is_missing_of_memory() -> None:
    tried = Record((Planned((CALL,), ("n=64 float32",)), Ended(CALL.trial, COMPARED), SPENT))
    run = gather(Path("audit_it.py"), "it", tried, watched=Record())
    assert run.coverage.missing_of(Suite.MEMORY) == (Missed("memory", "what is to be tried", "interrupted"),)
    assert not run.coverage.missing_of(Suite.CORRECTNESS)
    assert run.verdict is Verdict.INCOMPLETE


def test_a_suite_of_which_nothing_can_be_tried_does_not_pass() -> None:
    found = coverage_of([(Record((Planned((CALL,), ()), Ended(CALL.trial, COMPARED), SPENT)), SUITES)], "interrupted")
    assert found.missing_of(Suite.STABILITY) == (
        Missed("stability", "what is to be tried", "its inputs leave nothing to try"),
    )
    assert verdict_of(outcomes(Status.PASS), found) is Verdict.INCOMPLETE


def test_a_trial_that_came_to_nothing_is_missing() -> None:
    unknown = CaseOutcome(COMPARED.case, frozenset(), unchecked=((Symptom.WRONG_RESULT, "no reference"),))
    found = coverage(Planned((CALL,), ()), Ended(CALL.trial, unknown), SPENT)
    assert found.missing == (Missed("correctness", "an ordinary case", "no reference"),)


def test_a_case_that_the_wrapper_refuses_is_tried_where_another_was_judged() -> None:
    odd = CoreTrial("correctness", "odd sizes", Trial("call", "n=63 float32"), CALL.symptoms)
    refused = CaseOutcome(Case({"n": 63}), frozenset(), is_refused=True)
    both = coverage(Planned((CALL, odd), ()), Ended(CALL.trial, COMPARED), Ended(odd.trial, refused), SPENT)
    assert both.is_complete
    assert both.shown == "2 of 2 core trials, 1 refused by the wrapper, 2 of 2 cases"
    alone = coverage(Planned((odd,), ()), Ended(odd.trial, refused), SPENT)
    assert not alone.is_complete


def test_hardships_that_the_wrapper_refuses_one_and_all_are_reported() -> None:
    refused = CaseOutcome(Case({"n": 64}, fill="3"), frozenset(), is_refused=True)
    found = coverage(Planned((CALL, TIES), ()), Ended(CALL.trial, COMPARED), Ended(TIES.trial, refused), SPENT)
    assert (found.missing, found.refused, found.tried) == ((), 1, 2)


def test_beside_a_case_that_the_wrapper_takes_are_all_that_it_refuses_beside_another() -> None:
    taken = Case({"rows": 8, "cols": 4096}, "float16")
    cases = called_cases(ROWS, axes_of(ROWS, (128,)), audit_cases(ROWS, (128,)), taken)
    by_name = {one.what: one.case for one in cases}
    assert by_name["a case that it takes"] == taken
    assert by_name["fill nan"] == replace(taken, fill="nan")
    assert by_name["layout transposed"].sizes == taken.sizes
    assert by_name["rows=127"].sizes == {"rows": 127, "cols": 4096}


def test_an_autotuner_is_missing_until_its_configs_have_come_round() -> None:
    entries = (Planned((CALL, configs_trial(COMPARED.case)), ()), Ended(CALL.trial, COMPARED))
    found = coverage(*entries, SPENT)
    assert found.missing == (Missed("correctness", "every config of the autotuner", "the time was spent"),)
    first = config_trial(1, COMPARED.case)
    assert coverage(*entries, Ended(first.trial, COMPARED), Planned((CALL, first), ()), SPENT).is_complete


def test_hardships_do_not_apply_where_no_tensor_holds_their_numbers() -> None:
    integers = Subject(abs, inputs=[Tensor("n", dtype="int32")])
    ((suite, why),) = inapplicable(integers)
    assert (suite, why) == ("stability", "no tensor holds floating-point numbers")
    assert not of("stability", trials(integers, 128))
    assert not inapplicable(ROWS)
    planned = Planned((CALL,), (), inapplicable=inapplicable(integers))
    found = coverage_of([(Record((planned, Ended(CALL.trial, COMPARED), SPENT)), [Suite.STABILITY])], "interrupted")
    assert found.is_complete
    assert found.shown == "1 of 1 core trials, stability does not apply, 1 of 1 cases"
    assert core_outcome("it", outcomes(Status.PASS), found).reason == f"stability does not apply: {why}"


OTHER = Trial("call", "dim_64=7 float32")
ELSEWHERE = CaseOutcome(
    Case({"dim_64": 7}),
    frozenset((Symptom.WRONG_RESULT, Symptom.OUT_OF_BOUNDS)),
    unsettled=frozenset((Symptom.WRONG_RESULT, Symptom.OUT_OF_BOUNDS)),
)


def test_what_was_seen_at_other_sizes_alone_has_to_be_tried_as_given() -> None:
    given = Trial("call", "float32")
    what = "float32 at the sizes given"
    before = coverage(Planned((CALL,), ()), Ended(CALL.trial, COMPARED), Ended(OTHER, ELSEWHERE), SPENT)
    assert before.missing == tuple(Missed(suite, what, "the time was spent") for suite in ("memory", "correctness"))
    assert (before.tried, before.core) == (1, 3)
    slow = CaseOutcome(Case(), frozenset(), unchecked=tuple((one, "it is slow") for one in ELSEWHERE.unsettled))
    refused = replace(slow, is_refused=True)
    for outcome, is_complete in ((slow, False), (refused, False), (replace(ELSEWHERE, case=Case()), True)):
        ended = (
            Ended(CALL.trial, COMPARED),
            Ended(OTHER, ELSEWHERE),
            Ended(given, replace(outcome, unsettled=frozenset())),
        )
        found = coverage(Planned((CALL,), ()), *ended, SPENT)
        assert found.is_complete == is_complete
        assert {missed.why for missed in found.missing} == (set() if is_complete else {"it is slow"})


def test_hardships_are_moot_where_ordinary_inputs_fail() -> None:
    wrong = Sighting(Symptom.WRONG_RESULT, KernelRef("kernels.py", "kernel", 1), None, "off by one")
    failed = replace(COMPARED, sightings=(wrong,))
    found = coverage(Planned((CALL, TIES), ()), Ended(CALL.trial, failed), SPENT)
    assert found.missing == (Missed("stability", "ties", "not tried, since ordinary inputs fail", is_moot=True),)
    assert found.is_complete


# the verdict


def outcomes(*statuses: Status, check: str = "wrong result") -> list[Outcome]:
    return [Outcome(check, "it", status) for status in statuses]


SHORT = Coverage(2, 1, (Missed("memory", "n=63", "the time was spent"),))


@pytest.mark.parametrize(
    ("statuses", "covered", "verdict"),
    [
        ((Status.PASS,), Coverage(), Verdict.PASS),
        ((Status.PASS, Status.WARN), Coverage(), Verdict.WARN),
        ((Status.PASS,), SHORT, Verdict.INCOMPLETE),
        ((Status.PASS, Status.WARN), SHORT, Verdict.INCOMPLETE),
        ((Status.INCONCLUSIVE,), Coverage(), Verdict.INCOMPLETE),
        ((Status.FAIL,), SHORT, Verdict.FAIL),
    ],
)
def test_a_pass_needs_the_core(statuses: tuple[Status, ...], covered: Coverage, verdict: Verdict) -> None:
    assert verdict_of(outcomes(*statuses), covered) is verdict


def test_a_second_opinion_makes_no_verdict() -> None:
    assert verdict_of(outcomes(Status.INCONCLUSIVE, check=CROSS_CHECK), Coverage()) is Verdict.PASS


def test_what_is_missing_is_an_outcome_of_its_own() -> None:
    assert core_outcome("it", outcomes(Status.PASS), SHORT) == Outcome(
        CORE, "it", Status.INCOMPLETE, "1 of 2 core trials, 0 of 0 cases", "memory: n=63: the time was spent"
    )
    assert core_outcome("it", outcomes(Status.PASS), Coverage(2, 2)).status is Status.PASS


# verdicts at any budget

SCRATCH = """
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2 + 1


class ModelNew(torch.nn.Module):
    def forward(self, x):
        scratch = torch.empty_like(x)
        copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, scratch, x.numel(), BLOCK=1024)
        return torch.relu(x) * 2 + 1


def get_inputs():
    return [torch.randn(ROWS, 4096)]
"""
KERNELS = ROOT / "fixtures" / "kernels" / "softmax"
MOST_CASES = 8  # of the many beyond the core
GIVEN = ROOT / "tests" / "suites" / "subjects" / "given"


def run_of(path: Path, seconds: float) -> SubjectRun:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    request = RunRequest(seconds, 1, device=Where.CPU, most_cases=MOST_CASES)
    (run,) = run_paths([path], Config(path.parent), request).runs
    return run


@pytest.fixture(params=[1.0, pytest.param(60.0, marks=pytest.mark.slow)], ids=["1s", "60s"])
def seconds(request: pytest.FixtureRequest) -> float:
    return float(request.param)


def test_a_pair_that_launches_into_a_scratch_tensor_fails(tmp_path: Path, seconds: float) -> None:
    pair = tmp_path / "pair.py"
    pair.write_text(SCRATCH.replace("ROWS", "8" if seconds > 1 else "256"))
    run = run_of(pair, seconds)
    assert run.verdict is Verdict.FAIL
    assert {one.check for one in run.outcomes if one.status is Status.FAIL} == {Symptom.TORCH_WORK.value}


def test_a_softmax_that_overflows_fails(seconds: float) -> None:
    run = run_of(KERNELS / "v2_tiling.py", seconds)
    assert run.verdict is Verdict.FAIL
    assert run.coverage.is_complete


def test_its_repaired_sibling_passes_with_all_of_its_core(seconds: float) -> None:
    run = run_of(KERNELS / "v3_coalesced.py", seconds)
    assert run.verdict is Verdict.PASS
    assert run.coverage.tried == run.coverage.core > 40


def test_a_pair_that_turns_nan_into_zero_fails(seconds: float) -> None:
    run = run_of(GIVEN / "nan_dropped.py", seconds)
    assert run.verdict is Verdict.FAIL
    assert run.coverage.is_complete


def test_a_right_pair_of_a_million_elements_passes_with_all_of_its_core(tmp_path: Path, seconds: float) -> None:
    pair = tmp_path / "pair.py"
    pair.write_text(WRONG.replace("ROWS", "1100").replace("2.01", "2.0"))
    run = run_of(pair, seconds)
    assert run.verdict is Verdict.PASS
    assert run.coverage.tried == run.coverage.core > 40


PICKY = """
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


def twice(x):
    n = x.numel()
    assert n % MULTIPLE == 0 and n, "only whole blocks"
    x = x.contiguous()
    out = torch.empty_like(x)
    twice_kernel[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    return out


twice_subject = Subject(twice, reference=lambda x: 2 * x, inputs=[Tensor("n")])
"""


@pytest.mark.parametrize("multiple", [128, 4096])
def test_what_a_wrapper_refuses_is_tried_on_what_it_takes(tmp_path: Path, multiple: int) -> None:
    spec = tmp_path / "audit_twice.py"
    spec.write_text(PICKY.replace("MULTIPLE", str(multiple)))
    run = run_of(spec, 1.0)
    assert run.verdict is Verdict.PASS, run.coverage.missing
    assert 0 < run.coverage.refused < 26  # also both sides of the multiple, with which the wrapper compares
    judged = {trial.case.fill for trial in run.trials if trial.checked}
    assert {"nan", "inf", "3", "-10000"} <= judged
    assert f"{run.coverage.refused} refused by the wrapper" in run.coverage.shown


WAITING = """
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def twice_kernel(lock_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    while tl.atomic_add(lock_ptr, 0) == 0:
        pass
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


def twice(x):
    lock = torch.zeros(1, dtype=torch.int32, device=x.device)
    x = x.contiguous()
    out = torch.empty_like(x)
    twice_kernel[(triton.cdiv(x.numel(), 128),)](lock, x, out, x.numel(), BLOCK=128)
    return out


twice_subject = Subject(twice, inputs=[Tensor("n")], reference=lambda x: x * 2, dtypes=["float32"])
"""


def test_what_waits_for_ever_is_not_waited_for_in_all_of_the_core(tmp_path: Path) -> None:
    (tmp_path / "audit_twice.py").write_text(WAITING)
    run = run_of(tmp_path / "audit_twice.py", 1.0)
    assert run.verdict is Verdict.FAIL
    assert any(seen.symptom is Symptom.HANG and seen.is_certain for one in run.trials for seen in one.sightings)
    assert run.coverage.tried < run.coverage.core / 2


TUNED = """
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.autotune([triton.Config({"BLOCK": 64, "BY": 2}), triton.Config({"BLOCK": 128, "BY": 3})], key=["n"])
@triton.jit
def twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BY: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * BY, mask=at < n)


def twice(x):
    n = x.numel()
    assert n % 64 == 0 and n, "only whole blocks"
    x = x.contiguous()
    out = torch.empty_like(x)
    twice_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out


twice_subject = Subject(twice, reference=lambda x: 2 * x, inputs=[Tensor("n")])
"""


def test_configs_are_tried_where_the_wrapper_refuses_odd_sizes(tmp_path: Path) -> None:
    spec = tmp_path / "audit_twice.py"
    spec.write_text(TUNED)
    run = run_of(spec, 1.0)
    assert run.verdict is Verdict.FAIL
    assert run.coverage.is_complete


WRONG = """
import torch
import triton
import triton.language as tl


@triton.jit
def twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2.01, mask=at < n)


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        twice_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(ROWS, 1024)]
"""


@pytest.mark.parametrize(
    ("rows", "verdict", "why"),
    [
        pytest.param(1100, Verdict.FAIL, "", marks=pytest.mark.slow),
        (1 << 15, Verdict.INCOMPLETE, "33,554,432 elements are too many to compare"),
    ],
)
def test_a_large_pair_that_is_wrong_at_smaller_sizes_is_tried_as_given(
    tmp_path: Path, rows: int, verdict: Verdict, why: str
) -> None:
    pair = tmp_path / "pair.py"
    pair.write_text(WRONG.replace("ROWS", str(rows)))
    run = run_of(pair, 1.0)
    assert run.verdict is verdict
    assert {missed.why for missed in run.coverage.missing if not missed.is_moot} == ({why} if why else set())


INTEGERS = "torch.randint(-9, 9, (32, 100), dtype=torch.int32)"
OTHERS_EACH_TIME = "torch.from_numpy(__import__('numpy').random.default_rng().random((32, 100), dtype='float32'))"


@pytest.mark.parametrize(
    ("inputs", "verdict", "missing"),
    [
        (INTEGERS, Verdict.PASS, ()),
        pytest.param(
            OTHERS_EACH_TIME,
            Verdict.INCOMPLETE,
            (Missed("correctness", "other orders of programs", "its inputs differ each time they are made"),),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_inputs_are_tried_as_far_as_they_go(
    tmp_path: Path, inputs: str, verdict: Verdict, missing: tuple[Missed, ...]
) -> None:
    pair = tmp_path / "pair.py"
    pair.write_text(WRONG.replace("2.01", "2").replace("torch.randn(ROWS, 1024)", inputs))
    run = run_of(pair, 1.0)
    assert (run.verdict, run.coverage.missing) == (verdict, missing)
