"""Operands of matrix products that go together for some flags or inputs alone."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.dot_operands import hard_coded_operands, one_way_operands

TILES = """\
index = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
a = tl.load(x_ptr + index)
b = tl.load(y_ptr + index).to(tl.float32)
if FLAG:
    b = (b * 2).to({dtype})
"""


@pytest.mark.parametrize(
    ("dtype", "left", "agrees"),
    [("BLOCK", "a.to(BLOCK)", "=BLOCK"), ("a.dtype", "a", "*x_ptr"), ("tl.float16", "a.to(tl.float16)", "fp16")],
)
def test_an_operand_that_is_cast_on_one_way_only_is_found(dtype: str, left: str, agrees: str) -> None:
    (found,) = one_way_operands(flow(TILES.format(dtype=dtype) + f"tl.store(x_ptr + index, tl.dot({left}, b))"))
    assert (found.operand, found.differs, found.agrees) == ("second", "fp32", agrees)


@pytest.mark.parametrize(
    "product",
    [
        "tl.dot(a.to(BLOCK), b.to(BLOCK))",
        "tl.dot(a.to(tl.float32), b)",
        "tl.dot(a, b)",
        "tl.dot(b, b)",
    ],
)
def test_an_operand_that_is_cast_at_the_product_is_not(product: str) -> None:
    assert not list(one_way_operands(flow(TILES.format(dtype="BLOCK") + f"tl.store(x_ptr + index, {product})")))


def test_a_product_under_a_flag_is_not() -> None:
    body = TILES.format(dtype="BLOCK") + "if FLAG:\n    tl.store(x_ptr + index, tl.dot(a.to(BLOCK), b))\n"
    assert not list(one_way_operands(flow(body)))


NARROW = TILES.format(dtype="BLOCK") + "tl.store(y_ptr + index, tl.dot(b.to(tl.float16), a))"
LAUNCH = "def run(x, y):\n    {check}kernel[(1,)](x, y, 1, 1, 1, 16, True)\n"


def test_an_operand_of_a_fixed_dtype_beside_the_elements_of_a_tensor_is_found() -> None:
    (found,) = hard_coded_operands(flow(NARROW, after=LAUNCH.format(check="")))
    assert (found.dtype, found.parameter) == ("fp16", "x_ptr")


@pytest.mark.parametrize(
    "after",
    ["", LAUNCH.format(check="assert x.dtype == torch.float16\n    "), LAUNCH.format(check="x = x.half()\n    ")],
)
def test_where_nothing_launches_it_or_the_wrapper_asks_for_the_dtype_it_is_not(after: str) -> None:
    assert not list(hard_coded_operands(flow(NARROW, after=after)))
