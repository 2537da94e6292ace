"""Sizes of tiles that the kernel and its launch have as the same numbers."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.written_sizes import written_sizes

BODY = "lanes = tl.program_id(0) * {0} + tl.arange(0, {0})\ntl.store(x_ptr + lanes, 1, mask=lanes < n)"


def sizes(grid: str | None, size: str = "1024", host: str = "pass", before: str = "") -> list[tuple[int, bool]]:
    """The numbers, and whether the grid has them again."""
    launch = "" if grid is None else f"def run(x, n):\n    {host}\n    kernel[{grid}](x, x, n, 1, 1, 8, FLAG=n)\n"
    return [(s.value, s.again is not None) for s in written_sizes(flow(BODY.format(size), before, launch))]


@pytest.mark.parametrize("grid", ["(triton.cdiv(n, 1024),)", "((n + 1024 - 1) // 1024,)", "lambda meta: (n // 1024,)"])
def test_the_grid_has_it_again(grid: str) -> None:
    assert sizes(grid) == [(1024, True)]


def test_the_grid_has_it_by_a_name() -> None:
    assert sizes("(triton.cdiv(n, size),)", host="size = 1024") == [(1024, True)]
    assert sizes("(triton.cdiv(n, size),)", host="size = 512") == []


def test_without_a_launch_the_programs_have_it_again() -> None:
    assert sizes(None) == [(1024, False)]


@pytest.mark.parametrize(
    ("grid", "size"),
    [
        ("(triton.cdiv(n, 512),)", "1024"),
        ("(n,)", "1024"),
        ("(triton.cdiv(n, 32),)", "32"),
        ("(triton.cdiv(n, 1024),)", "BLOCK"),
        ("(triton.cdiv(n, 1024),)", "SIZE"),
    ],
)
def test_written_once_or_small_or_named(grid: str, size: str) -> None:
    assert sizes(grid, size, before="SIZE = tl.constexpr(1024)\n") == []
