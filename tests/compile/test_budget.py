"""Budgets: what they say, what breaks them, and how a wrong one is answered."""

from __future__ import annotations

import pytest

from tests.compiled import access, kernel, variant
from tritonaudit.compile.budget import BudgetError, parse_budget, unchecked, violations


def broken(budget: str, *variants: object) -> list[tuple[str, str, int]]:
    found = violations(parse_budget(budget), kernel(*variants))  # type: ignore[arg-type]
    return [(each.limit.text, each.variant.target, each.value) for each in found]


def test_a_budget_is_limits_with_units_and_targets() -> None:
    spills, shared, registers = parse_budget("spills=0, shared <= 227KiB,sm_90:registers<=128").limits
    assert (spills.metric, spills.comparison, spills.number, spills.target) == ("spills", "=", 0, "")
    assert (shared.metric, shared.comparison, shared.number) == ("shared", "<=", 232_448)
    assert (registers.target, registers.text) == ("sm_90", "sm_90:registers<=128")


@pytest.mark.parametrize(("unit", "factor"), [("", 1), ("B", 1), ("KB", 1_000), ("KiB", 1_024), ("MiB", 1_048_576)])
def test_units(unit: str, factor: int) -> None:
    assert parse_budget(f"shared<=2{unit}").limits[0].number == 2 * factor


@pytest.mark.parametrize(("comparison", "held"), [("=", {8}), ("<", {7}), ("<=", {7, 8}), (">", {9}), (">=", {8, 9})])
def test_comparisons(comparison: str, held: set[int]) -> None:
    (limit,) = parse_budget(f"registers{comparison}8").limits
    assert {number for number in (7, 8, 9) if limit.holds(number)} == held


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", 1, "a limit is missing"),
        ("spills=0,", 10, "a limit is missing"),
        ("spills=0, registres<=1", 11, "did you mean 'registers'?"),
        ("sm_90:regs<=1", 7, "there is no metric 'regs'"),
        ("spills=0,sm_9O:registers<=1", 10, "there is no target 'sm_9O'; did you mean 'sm_90'?"),
        ("time<=1", 1, "choose from registers, spills"),
        ("registers", 10, "'registers' is not compared with a number; write one of <= >= = < >"),
        ("registers==1", 10, "'==' is not a comparison"),
        ("registers<=", 12, "'' is not a whole number; write registers<=128"),
        ("spills=-1", 8, "'-1' is not a whole number"),
        ("shared<=1.5KiB", 9, "'1.5KiB' is not a whole number"),
        ("registers<=1KiB", 13, "'registers' has no unit; leave 'KiB' out"),
        ("registers<=1e3", 12, "'1e3' is not a whole number"),
        ("shared<=1kb", 10, "there is no unit 'kb'; did you mean 'KB'? Write one of B KB KiB MiB"),
        ("shared<=1pages", 10, "there is no unit 'pages'; write one of B KB KiB MiB"),
    ],
)
def test_a_wrong_budget_is_answered_with_the_place_and_the_remedy(text: str, position: int, words: str) -> None:
    with pytest.raises(BudgetError) as caught:
        parse_budget(text)
    assert str(caught.value).startswith(f"character {position}: ")
    assert words in str(caught.value)


def test_spills_are_stores_and_loads() -> None:
    assert broken("spills=0", variant(spill_stores=296, spill_loads=352)) == [("spills=0", "sm_90", 648)]
    assert broken("spills=0", variant()) == []


def test_a_limit_of_one_target_leaves_the_others_alone() -> None:
    variants = variant("sm_80", registers=190), variant("sm_90", registers=167)
    assert broken("sm_80:registers<=128", *variants) == [("sm_80:registers<=128", "sm_80", 190)]
    assert len(broken("registers<=128", *variants)) == 2


def test_the_narrowest_access_counts_and_a_bulk_copy_has_no_width() -> None:
    narrow = variant(accesses=(access(8, (16, 1)), access(9, (8, 2), (2, 4))))
    assert broken("width>=4", narrow) == [("width>=4", "sm_90", 2)]
    assert broken("width>=4", variant(accesses=(access(8, (0, 1)),))) == []


def test_what_is_unknown_breaks_nothing_and_is_not_kept_quiet() -> None:
    budget = parse_budget("accumulators<=256,gfx942:registers<=128,registers<=255")
    one = kernel(variant())
    assert violations(budget, one) == ()
    assert [limit.text for limit in unchecked(budget, one)] == ["accumulators<=256", "gfx942:registers<=128"]


def test_what_does_not_compile_breaks_no_budget() -> None:
    from tritonaudit.compile.facts import CompileError

    failed = kernel(variant(error=CompileError("no")))
    assert violations(parse_budget("spills=0"), failed) == ()
