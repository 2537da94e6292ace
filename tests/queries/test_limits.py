"""Axes of a grid that may have more programs than a GPU takes."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.queries.limits import LongAxis, long_axes

KERNEL = """\
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    {body}


def run(x, y, n, splits, BLOCK):
    {lines}
    kernel[{grid}](x, n, BLOCK=BLOCK)
"""
MATRIX = "M, N = x.shape"
HEADS = "B, T, H, D = x.shape"


def found(grid: str, *lines: str, body: str = "tl.store(x_ptr, 1)") -> list[LongAxis]:
    (kernel,) = flows(KERNEL.format(grid=grid, lines="\n    ".join(lines or ("pass",)), body=body))
    return list(long_axes(kernel.launches.sites, kernel.accesses))


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ("(1, M)", (MATRIX,)),
        ("(1, 1, M)", (MATRIX,)),
        ("(1, items)", ("items, N = x.shape",)),
        ("(1, hits)", ("hits, N = x.shape",)),
        ("(1, x.shape[0])", (MATRIX,)),
        ("(1, x.size(0))", ("assert x.dim() == 2",)),
        ("(1, x.size(0))", ("if x.ndim != 2:", "    raise ValueError")),
        ("(1, M)", ("x = x.reshape(-1, n)", "M = x.numel() // n")),
        ("lambda meta: (1, M)", (MATRIX,)),
        ("(1, M + 1)", (MATRIX,)),
        ("(1, triton.cdiv(M, 4))", (MATRIX,)),
        ("(1, K)", ("K = x.numel() // n",)),
        ("(1, triton.cdiv(x.numel(), BLOCK))", (MATRIX,)),
        ("(1, M)", (MATRIX, "if M == 1:", "    kernel[(1, M)](x, n, BLOCK=64)", "    return")),
        ("(1, M)", (MATRIX, "print('65535 rows at most')")),
    ],
)
def test_an_axis_of_rows_may_be_too_long(grid: str, lines: tuple[str, ...]) -> None:
    (axis,) = found(grid, *lines)
    assert axis.extent.counted
    assert axis.extent.sure


def test_the_first_of_three_dimensions_may_be_of_rows_or_of_sequences() -> None:
    (axis,) = found("(1, A)", "A, B, C = x.shape")
    assert axis.extent.counted
    assert not axis.extent.sure


@pytest.mark.parametrize(
    ("table", "long"),
    [("tl.load(n + row * BLOCK)", 0), ("tl.load(n + row * BLOCK + 1)", 0), ("tl.load(n + row)", 1), ("row", 1)],
)
def test_rows_with_pages_of_their_own_are_the_sequences_of_a_batch(table: str, long: int) -> None:
    body = f"row = tl.program_id(1)\n    page = {table}\n    tl.store(x_ptr + page * 16, 1)"
    assert len(found("(1, A)", "A, B, C = x.shape", body=body)) == long


@pytest.mark.parametrize("grid", ["(1, B * H)", "(1, 1, H * B)", "(1, x.shape[0] * x.shape[1])"])
def test_sequences_times_heads_may_be_too_many(grid: str) -> None:
    (axis,) = found(grid, HEADS)
    assert not axis.extent.counted


@pytest.mark.parametrize(
    ("grid", "beside"),
    [
        ("(n, B * H)", False),
        ("(triton.cdiv(D, 64), B * H)", False),
        ("(triton.cdiv(T, 64), B * H)", True),
        ("(triton.cdiv(x.shape[1], 64), B * H)", True),
        ("(triton.cdiv(x.shape[0], 64), B * H)", False),
    ],
)
def test_another_axis_may_split_the_sequences(grid: str, beside: bool) -> None:
    (axis,) = found(grid, HEADS)
    assert axis.beside_tiles is beside


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ("(M,)", (MATRIX,)),
        ("(M, 1)", (MATRIX,)),
        ("(1, N)", (MATRIX,)),
        ("(1, triton.cdiv(M, 64))", (MATRIX,)),
        ("(1, triton.cdiv(M, BLOCK))", (MATRIX,)),
        ("(1, M // 64)", (MATRIX,)),
        ("(1, B, H)", (HEADS,)),
        ("(1, splits)", ()),
        ("(1, n)", ()),
        ("(1, count(x))", ()),
        ("(1, min(M, 1024))", (MATRIX,)),
        ("(1, min(M, splits))", (MATRIX,)),
        ("(1, M)", (MATRIX, "assert M <= 65535")),
        ("(1, M)", (MATRIX, "assert M < 65536 and N")),
        ("(1, M)", (MATRIX, "if M > 65535:", "    raise ValueError")),
        ("(1, M)", (MATRIX, "M = M // 64")),
        ("(1, M)", (MATRIX, "if M > 512:", "    return other(x)")),
        ("(1, N)", ("N, C = x.shape[0], x.shape[1]", "S = x.shape[2:]")),
        ("grid", ()),
    ],
)
def test_an_axis_that_is_short_or_not_known(grid: str, lines: tuple[str, ...]) -> None:
    assert not found(grid, *lines)
