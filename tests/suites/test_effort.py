"""What a case will take is known by those that were tried, and how much each may take by what is left."""

from __future__ import annotations

import math

import pytest

from tritonaudit.suites.effort import Effort, longest_each

SMALL, MORE_ROWS, MORE_COLS = {"rows": 32, "cols": 32}, {"rows": 320, "cols": 32}, {"rows": 32, "cols": 320}


def test_time_grows_along_a_dimension_as_it_did() -> None:
    effort = Effort([(SMALL, 0.1), (MORE_ROWS, 0.1), (MORE_COLS, 1.0)])
    assert effort.expected({"rows": 3200, "cols": 32}) == pytest.approx(0.1)
    assert effort.expected({"rows": 32, "cols": 3200}) == pytest.approx(10.0)


def test_what_differs_in_several_dimensions_grows_along_each() -> None:
    effort = Effort([(SMALL, 0.1), ({"rows": 320, "cols": 32}, 0.2), (MORE_COLS, 1.0)])
    assert effort.expected({"rows": 320, "cols": 3200}) == pytest.approx(20.0)
    assert effort.expected({"rows": 1, "cols": 3200}) == pytest.approx(10.0)


def test_what_grows_with_the_square_of_a_size_goes_on_to() -> None:
    effort = Effort([(SMALL, 0.1), (MORE_COLS, 10.0)])
    assert effort.expected({"rows": 32, "cols": 3200}) == pytest.approx(1000.0)


def test_what_takes_as_long_whatever_the_size_has_a_part_that_does_not_grow() -> None:
    effort = Effort([({"cols": 1}, 1.0), ({"cols": 11}, 2.0)])
    assert effort.expected({"cols": 101}) == pytest.approx(11.0)


def test_with_one_case_time_grows_with_the_elements() -> None:
    assert Effort([(SMALL, 0.3)]).expected({"rows": 64, "cols": 64}) == pytest.approx(1.2)


@pytest.mark.parametrize("taken", [[(99, 0.003), (100, 0.4)], [(32, 0.003), (100, 0.013)]])
def test_what_may_be_chance_says_nothing_of_how_time_grows(taken: list[tuple[int, float]]) -> None:
    effort = Effort([({"n": size}, seconds) for size, seconds in taken])
    assert effort.expected({"n": 131}) < 1.0


def test_what_is_quick_says_nothing_of_what_is_far_larger() -> None:
    effort = Effort([(SMALL, 0.1), ({"rows": 64, "cols": 64}, 0.4)])
    assert effort.expected({"rows": 32, "cols": 320}) == pytest.approx(0.1)
    assert effort.expected({"rows": 32, "cols": 3200}) == pytest.approx(20.0)


def test_those_with_most_sizes_in_common_tell_best() -> None:
    effort = Effort([(SMALL, 0.1), ({"rows": 32, "cols": 64}, 0.3), ({"rows": 4, "cols": 400}, 0.2)])
    assert effort.expected({"rows": 32, "cols": 640}) > 3.0


def test_what_is_empty_or_a_single_element_is_a_size_like_others() -> None:
    assert Effort([({"n": 0}, 0.3)]).expected({"n": 100}) == pytest.approx(30.0)
    assert Effort([({"n": 0}, 0.003), ({"n": 1}, 0.5)]).expected({"n": 10}) >= 0.5


def test_a_quick_case_is_the_beginning_of_what_a_slow_one_goes_on_with() -> None:
    effort = Effort([({"n": 32}, 0.003), ({"n": 3200}, 1.0)])
    assert effort.expected({"n": 32000}) == pytest.approx(10.0, rel=0.2)


def test_cases_of_other_dimensions_say_nothing() -> None:
    assert Effort([({"n": 4}, 9.0)]).expected(SMALL) == 0


def test_what_is_smaller_takes_no_longer() -> None:
    assert Effort([(MORE_ROWS, 9.0)]).expected(SMALL) == pytest.approx(9.0)


def test_a_case_that_was_tried_takes_as_long_again() -> None:
    assert Effort([(SMALL, 0.1), (MORE_ROWS, 1.0)]).expected(MORE_ROWS) == pytest.approx(1.0)


def test_where_all_end_in_time_each_may_take_what_it_does() -> None:
    assert longest_each([1.0, 2.0, 3.0], 6.0) == math.inf


def test_who_needs_less_than_its_share_leaves_the_rest_to_the_others() -> None:
    assert longest_each([9.0, 1.0, 20.0], 11.0) == pytest.approx(5.0)


def test_where_nothing_is_left_none_may_take_anything() -> None:
    assert longest_each([1.0, 2.0], -3.0) == 0
