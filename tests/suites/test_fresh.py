"""Cases that nobody can foresee: other ones for each seed, and the same again for the same."""

from __future__ import annotations

from itertools import islice

from tests.suites.test_given import subject
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


def test_each_dimension_the_last_one_first_has_a_size_that_nobody_lists() -> None:
    known = {near for e in range(14) for n in (2**e, 3 * 2**e) for near in range(n - 3, n + 4)}
    drawn = [fresh(ROWS, seed, 3)[1:] for seed in range(40)]
    for cols, rows in drawn:
        assert cols["cols"] != 128
        assert rows.sizes["cols"] <= 128
        assert not {cols.sizes["cols"], rows.sizes["rows"]} & known
        assert all(20 <= size <= 4000 and size % 8 and size % 10 for size in (cols["cols"], rows["rows"]))
    assert len({case["cols"] for case, _ in drawn}) > 30


def test_that_lies_among_the_sizes_given_for_a_wrapper_may_take_no_others() -> None:
    given = subject(333, 100)
    for seed in range(20):
        plan = audit_cases(given, (128,), seed=seed)
        core = called_cases(given, axes_of(given, (128,)), plan, seed=seed)
        sizes = [one.case.sizes for one in core if one.case.seed]
        (cols, rows) = sizes[1:3]
        assert 20 <= cols["dim_100"] < 100
        assert 20 <= rows["dim_333"] < 333
        assert len(cols) == len(rows) == 1


def test_each_dimension_in_turn_then_has_any_size() -> None:
    cases = fresh(ROWS, 7, 63)[3:]
    assert len({case["rows"] for case in cases[::3]}) > 15
    assert len({case["cols"] for case in cases[1::3]}) > 15
    assert max(case["rows"] for case in cases[::3]) > 2048
    assert max(case["rows"] for case in cases[1::3]) <= 128
    assert all(1 <= size <= 4096 for case in cases for size in case.sizes.values())


def test_then_all_have_any_up_to_the_ordinary_one() -> None:
    inside = fresh(ROWS, 7, 63)[5::3]
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
    assert core == drawn[:6]
    other = audit_cases(ROWS, (128,), seed=8)
    assert [case for case in plan.cases if not case.seed] == [case for case in other.cases if not case.seed]
