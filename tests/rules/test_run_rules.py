"""How the rules of the run stage judge what was seen."""

from __future__ import annotations

from typing import Any

import pytest

from tritonaudit.finding import Confidence, Severity, Span, Stage, Witness
from tritonaudit.rule import Hit
from tritonaudit.rules import all_rules, find_rule
from tritonaudit.suites.facts import MASKED_ALONE, NEAR_THE_LARGEST, RunKernel, Seen, Symptom

LOAD, STORE = Span(9, 9, 9, 30), Span(12, 5, 12, 40)
OF_NO_CASE = (Symptom.PATCHED,)  # it shows when the subject's file is imported
CASES = ("n=1000 float32", "n=1 float32", "n=4096 float16")


def seen(symptom: Symptom, *cases: str, **said: Any) -> Seen:
    usual: dict[str, Any] = {"span": STORE, "text": "what was seen", "cases": cases or CASES[:1]}
    return Seen(symptom, **usual | said)


def run(*found: Seen) -> RunKernel:
    return RunKernel("kernels/softmax.py", "softmax_kernel", Span(6, 5, 6, 19), "softmax", 41, found)


def hits(code: str, *found: Seen) -> list[Hit]:
    rule = find_rule(code)
    assert rule is not None
    return list(rule().check(run(*found)))


def judged(code: str, *found: Seen) -> tuple[Severity, Confidence]:
    rule, (hit,) = find_rule(code), hits(code, *found)
    assert rule is not None
    return hit.severity or rule.severity, hit.confidence or rule.confidence


def rules_of(symptom: Symptom) -> list[str]:
    reading = [rule for rule in all_rules() if rule.stage() is Stage.RUN]
    return [rule.code for rule in reading if symptom in getattr(rule, "symptoms", ())]


@pytest.mark.parametrize("symptom", Symptom, ids=lambda symptom: symptom.name)
def test_each_symptom_has_one_rule(symptom: Symptom) -> None:
    (code,) = rules_of(symptom)
    (hit,) = hits(code, seen(symptom))
    assert hit.where == STORE


@pytest.mark.parametrize("symptom", Symptom, ids=lambda symptom: symptom.name)
def test_a_finding_names_the_kernel_the_cases_and_what_was_seen(symptom: Symptom) -> None:
    (code,) = rules_of(symptom)
    witness = Witness("n=3 float32", "python -c …")
    (hit,) = hits(code, seen(symptom, *CASES, witness=witness))
    assert "`softmax_kernel`" in hit.message
    assert symptom in OF_NO_CASE or "in 3 of 41 cases, such as n=3 float32" in hit.message
    assert hit.message.endswith("what was seen")
    assert hit.remedy
    assert hit.witness == witness


@pytest.mark.parametrize("symptom", Symptom, ids=lambda symptom: symptom.name)
def test_what_may_be_harmless_is_no_error(symptom: Symptom) -> None:
    (code,) = rules_of(symptom)
    severity, confidence = judged(code, seen(symptom, is_certain=False))
    assert severity is not Severity.ERROR
    assert confidence is not Confidence.HIGH


def test_what_is_wrong_by_rounding_or_by_another_order_of_atomics_is_pedantic() -> None:
    for code, symptom in (("TAC401", Symptom.WRONG_RESULT), ("TAC403", Symptom.NONDETERMINISTIC)):
        assert judged(code, seen(symptom)) == (Severity.ERROR, Confidence.HIGH)
        assert judged(code, seen(symptom, is_certain=False)) == (Severity.WARNING, Confidence.LOW)


def test_a_crash_on_empty_tensors_alone_is_a_warning() -> None:
    assert judged("TAC407", seen(Symptom.CRASH)) == (Severity.ERROR, Confidence.HIGH)
    assert judged("TAC407", seen(Symptom.CRASH, is_certain=False)) == (Severity.WARNING, Confidence.MEDIUM)


def test_what_few_callers_inputs_show_is_a_warning_and_other_doubts_are_pedantic() -> None:
    for where in (MASKED_ALONE, NEAR_THE_LARGEST):
        seldom = seen(Symptom.UNSTABLE, is_certain=False, text=f"output: nan, wanted 1, {where}")
        assert judged("TAN401", seldom) == (Severity.WARNING, Confidence.MEDIUM)
    assert judged("TAN401", seen(Symptom.UNSTABLE, is_certain=False)) == (Severity.WARNING, Confidence.LOW)


def test_lanes_that_every_gpu_fills_with_zeros_are_a_warning() -> None:
    assert judged("TAM404", seen(Symptom.UNDEFINED_LANE, is_certain=False)) == (Severity.WARNING, Confidence.MEDIUM)


def test_programs_that_write_the_same_are_information() -> None:
    assert judged("TAM402", seen(Symptom.RACE, is_certain=False)) == (Severity.INFO, Confidence.MEDIUM)


