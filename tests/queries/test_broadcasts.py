"""Blocks of one axis that meet the wrong axis of a block of two."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.broadcasts import misaligned

BLOCKS = """\
rows, cols = tl.arange(0, BLOCK), tl.arange(0, 2 * BLOCK)
x = tl.load(x_ptr + rows[:, None] * stride + cols[None, :])
square = tl.load(y_ptr + rows[:, None] * stride + rows[None, :])
row = tl.load(y_ptr + rows)
column = tl.load(y_ptr + cols)
"""


def places(body: str) -> list[str]:
    """The operations found."""
    found = flow(BLOCKS + body)
    return [found.tree.code(mistake.node) for mistake in misaligned(found)]


@pytest.mark.parametrize(
    "operation",
    [
        "x * row",
        "row + x",
        "x < row",
        "tl.maximum(x, row)",
        "square - tl.max(square, 1)",
        "square / tl.sum(square, -1)",
    ],
)
def test_a_value_for_each_row_meets_the_columns(operation: str) -> None:
    assert places(f"y = {operation}") == [operation]


def test_what_was_reduced_is_remembered_by_its_name() -> None:
    assert places("total = tl.sum(square, 1)\nsquare /= total") == ["square /= total"]


@pytest.mark.parametrize(
    "operation",
    [
        "x * row[:, None]",
        "x * column",
        "x * stride",
        "square * row",
        "square - tl.max(square, 0)",
        "square - tl.max(square, 1)[:, None]",
        "square - tl.max(square, 1, keep_dims=True)",
        "square - tl.max(square + 1, 1)",
        "row * column",
        "x * row[:, None].broadcast_to(BLOCK, 2 * BLOCK)",
        "x * tl.broadcast_to(row[:, None], (BLOCK, 2 * BLOCK))",
    ],
)
def test_what_fits_the_last_axis_or_may_fit_it_is_not_found(operation: str) -> None:
    assert places(f"y = {operation}") == []
