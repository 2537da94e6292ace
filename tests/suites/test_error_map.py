"""Maps of where outputs are wrong."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from tritonaudit.suites.error_map import COLUMNS, ROWS, ErrorMap, error_map  # noqa: E402

shapes = st.lists(st.integers(1, 70), min_size=0, max_size=4).filter(lambda shape: math.prod(shape) < 5000)


def wrong_at(shape: tuple[int, ...], *places: tuple[int, ...]) -> ErrorMap:
    wrong = torch.zeros(shape, dtype=torch.bool)
    for place in places:
        wrong[place] = True
    return error_map("output", wrong)


def test_a_small_matrix_is_shown_element_by_element() -> None:
    found = wrong_at((2, 3), (0, 1), (1, 2))
    assert found.shares == ((0, 1, 0), (0, 0, 1))
    assert (found.wrong, found.elements, found.rows, found.columns) == (2, 6, 1, 1)


def test_a_tail_shows_in_the_last_tile_alone() -> None:
    found = wrong_at((64, 1000), *((row, column) for row in range(64) for column in range(992, 1000)))
    assert (found.rows, found.columns) == (4, 16)
    assert {row[:-1] for row in found.shares} == {(0.0,) * 62}
    assert {row[-1] for row in found.shares} == {1.0}


def test_other_axes_lie_from_top_to_bottom() -> None:
    found = wrong_at((2, 3, 5), (1, 2, 4))
    assert len(found.shares) == 6
    assert found.shares[5][4] == 1
    assert found.wrong == 1


def test_one_axis_is_laid_out_in_lines() -> None:
    found = wrong_at((100,), (0,), (99,))
    assert found.width == 50
    assert (found.shares[0][0], found.shares[1][-1]) == (1, 1)
    assert wrong_at((65,), (64,)).shares[1][-2:] == (1, None)


@given(shapes, st.integers(0, 1000))
def test_the_map_is_small_and_counts_every_element(shape: list[int], seed: int) -> None:
    wrong = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.3
    found = error_map("output", wrong)
    assert len(found.shares) <= ROWS
    assert all(len(row) <= COLUMNS for row in found.shares)
    height = -(-found.elements // found.width)
    counted = 0.0
    for down, row in enumerate(found.shares):
        for across, share in enumerate(row):
            first, last = down * found.rows, min((down + 1) * found.rows, height)
            left, right = across * found.columns, min((across + 1) * found.columns, found.width)
            inside = sum(
                line * found.width + column < found.elements
                for line in range(first, last)
                for column in range(left, right)
            )
            counted += (share or 0) * inside
    assert round(counted) == found.wrong == int(wrong.sum())
