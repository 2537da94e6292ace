"""Cases that nobody can foresee: other ones for each seed, and the same again for the same."""

from __future__ import annotations

from itertools import islice

from tritonaudit.subject.model import Case, Subject, Tensor
from tritonaudit.suites.axes import axes_of
from tritonaudit.suites.cases import audit_cases
from tritonaudit.suites.core import called_cases
from tritonaudit.suites.fresh import fresh_cases


def nothing() -> None:
    """In the place of a wrapper."""


ROWS = Subject(nothing, inputs=[Tensor("rows", "cols")])


def fresh(of: Subject, seed: int, number: int = 40) -> list[Case]:
    return list(islice(fresh_cases(of, axes_of(of, (128,)), Case({"rows": 128, "cols": 128}), seed), number))


def test_the_first_is_the_ordinary_one_with_other_numbers() -> None:
    first = fresh(ROWS, 7)[0]
    assert first.sizes == {"rows": 128, "cols": 128}
    assert first.seed >= 1 << 32


def test_each_dimension_in_turn_has_any_size() -> None:
    cases = fresh(ROWS, 7, 61)[1:]
    assert len({case["rows"] for case in cases[::3]}) > 15
    assert len({case["cols"] for case in cases[1::3]}) > 15
    assert max(case["rows"] for case in cases[::3]) > 2048
    assert max(case["rows"] for case in cases[1::3]) <= 128
    assert all(1 <= size <= 4096 for case in cases for size in case.sizes.values())


def test_then_all_have_any_up_to_the_ordinary_one() -> None:
    inside = fresh(ROWS, 7, 61)[3::3]
    assert max(size for case in inside for size in case.sizes.values()) <= 128
    assert sum(min(case["rows"], case["cols"]) > 32 for case in inside) > 5


def test_another_seed_draws_others_and_the_same_the_same() -> None:
    assert fresh(ROWS, 7) == fresh(ROWS, 7)
    assert {case.label for case in fresh(ROWS, 7)}.isdisjoint(case.label for case in fresh(ROWS, 8))


def test_sizes_that_a_subject_names_are_not_drawn() -> None:
    named = Subject(nothing, inputs=[Tensor("rows", "cols")], sizes={"rows": [128], "cols": [128, 256]})
    assert [case.sizes for case in fresh(named, 7)] == [{"rows": 128, "cols": 128}]


def test_they_belong_to_the_plan_and_to_the_core() -> None:
    plan = audit_cases(ROWS, (128,), seed=7)
    drawn = [case.label for case in plan.cases if case.seed]
    core = [one.case.label for one in called_cases(ROWS, axes_of(ROWS, (128,)), plan, seed=7) if one.case.seed]
    assert len(drawn) == 12
    assert core == drawn[:4]
    other = audit_cases(ROWS, (128,), seed=8)
    assert [case for case in plan.cases if not case.seed] == [case for case in other.cases if not case.seed]
