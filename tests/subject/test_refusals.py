"""Which other sizes a reference takes, without asking about each where that takes long."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

torch = pytest.importorskip("torch")

from tests.subject.test_given import given_of, pair  # noqa: E402


class Recurrence(torch.nn.Module):
    """Walks along the steps, which are the second dimension, and notes the sizes that it is called with."""

    asked: ClassVar[list[tuple[int, ...]]] = []
    divisor = 1

    def forward(self, x: Any) -> Any:
        self.asked.append(tuple(x.shape))
        if x.shape[0] % self.divisor:
            raise ValueError("rows come in groups")
        state = torch.zeros_like(x[:, 0])
        for step in x.unbind(1):
            state = 0.5 * state + step
        return state


@pytest.fixture
def asked() -> list[tuple[int, ...]]:
    Recurrence.asked.clear()
    Recurrence.divisor = 1
    return Recurrence.asked


def test_between_two_sizes_that_follow_each_other_and_others_nobody_is_asked(asked: list[tuple[int, ...]]) -> None:
    given = given_of(pair(Recurrence, lambda: [torch.randn(24, 90)]))
    assert not given.why_not({"dim_90": 89})
    before = len(asked)
    assert not any(given.why_not({"dim_90": size}) for size in range(46, 89))
    assert not given.why_not({"dim_24": 12, "dim_90": 60})
    assert len(asked) == before
    assert not given.why_not({"dim_90": 120})
    assert len(asked) == before + 1


def test_what_would_call_torch_far_more_often_is_not_asked(asked: list[tuple[int, ...]]) -> None:
    given = given_of(pair(Recurrence, lambda: [torch.randn(24, 90)]))
    before = len(asked)
    assert given.why_not({"dim_90": 5000}).startswith("the reference would call torch about 10,")
    assert len(asked) == before


def test_other_dimensions_of_a_long_loop_may_have_other_sizes(asked: list[tuple[int, ...]]) -> None:
    given = given_of(pair(Recurrence, lambda: [torch.randn(24, 1800)]))
    assert given.sizes == {"dim_24": 24, "dim_1800": 1800}
    assert not given.why_not({"dim_24": 40})
    assert not given.why_not({"dim_1800": 1})
    assert given.why_not({"dim_1800": 4000})


def test_sizes_of_which_only_some_are_taken_are_each_asked_about(asked: list[tuple[int, ...]]) -> None:
    Recurrence.divisor = 4
    given = given_of(pair(Recurrence, lambda: [torch.randn(24, 90)]))
    assert [size for size in range(8, 24) if not given.why_not({"dim_24": size})] == [8, 12, 16, 20]
