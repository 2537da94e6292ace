"""Which further sizes are worth timing: those that could change what rules find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.measured import kernel, of_size, row
from tritonaudit.finding import Status
from tritonaudit.measure import sentences
from tritonaudit.measure.facts import Role, Row
from tritonaudit.measure.further import could_change
from tritonaudit.subject.model import Case

ODD = Case({"n": 1023})


def small(milliseconds: float, pytorch: float | None, **said: Any) -> Row:
    """A row of little work, at a size above the odd one."""
    sizes = {"n": said.pop("n", 1 << 18)}
    return of_size(row(milliseconds, pytorch, **{"bytes": 1e6, **said}), "small", **sizes)


def test_one_that_is_far_faster_and_calm_has_nothing_left_to_show() -> None:
    assert not could_change([small(0.002, 0.008), of_size(row(1.1, 4.0), "large", n=1 << 27)], ODD)


def test_one_that_is_nearly_as_fast_as_pytorch_may_be_slower_elsewhere() -> None:
    assert could_change([small(0.002, 0.008), of_size(row(1.1, 1.4), "large", n=1 << 27)], ODD)


def test_one_that_is_slower_has_shown_that() -> None:
    slower = of_size(row(2.0, 1.0), "large", n=1 << 27)
    assert sentences.slower(kernel(slower), Role.PYTORCH)
    assert not could_change([small(0.002, 0.008), slower], ODD)


def test_without_a_reference_it_cannot_be_slower_than_that() -> None:
    assert not could_change([small(0.002, None)], ODD)


def test_times_that_spread_may_be_unstable_elsewhere_unless_they_are_here() -> None:
    assert could_change([small(0.009, None, spread=0.08)], ODD)
    assert not could_change([small(0.009, None, spread=0.3)], ODD)
    assert not could_change([small(0.002, None, spread=0.08)], ODD)


@pytest.mark.parametrize(("milliseconds", "is_open"), [(0.009, False), (0.011, True)])
def test_what_takes_long_at_a_larger_size_may_be_held_to_the_roof(milliseconds: float, is_open: bool) -> None:
    assert could_change([small(milliseconds, None), of_size(row(1.1), "large", n=1 << 27)], ODD) is is_open


def test_what_no_size_is_larger_than_may_be_much_work() -> None:
    assert could_change([small(0.002, 0.008)], Case({"n": 1 << 20}))
    assert could_change([small(0.002, 0.008)], Case({"n": 1023}, "float16"))
    assert could_change([small(0.002, 0.008)], Case({"m": 7}))


def test_where_no_time_can_be_relied_on_any_could() -> None:
    assert could_change([], ODD)
    assert could_change([replace(small(0.002, 0.008), status=Status.FAIL)], ODD)
