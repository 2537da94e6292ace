"""Which elements a launch touches: whole tensors, and nothing between their rows."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.elements import Between, Untouched, between, untouched

ROWS, COLS = "tl.program_id(0) * BM + tl.arange(0, BM)", "tl.program_id(1) * BN + tl.arange(0, BN)"
LOAD, STORE = "rows[:, None] * sxm + cols[None, :] * sxn", "rows[:, None] * N + cols[None, :]"
MADE, GRID = "torch.empty((M, N))", "(triton.cdiv(M, 32), triton.cdiv(N, 64))"
TEXT = """
import torch

@triton.jit
def kernel(x_ptr, y_ptr, M, N, sxm, sxn, BM: tl.constexpr, BN: tl.constexpr):
    rows = {rows}
    cols = {cols}
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + {load}, mask=mask)
    tl.store(y_ptr + {store}, x, mask=mask)

def run(x):
    {first}
    M, N = x.shape
    y = {made}
    kernel[{grid}](x, y, M, N, x.stride(0), x.stride(1), BM=32, BN=64)
    return y
"""


def asked(
    *, rows: str = ROWS, cols: str = COLS, load: str = LOAD, store: str = STORE, made: str = MADE, grid: str = GRID,
    first: str = "pass",
) -> tuple[list[Refuted[Between]], list[Refuted[Untouched]]]:  # fmt: skip
    (found,) = flows(TEXT.format(rows=rows, cols=cols, load=load, store=store, made=made, grid=grid, first=first))
    return list(between(found)), list(untouched(found))


def test_a_copy_touches_all_elements_and_nothing_else() -> None:
    assert asked() == ([], [])


@pytest.mark.parametrize(
    "load",
    [
        "rows[:, None] + cols[None, :] * sxn",
        "rows[:, None] * sxm + cols[None, :]",
        "rows[:, None] * sxn + cols[None, :] * sxm",
        "rows[:, None] * N + cols[None, :] * sxn",
        "(rows[:, None] + 1) * sxm + cols[None, :] * sxn",
    ],
)
def test_places_between_rows_or_past_them(load: str) -> None:
    (found,), _ = asked(load=load)
    assert (found.shown.tensor, found.shown.layout.sizes) == ("x", (64, 192))
    assert found.shown.place not in found.shown.layout.places()


@pytest.mark.parametrize(
    ("load", "first"),
    [
        ("rows[:, None] * sxm + cols[None, :]", "assert x.stride(1) == 1"),
        ("rows[:, None] * sxm + cols[None, :]", "x = x.contiguous()"),
        ("rows[:, None] * N + cols[None, :]", "x = x.contiguous()"),
        ("rows[:, None] * N + cols[None, :]", "assert x.is_contiguous()"),
    ],
)
def test_what_the_wrapper_asks_for_is_taken_into_account(load: str, first: str) -> None:
    assert asked(load=load, first=first) == ([], [])


@pytest.mark.parametrize(
    ("rows", "cols", "grid", "axis", "index"),
    [
        ("tl.arange(0, BM)", COLS, GRID, 0, 32),
        (f"tl.program_id(0) * BM + {ROWS}", COLS, GRID, 0, 32),
        (ROWS, "tl.program_id(0) * BN + tl.arange(0, BN)", GRID, 1, 128),
        (ROWS, COLS, "(triton.cdiv(M, 32), triton.cdiv(N, 128))", 1, 192),
        (ROWS, COLS, "(M // 64, triton.cdiv(N, 64))", 0, 64),
    ],
)
def test_tiles_that_leave_something_out(rows: str, cols: str, grid: str, axis: int, index: int) -> None:
    _, found = asked(rows=rows, cols=cols, grid=grid)
    assert {(one.shown.parameter, one.shown.axis, one.shown.index) for one in found} == {
        ("x_ptr", axis, index),
        ("y_ptr", axis, index),
    }


@pytest.mark.parametrize("made", ["torch.zeros((M, N))", "x.new_zeros((M, N))"])
def test_what_was_cleared_may_be_left_as_it_is(made: str) -> None:
    _, found = asked(store="rows[:, None] * 0 + cols[None, :]", made=made)
    assert found == []


def test_an_output_that_is_filled_elsewhere_may_be_left_out() -> None:
    _, found = asked(store="rows[:, None] * 0 + cols[None, :]", made=f"{MADE}; y[1:] = 0")
    assert found == []
