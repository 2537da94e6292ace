"""For a case that does not end, or takes too long, a smaller one of the same kind stands."""

from __future__ import annotations

from dataclasses import replace

from tritonaudit.capture.launch import KernelRef
from tritonaudit.subject.model import Case, Subject, Tensor
from tritonaudit.suites.axes import axes_of
from tritonaudit.suites.core import CoreCase
from tritonaudit.suites.effort import Effort
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.late import Late, late
from tritonaudit.suites.late import unknown as nothing_known
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.smaller import Smaller

ROWS = Subject(abs, inputs=[Tensor("rows", "cols")])
LARGE, LARGER = CoreCase("cols=2051", Case({"rows": 64, "cols": 2051})), CoreCase("x", Case({"rows": 64, "cols": 3173}))
NOTHING = Effort(())
SECONDS = Effort([({"rows": 64, "cols": 64}, 0.1), ({"rows": 64, "cols": 128}, 0.2)])
COMPUTES = Late(10.0, waits=False, computes=True)


class Calls:
    """Calls of a wrapper that ends in time up to so many columns."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.made: list[int] = []

    def __call__(self, case: Case) -> CaseOutcome:
        cols = case.sizes["cols"]
        self.made.append(cols)
        if cols <= self.most:
            return CaseOutcome(case, frozenset((Symptom.WRONG_RESULT,)))
        sighting = Sighting(Symptom.HANG, KernelRef("k.py", "k", 1), None, "it does not end within 10 s")
        return late(case, (), sighting, COMPUTES, 10.0)


def smaller(subject: Subject = ROWS, *blocks: int) -> Smaller:
    return Smaller(subject, axes_of(subject, blocks), blocks)


def test_what_ends_is_itself() -> None:
    made, calls = smaller(ROWS, 1024), Calls(4096)
    assert made.tried(LARGE, calls, NOTHING) is LARGE
    assert (calls.made, made.replaced) == ([2051], [])


def test_what_does_not_end_is_as_far_beyond_blocks_instead_as_is_quick() -> None:
    made, calls = smaller(ROWS, 1024, 64), Calls(2000)
    assert made.tried(LARGE, calls, SECONDS) == CoreCase(
        "cols=2051 with cols=1027 for 2051", Case({"rows": 64, "cols": 1027})
    )
    reason = "it does not end in time: rows=64 cols=1027 float32 was tried in its place"
    assert made.replaced == [("rows=64 cols=2051 float32", reason)]


def test_of_what_nothing_is_known_the_least_stands_for_it() -> None:
    assert smaller(ROWS, 1024, 64).tried(LARGE, Calls(2000), NOTHING).case.sizes["cols"] == 64 + 3


def test_without_a_block_it_keeps_its_remainder_by_a_power_of_2() -> None:
    assert smaller().tried(LARGE, Calls(2000), NOTHING).case.sizes["cols"] == 512 + 3


def test_what_is_as_large_is_not_tried_any_more() -> None:
    made, calls = smaller(ROWS, 1024), Calls(2000)
    made.tried(LARGE, calls, NOTHING)
    assert made.tried(LARGER, calls, NOTHING).case.sizes["cols"] == 1024 + 3173 % 1024
    assert calls.made == [2051, 1027, 1125]
    assert made.replaced[1][1].startswith("rows=64 cols=2051 float32 does not end in time: ")


def test_a_smaller_one_that_does_not_end_either_stays() -> None:
    calls = Calls(100)
    assert smaller(ROWS, 1024).tried(LARGE, calls, NOTHING).case.sizes["cols"] == 1027
    assert calls.made == [2051, 1027]


def test_of_sizes_that_a_subject_names_the_largest_that_is_quick_stands_for_it() -> None:
    named = replace(ROWS, sizes={"cols": [64, 300, 2051]})
    assert smaller(named, 64).tried(LARGE, Calls(2000), SECONDS).case.sizes["cols"] == 300


def test_what_takes_too_long_is_as_large_as_its_time_allows() -> None:
    made, calls = smaller(ROWS, 64), Calls(4096)
    tried = made.tried(LARGE, calls, SECONDS, 1.0)
    assert (tried.case.sizes["cols"], calls.made) == (512 + 3, [515])
    assert made.tried(LARGER, calls, SECONDS, 0.05).case.sizes == {"rows": 16, "cols": 64 + 3173 % 64}
    reason = "it would take too long: rows=64 cols=515 float32 was tried in its place"
    assert made.replaced[0] == ("rows=64 cols=2051 float32", reason)


def test_where_none_is_within_its_time_it_is_the_smallest_that_a_subject_names() -> None:
    named = replace(ROWS, sizes={"rows": [64], "cols": [64, 300, 2051]})
    slow = Effort([({"rows": 64, "cols": 64}, 0.3), ({"rows": 64, "cols": 300}, 3.0)])
    assert smaller(named, 64).tried(LARGE, Calls(4096), slow, 0.2).case.sizes == {"rows": 64, "cols": 64}


def test_what_can_be_no_smaller_is_tried_however_long_it_takes() -> None:
    named = replace(ROWS, sizes={"rows": [64], "cols": [2051]})
    made, calls = smaller(named, 64), Calls(4096)
    assert made.tried(LARGE, calls, SECONDS, 0.01) is LARGE
    assert (calls.made, made.replaced) == ([2051], [])


def test_what_only_waits_hangs_and_is_not_late() -> None:
    sighting = Sighting(Symptom.HANG, KernelRef("k.py", "k", 1), None, "it does not end within 10 s")
    assert not late(LARGE.case, (), sighting, Late(10.0, waits=True, computes=False), 10.0).is_late
    assert not nothing_known(LARGE.case, "killed").is_late


def test_all_sizes_of_a_case_are_smaller_at_once() -> None:
    ordinary = Case({"rows": 256, "cols": 300}, "float16")
    assert smaller(ROWS, 64).throughout(ordinary) == Case({"rows": 64, "cols": 64 + 300 % 64}, "float16")
    assert smaller(ROWS, 64).throughout(Case({"rows": 1, "cols": 1})) is None
