"""Pairs that are right with the inputs they are given, and what is seen when these are varied."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest

from tests.checkout import ROOT
from tritonaudit.capture.launch import KernelRef
from tritonaudit.config import Config
from tritonaudit.finding import Status
from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.suites.axes import axes_of
from tritonaudit.suites.cases import audit_cases, simpler
from tritonaudit.suites.coverage import Verdict
from tritonaudit.suites.facts import Seen, Symptom
from tritonaudit.suites.given_too import BETWEEN, ELSEWHERE, OTHERWISE, GivenToo, unsettled
from tritonaudit.suites.journal import Trial
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.stability import HARDSHIPS, stability_cases

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

SUBJECTS = ROOT / "tests" / "suites" / "subjects" / "given"
CASES = 16


def nothing(*_: Any) -> None:
    """A wrapper."""


def subject(*shape: int, **more: Any) -> Subject:
    return Subject(nothing, inputs=lambda case: torch.randn(shape), **more)


def labels(of: Subject, *blocks: int, **more: Any) -> list[str]:
    return [case.label for case in audit_cases(of, blocks, **more).cases]


# -- plans ---------------------------------------------------------------------------------------------------------


def test_inputs_come_as_given_and_then_varied_in_one_thing_at_a_time() -> None:
    found = labels(subject(37, 100, dtypes=["float32"]), 256)
    assert found[:9] == [
        "float32",
        "dim_100=99 float32",
        "float32 nan among given",
        "float32 transposed",
        "dim_37=515 float32",
        "dim_100=515 float32",
        "float32 zeros",
        "float32 offset",
        "dim_37=257 float32",
    ]
    assert any(label.startswith("float32 seed=") for label in found)
    assert len(set(found)) == len(found)


def test_large_inputs_are_varied_at_sizes_with_the_same_remainders() -> None:
    found = audit_cases(subject(1024, 1000), (256,)).cases
    assert found[0].label == "float32"
    usual = next(case for case in found if case.fill == "ties" and case.layout is Layout.CONTIGUOUS)
    assert (usual["dim_1024"] % 128, usual["dim_1000"] % 128) == (0, 1000 % 128)
    assert usual["dim_1024"] * usual["dim_1000"] < 1 << 16
    assert {"float32 nan among given", "float32 transposed"} <= {case.label for case in found}
    assert any(case.seed and not case.sizes for case in found)


def test_what_is_too_large_for_the_engine_comes_after_smaller_tensors() -> None:
    large = subject(2048, 2048)
    assert labels(large, 256)[0] == "float32"
    on_engine = labels(large, 256, on_engine=True)
    assert on_engine[0] == "dim_2048=128 float32"
    assert "float32" in on_engine


def test_what_cannot_be_compared_is_left_out() -> None:
    plan = audit_cases(Subject(nothing, inputs=lambda case: torch.rand(1 << 18, 1 << 18)), (256,))
    assert "float32" not in [case.label for case in plan.cases]
    assert {str(one.value): one.reason for one in plan.left_out}["sizes as given"].startswith("68,719,476,736 elements")


def test_sizes_of_weights_are_not_varied_and_why_is_said() -> None:
    plan = audit_cases(weighty(), (256,))
    assert not any("dim_16384" in case.sizes for case in plan.cases)
    reasons = {str(one.value): one.reason for one in plan.left_out}
    assert reasons["dim_16384 other sizes"] == "16384 is a dimension of the reference's weights"


def weighty() -> Subject:
    from tritonaudit.subject.kernelbench import pair_subject

    module = ModuleType("pair")
    module.Model = module.ModelNew = torch.nn.Linear
    module.get_inputs = lambda: [torch.rand(8, 16384)]
    module.get_init_inputs = lambda: [16384, 64]
    return pair_subject(module, module, "weighty")


def test_hardships_are_those_within_what_is_given() -> None:
    assert {name for name, _ in stability_cases(subject(6, 10))} == {one.name for one in HARDSHIPS}
    unit = Subject(nothing, inputs=lambda case: torch.rand(6, 10))
    assert {name for name, _ in stability_cases(unit)} == {"small products", "rows of zeros"}
    assert all(case.sizes == {} for _, case in stability_cases(unit))


def test_a_case_at_other_sizes_is_made_simpler_by_smaller_ones() -> None:
    case = Case({"dim_37": 515}, fill="ties")
    found = [one.label for one in simpler(subject(37, 100), case)]
    assert found[:2] == ["dim_37=515 float32", "dim_37=1 float32 ties"]


def test_values_of_given_inputs_are_an_axis_and_sizes_as_given_are_none() -> None:
    of = subject(37, 100)
    assert axes_of(of, (256,)).fill.values[:4] == ("normal", "nan among given", "zeros", "constant")
    plan = audit_cases(of, (256,))
    assert plan.uncovered(()) == plan.values
    assert plan.uncovered(plan.cases) == ()


# -- what is certain -----------------------------------------------------------------------------------------------

KERNEL = KernelRef("pair.py", "kernel", 1)


def outcome(case: Case, *symptoms: Symptom) -> CaseOutcome:
    sightings = tuple(Sighting(symptom, KERNEL, None, "wrong") for symptom in symptoms)
    return CaseOutcome(case, frozenset(symptoms), sightings)


def settled(case: Case, as_given: Sequence[Symptom], *, may_ask: bool = True) -> tuple[Sighting, list[str]]:
    """What a wrong result in this case comes to where those symptoms are seen as given, and what was tried."""
    asked: list[str] = []

    def work(one: Case) -> CaseOutcome:
        asked.append(one.label)
        return outcome(one, *as_given)

    too = GivenToo(subject(37, 100))
    for _ in range(2):
        (found,) = too.settled(outcome(case, Symptom.WRONG_RESULT), work, may_ask=may_ask).sightings
    return found, asked


def test_what_is_seen_at_other_sizes_is_certain_where_it_is_seen_as_given_too() -> None:
    found, asked = settled(Case({"dim_37": 5}, fill="ties"), [Symptom.NEW_NON_FINITE])
    assert (found.is_certain, found.text) == (True, "wrong")
    assert asked == ["float32 ties"]


def test_else_it_is_not_and_says_so() -> None:
    for as_given in ([], [Symptom.RACE]):
        found, asked = settled(Case({"dim_37": 5}), as_given)
        assert (found.is_certain, found.text) == (False, f"wrong, {ELSEWHERE}")
        assert asked == ["float32"]
    found, asked = settled(Case({"dim_37": 5}), [Symptom.WRONG_RESULT], may_ask=False)
    assert (found.is_certain, asked) == (False, [])


def test_what_is_seen_as_given_is_certain() -> None:
    for case in (Case(), Case({"dim_37": 37}), Case(fill="ties")):
        found, asked = settled(case, [])
        assert (found.is_certain, asked) == (True, [])


def test_what_the_reference_refuses_at_other_sizes_says_nothing() -> None:
    refused = CaseOutcome(
        Case({"dim_37": 5}), frozenset(), (Sighting(Symptom.OUT_OF_BOUNDS, KERNEL, None, "beyond"),), is_refused=True
    )
    assert not GivenToo(subject(37, 100)).settled(refused, lambda case: refused, may_ask=True).sightings


def test_what_harms_no_result_in_another_layout_is_not_certain() -> None:
    case = Case(layout=Layout.OFFSET)
    too = GivenToo(subject(37, 100))
    harmless = too.settled(outcome(case, Symptom.OUT_OF_BOUNDS), outcome, may_ask=True)
    assert [(one.is_certain, one.text) for one in harmless.sightings] == [(False, f"wrong, {OTHERWISE}")]
    harmful = too.settled(outcome(case, Symptom.OUT_OF_BOUNDS, Symptom.WRONG_RESULT), outcome, may_ask=True)
    assert all(one.is_certain for one in harmful.sightings)


def test_what_nobody_looked_for_as_given_is_unsettled() -> None:
    other, as_given = Case({"dim_37": 5}), Trial("call", "float32")
    found = GivenToo(subject(37, 100)).settled(outcome(other, Symptom.WRONG_RESULT), outcome, may_ask=False)
    assert found.unsettled == {Symptom.WRONG_RESULT}
    (one,) = unsettled({Trial("call", other.label): found})
    assert (one.trial, one.case, one.symptoms) == (as_given, Case(), {Symptom.WRONG_RESULT})
    seen_there = outcome(Case(), Symptom.NEW_NON_FINITE)
    assert not unsettled({Trial("call", other.label): found, as_given: seen_there})


@pytest.mark.parametrize(
    ("as_given", "is_settled"),
    [
        (CaseOutcome(Case(), frozenset((Symptom.WRONG_RESULT,))), True),
        (outcome(Case(), Symptom.CRASH), False),
        (CaseOutcome(Case(), frozenset(), is_refused=True), False),
    ],
)
def test_it_is_settled_by_what_looked_for_it(as_given: CaseOutcome, is_settled: bool) -> None:
    seen = outcome(Case({"dim_37": 5}), Symptom.WRONG_RESULT)
    found = GivenToo(subject(37, 100)).settled(seen, lambda _: as_given, may_ask=True)
    assert (not found.unsettled) == is_settled


def test_what_is_harmless_in_its_layout_is_settled() -> None:
    seen = outcome(Case({"dim_37": 5}, layout=Layout.OFFSET), Symptom.OUT_OF_BOUNDS)
    assert not GivenToo(subject(37, 100)).settled(seen, outcome, may_ask=False).unsettled


# -- pairs, executed -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs() -> dict[str, Any]:
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    paths = sorted(SUBJECTS.glob("*.py"))
    request = RunRequest(seconds=300, jobs=2, device=Where.CPU, most_cases=CASES)
    ran = run_paths(paths, Config(ROOT), request)
    assert not ran.audit.problems
    return {run.path.stem: run for run in ran.runs}


def seen(run: Any) -> list[Seen]:
    return [seen for kernel in run.kernels for seen in kernel.seen]


def status(run: Any, symptom: Symptom) -> Status:
    return next(outcome.status for outcome in run.outcomes if outcome.check == symptom.value)


@pytest.mark.slow
def test_nan_that_becomes_zero_is_found_among_given_values(runs: dict[str, Any]) -> None:
    (wrong,) = [one for one in seen(runs["nan_dropped"]) if one.symptom is Symptom.WRONG_RESULT]
    assert wrong.is_certain
    assert wrong.witness is not None
    assert "t.Case({}, fill='nan among given')" in wrong.witness.command
    assert status(runs["nan_dropped"], Symptom.WRONG_RESULT) is Status.FAIL


@pytest.mark.slow
def test_its_healthy_twin_passes(runs: dict[str, Any]) -> None:
    assert not seen(runs["nan_kept"])
    assert status(runs["nan_kept"], Symptom.WRONG_RESULT) is Status.PASS


@pytest.mark.slow
def test_strides_that_are_ignored_are_found(runs: dict[str, Any]) -> None:
    (wrong,) = [one for one in seen(runs["strides_ignored"]) if one.symptom is Symptom.WRONG_RESULT]
    assert wrong.is_certain
    assert "float32 transposed" in wrong.cases


@pytest.mark.slow
def test_a_pair_that_hard_codes_its_size_is_not_accused_with_certainty(runs: dict[str, Any]) -> None:
    found = seen(runs["size_hard_coded"])
    assert found
    assert not any(one.is_certain for one in found)
    assert all(one.text.endswith(ELSEWHERE) for one in found)
    assert Status.FAIL not in {outcome.status for outcome in runs["size_hard_coded"].outcomes}


@pytest.mark.slow
def test_a_pair_that_is_wrong_in_the_midst_of_sizes_at_which_it_is_right_is_wrong(runs: dict[str, Any]) -> None:
    (wrong,) = [one for one in seen(runs["sizes_chosen"]) if one.symptom is Symptom.WRONG_RESULT]
    assert wrong.is_certain
    assert wrong.text.endswith(BETWEEN)


@pytest.mark.slow
def test_what_is_wrong_at_any_size_is_certain_though_seen_at_smaller_ones(runs: dict[str, Any]) -> None:
    (wrong,) = [one for one in seen(runs["large_nan_dropped"]) if one.symptom is Symptom.WRONG_RESULT]
    assert wrong.is_certain
    assert any("dim_" in case for case in wrong.cases)


@pytest.mark.slow
def test_parameters_that_are_taken_for_granted_are_others_in_a_case(runs: dict[str, Any]) -> None:
    (wrong,) = [one for one in seen(runs["affine_skipped"]) if one.symptom is Symptom.WRONG_RESULT]
    assert wrong.is_certain
    assert all("other parameters" in case for case in wrong.cases)
    assert wrong.witness is not None
    assert re.search(r"t\.Case\(\{.*\}, parameters='[0-9a-f]{9,}'\)", wrong.witness.command)


@pytest.mark.slow
def test_a_matrix_that_is_orthogonal_only_when_it_is_new_is_another_in_a_case(runs: dict[str, Any]) -> None:
    (wrong,) = [one for one in seen(runs["transposed_for_inverse"]) if one.symptom is Symptom.WRONG_RESULT]
    assert wrong.is_certain
    assert all("other parameters" in case for case in wrong.cases)
    assert wrong.witness is not None
    assert re.search(r"t\.Case\(\{.*\}, parameters='\*[0-9a-f]{9,}'\)", wrong.witness.command)


@pytest.mark.slow
def test_whatever_a_model_calls_its_parameters_the_same_ones_are_drawn(runs: dict[str, Any]) -> None:
    run = runs["affine_renamed"]
    assert not seen(run)
    drawn = [trial for trial in run.trials if trial.case.parameters]
    assert drawn
    assert all(Symptom.WRONG_RESULT in trial.checked for trial in drawn)


@pytest.mark.slow
def test_none_are_drawn_for_a_model_that_has_other_ones(runs: dict[str, Any]) -> None:
    run = runs["affine_stacked"]
    assert not seen(run)
    (left,) = [trial for trial in run.trials if trial.case.parameters]
    assert left.is_refused
    assert "other constant parameters than the reference" in dict(left.unchecked)[Symptom.WRONG_RESULT]


@pytest.mark.slow
def test_a_model_without_them_is_not_known_to_be_right(runs: dict[str, Any]) -> None:
    run = runs["affine_left_out"]
    assert run.verdict is Verdict.INCOMPLETE
    assert any("fewer parameters" in missed.why for missed in run.coverage.missing)


@pytest.mark.slow
def test_reproducing_tells_the_same_again(capsys: pytest.CaptureFixture[str]) -> None:
    from tritonaudit.suites.reproduce import reproduce

    path = str(SUBJECTS / "nan_dropped.py")
    assert reproduce(path, "nan_dropped", Case({"dim_100": 7}, fill="nan among given"))
    assert "0, wanted nan" in capsys.readouterr().out
    assert not reproduce(path, "nan_dropped", Case({"dim_100": 7}, fill="ties"))


@pytest.mark.slow
def test_a_pair_that_cannot_do_other_sizes_and_layouts_refuses_these(runs: dict[str, Any]) -> None:
    run = runs["views_only"]
    assert not seen(run)
    assert status(run, Symptom.WRONG_RESULT) is Status.PASS
    refused = {trial.case.label for trial in run.trials if trial.is_refused}
    assert "float32 transposed" in refused
    assert any("dim_128=" in label for label in refused)
