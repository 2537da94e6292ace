"""Which elements a launch touches: whole tensors, and nothing between their rows."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.elements import Untouched, untouched
from tritonaudit.queries.strays import Astray, astray, meetings

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
) -> tuple[list[Refuted[Astray]], list[Refuted[Untouched]]]:  # fmt: skip
    (found,) = flows(TEXT.format(rows=rows, cols=cols, load=load, store=store, made=made, grid=grid, first=first))
    return list(astray(found)), list(untouched(found))


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
    assert (found.shown.tensor, found.shown.layout.sizes) == ("x", (64, 256))
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


@pytest.mark.parametrize(
    "store",
    ["rows[:, None] + cols[None, :]", "rows[:, None] * BM + cols[None, :]", "rows[:, None] * N + cols[None, :] * N"],
)
def test_two_lanes_that_store_to_one_place(store: str) -> None:
    (found,) = flows(TEXT.format(rows=ROWS, cols=COLS, load=LOAD, store=store, made=MADE, grid=GRID, first="pass"))
    (met,) = meetings(found)
    assert met.shown.access.kind == "store"
    assert met.shown.programs[0] == met.shown.programs[1]


def test_two_programs_that_store_to_one_place() -> None:
    rows = "tl.program_id(0) + tl.arange(0, BM)"
    store = "rows[:, None] * N + cols[None, :]"
    (found,) = flows(TEXT.format(rows=rows, cols=COLS, load=LOAD, store=store, made=MADE, grid=GRID, first="pass"))
    (met,) = meetings(found)
    one, other = met.shown.programs
    assert one != other


@pytest.mark.parametrize("rows", [ROWS, f"({ROWS}) % M", f"tl.minimum({ROWS}, M - 1)"])
def test_lanes_that_wrap_around_store_the_same(rows: str) -> None:
    (found,) = flows(TEXT.format(rows=rows, cols=COLS, load=LOAD, store=STORE, made=MADE, grid=GRID, first="pass"))
    assert meetings(found) == ()


FLAGGED = """
import torch

@triton.jit
def kernel(x_ptr, y_ptr, N, sxm, sxn, HAS_MEAN: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * sxm + cols * sxn, mask=cols < N)
    if HAS_MEAN:
        x -= tl.load(x_ptr + row)
    tl.store(y_ptr + row * N + cols, x, mask=cols < N)

def run(x, has_mean):
    {first}
    M, N = x.shape
    y = torch.empty((M, N))
    kernel[(M,)](x, y, N, x.stride(0), x.stride(1), HAS_MEAN=has_mean, BLOCK=triton.next_power_of_2(N))
    return y
"""


def test_a_flag_that_callers_give_is_set_as_the_way_to_the_access_has_it() -> None:
    (flow,) = flows(FLAGGED.format(first="pass"))
    (found,) = astray(flow)
    assert found.sizes["has_mean"] == 1
    assert found.shown.place == 1


def test_a_flag_that_the_wrapper_refuses_is_not_set() -> None:
    (flow,) = flows(FLAGGED.format(first="assert not has_mean"))
    assert astray(flow) == ()


def test_a_program_id_of_an_axis_that_no_grid_has_is_not_known() -> None:
    rows = "tl.program_id(40) * BM + tl.arange(0, BM)"
    (flow,) = flows(TEXT.format(rows=rows, cols=COLS, load=LOAD, store=STORE, made=MADE, grid=GRID, first="pass"))
    assert (astray(flow), meetings(flow)) == ((), ())
