"""Sizes and grids that are numbers at the launch."""

from __future__ import annotations

import textwrap

import pytest

from tests.queries.kernels import flow
from tritonaudit.kernel.fixed_sizes import fixed_grids, fixed_sizes


def fixed(*lines: str, decorators: str = "") -> tuple[list[int], list[int]]:
    """The sizes and the grids that are numbers."""
    host = textwrap.indent("\n".join(lines), "    ")
    kernel = flow("pass", decorators and f"{decorators}\n", f"def run(x, n, size, options):\n{host}\n")
    sizes = fixed_sizes(kernel.module, kernel.function, kernel.launches, frozenset({"BLOCK"}))
    return [size.value for size in sizes], [grid.value for grid in fixed_grids(kernel.launches)]


def launch(grid: str = "(n,)", block: str = "BLOCK=512", more: str = "FLAG=1") -> str:
    return f"kernel[{grid}](x, x, n, n, 1, {block}, {more})"


@pytest.mark.parametrize(
    "lines",
    [(launch(),), ("block = 512", launch(block="BLOCK=block")), (launch(), launch(block="512"))],
)
def test_one_number_for_all(lines: tuple[str, ...]) -> None:
    assert fixed(*lines) == ([512], [])


@pytest.mark.parametrize(
    "lines",
    [
        (launch(block="BLOCK=32"),),
        (launch(block="BLOCK=size"),),
        (launch(), launch(block="BLOCK=256")),
        (launch(), launch(block="BLOCK=size")),
        (launch(more="**options"),),
        ("block = 512", "if n > 4:", "    block = 1024", launch(block="BLOCK=block")),
    ],
)
def test_small_computed_or_several(lines: tuple[str, ...]) -> None:
    assert fixed(*lines) == ([], [])


@pytest.mark.parametrize(
    "decorator",
    ["@triton.autotune(configs=CONFIGS, key=['n'])", "@triton.heuristics(RULES)", "@tuned"],
)
def test_a_decorator_may_choose(decorator: str) -> None:
    assert fixed(launch(), decorators=decorator) == ([], [])


@pytest.mark.parametrize(("grid", "expected"), [("(80,)", [80]), ("(1,)", []), ("(80, n)", []), ("(n // 80,)", [])])
def test_grids(grid: str, expected: list[int]) -> None:
    assert fixed(launch(grid, "BLOCK=size")) == ([], expected)