RESULTS = [
    ("TAC401", Symptom.WRONG_RESULT),
    ("TAC402", Symptom.NEW_NON_FINITE),
    ("TAC404", Symptom.WRONG_AT_BOUNDARY),
    ("TAN401", Symptom.UNSTABLE),
]


@pytest.mark.parametrize(("code", "symptom"), RESULTS)
@pytest.mark.parametrize(
    "cause", [Symptom.NOT_WRITTEN, Symptom.UNINITIALISED, Symptom.RACE, Symptom.COLLIDING_LANES, Symptom.HANG]
)
def test_a_result_is_not_reported_besides_what_makes_it_wrong_where_it_is_stored(
    code: str, symptom: Symptom, cause: Symptom
) -> None:
    wrong = seen(symptom, *CASES[:2])
    assert hits(code, wrong, seen(cause, *CASES)) == []
    assert hits(code, wrong, seen(cause, *CASES[:1]))
    assert hits(code, wrong, seen(cause, *CASES, is_certain=False))


@pytest.mark.parametrize(("code", "symptom"), RESULTS)
def test_what_goes_wrong_elsewhere_in_the_kernel_is_another_fact(code: str, symptom: Symptom) -> None:
    assert hits(code, seen(symptom), seen(Symptom.OUT_OF_BOUNDS, span=LOAD))
    assert hits(code, seen(symptom), seen(Symptom.UNINITIALISED, span=LOAD))


def test_a_place_is_wrong_at_the_boundary_or_everywhere() -> None:
    boundary, all_over = seen(Symptom.WRONG_AT_BOUNDARY, *CASES[:2]), seen(Symptom.WRONG_RESULT, CASES[2])
    assert (len(hits("TAC404", boundary, all_over)), len(hits("TAC401", boundary, all_over))) == (1, 0)
    boundary, all_over = seen(Symptom.WRONG_AT_BOUNDARY, CASES[0]), seen(Symptom.WRONG_RESULT, *CASES[1:])
    assert (len(hits("TAC404", boundary, all_over)), len(hits("TAC401", boundary, all_over))) == (0, 1)


def test_what_is_sure_decides_what_a_place_is() -> None:
    boundary, sure = seen(Symptom.WRONG_AT_BOUNDARY, *CASES, is_certain=False), seen(Symptom.WRONG_RESULT)
    assert (len(hits("TAC404", boundary, sure)), len(hits("TAC401", boundary, sure))) == (0, 1)


def test_two_places_are_judged_apart() -> None:
    boundary, elsewhere = seen(Symptom.WRONG_AT_BOUNDARY, *CASES), seen(Symptom.WRONG_RESULT, span=LOAD)
    assert len(hits("TAC404", boundary, elsewhere)) == len(hits("TAC401", boundary, elsewhere)) == 1


def test_a_result_that_is_wrong_for_nan_alone_has_a_remedy_of_its_own() -> None:
    (nan,) = hits("TAC401", seen(Symptom.WRONG_RESULT, "n=1000 float32 nan"))
    (more,) = hits("TAC401", seen(Symptom.WRONG_RESULT, "n=1000 float32 nan", "n=1000 float32"))
    assert nan.remedy is not None
    assert "propagate_nan" in nan.remedy
    assert nan.remedy != more.remedy


@pytest.mark.parametrize("cause", [Symptom.RACE, Symptom.UNINITIALISED])
def test_a_race_anywhere_explains_results_that_differ(cause: Symptom) -> None:
    assert hits("TAC403", seen(Symptom.NONDETERMINISTIC), seen(cause, span=LOAD)) == []
    assert hits("TAC403", seen(Symptom.NONDETERMINISTIC), seen(cause, span=LOAD, is_certain=False))


def test_an_overflow_explains_where_the_access_goes() -> None:
    outside = seen(Symptom.OUT_OF_BOUNDS, span=LOAD)
    assert hits("TAM401", outside, seen(Symptom.OVERFLOW, *CASES, span=LOAD)) == []
    assert hits("TAM401", outside, seen(Symptom.OVERFLOW, *CASES, span=STORE))


def test_a_program_that_waits_writes_nothing() -> None:
    assert hits("TAC406", seen(Symptom.NOT_WRITTEN), seen(Symptom.HANG, *CASES, span=LOAD)) == []
    assert hits("TAC406", seen(Symptom.NOT_WRITTEN), seen(Symptom.CRASH, *CASES, span=LOAD))


def test_a_hang_and_a_crash_are_worded_apart() -> None:
    (hang,), (crash,) = hits("TAC407", seen(Symptom.HANG)), hits("TAC407", seen(Symptom.CRASH))
    assert "does not end" in hang.message
    assert "fails" in crash.message
    assert hang.remedy != crash.remedy
