"""Which divisors may be 0, by what they are made of."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow, flows
from tritonaudit.queries.vanishing import Measure, divisors

DATA = """\
cols = tl.arange(0, BLOCK)
x = tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
y = tl.load(y_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
largest = tl.max(tl.abs(x), axis=0)
"""


def measures(body: str) -> list[Measure]:
    return [divisor.measure for divisor in divisors(flow(DATA + body))]


@pytest.mark.parametrize(
    ("body", "measure"),
    [
        ("x / largest", Measure.LARGEST),
        ("x / (largest / 127)", Measure.LARGEST),
        ("x / largest[None]", Measure.LARGEST),
        ("1.0 / (largest * 0.5)", Measure.LARGEST),
        ("tl.fdiv(x, largest)", Measure.LARGEST),
        ("x /= largest", Measure.LARGEST),
        ("tl.log2(largest)", Measure.LARGEST),
        ("x / tl.maximum(largest, tl.max(tl.abs(y), axis=0))", Measure.LARGEST),
        ("x / tl.where(cols < n, largest, 0.0)", Measure.LARGEST),
        ("x / tl.sqrt(tl.sum(x * x, axis=0))", Measure.SQUARES),
        ("tl.rsqrt(tl.sum(x * x, axis=0) / n)", Measure.SQUARES),
        ("d = x - tl.sum(x, axis=0) / n\nd / tl.sqrt(tl.sum(d * d, axis=0))", Measure.SQUARES),
        ("x / tl.sum((y > 3).to(tl.float32), axis=0)", Measure.COUNT),
        ("x / tl.sum(tl.where(y != m, 1.0, 0.0), axis=0)", None),
        ("x / tl.sum(x * tl.exp(y), axis=0)", Measure.PARTS),
        ("x / tl.sum(x, axis=0)", Measure.SUM),
        ("if FLAG:\n    largest = tl.maximum(largest, 1e-6)\nx / largest", Measure.LARGEST),
    ],
)
def test_what_vanishes_with_the_data(body: str, measure: Measure | None) -> None:
    assert measures(body) == ([] if measure is None else [measure])


@pytest.mark.parametrize(
    "body",
    [
        "x / (largest + 1e-6)",
        "x / tl.maximum(largest, 1e-6)",
        "x / tl.maximum(1e-6, largest)",
        "x / tl.clamp(largest, 1e-6, 1.0)",
        "x / tl.where(largest == 0, 1.0, largest)",
        "tl.where(largest > 0, x / largest, 0.0)",
        "if largest > 0:\n    x / largest",
        "x / tl.exp(largest)",
        "x / tl.sum(tl.exp(x), axis=0)",
        "x / tl.load(y_ptr)",
        "x / y",
        "x / n",
        "x / tl.sum((cols < n).to(tl.float32), axis=0)",
        "x / (largest - 1)",
        "largest / 127",
    ],
)
def test_what_does_not_or_is_asked_for(body: str) -> None:
    assert measures(body) == []


def test_a_divisor_is_reported_once() -> None:
    assert measures("a = x / largest\nb = y / largest") == [Measure.LARGEST]


def test_a_maximum_kept_over_a_loop_from_0_vanishes_and_one_from_an_epsilon_does_not() -> None:
    loop = """
    kept = {}
    for i in range(0, m):
        kept = tl.maximum(kept, tl.max(tl.abs(tl.load(x_ptr + i * BLOCK + cols)), axis=0))
    y / kept
    """
    body = "\n".join(line[4:] for line in loop.splitlines())
    assert measures(body.format("0.0")) == [Measure.LARGEST]
    assert measures(body.format("1e-6")) == []


@pytest.mark.parametrize(
    ("use", "swallowed"),
    [
        ("tl.clamp(q, -127.0, 127.0)", True),
        ("tl.minimum(tl.floor(q * 2.0), 127.0)", True),
        ("q.to(tl.int8)", True),
        ("tl.where(q > 0.5, 1, 0)", True),
        ("q.to(tl.float16)", False),
        ("tl.store(y_ptr + cols, q)", False),
    ],
)
def test_a_clamp_a_comparison_or_an_integer_swallows_what_is_no_number(use: str, swallowed: bool) -> None:
    (divisor,) = divisors(flow(f"{DATA}q = x / largest\n{use}"))
    assert divisor.swallowed is swallowed


def test_in_a_helper_the_data_are_not_known() -> None:
    (found,) = flows("@triton.jit\ndef helper(x):\n    return x / tl.max(tl.abs(x), axis=0)\n")
    assert not list(divisors(found))


@pytest.mark.parametrize(
    "call", ["tl.abs()", "tl.max()", "tl.sum()", "tl.where(x > 0, x)", "tl.maximum(x)", "tl.log()", "tl.load()"]
)
def test_a_call_that_lacks_operands_is_made_of_nothing(call: str) -> None:
    assert list(divisors(flow(f"{DATA}q = x / tl.max({call}, axis=0)\nr = tl.log(tl.sum({call}))"))) == []


MERGE = """\
parts = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
largest = tl.load(y_ptr + cols, mask=cols < n{})
tl.exp(x - 1) / tl.sum(parts * tl.exp(largest - tl.max(largest, axis=0)), axis=0)
"""


def test_where_no_part_is_there_a_weight_by_the_largest_is_nan_and_no_sum_is_0() -> None:
    assert measures(MERGE.format("")) == [Measure.PARTS]
    assert measures(MERGE.format(", other=float('-inf')")) == [Measure.SUM]


HELPER = "@triton.jit\ndef encode(value):\n    return {}\n"


@pytest.mark.parametrize(
    ("returned", "swallowed"), [("tl.where(value > 0.5, 1, 0)", True), ("value * 2", False), ("value + 1.0", False)]
)
def test_a_helper_that_compares_the_quotient_makes_a_number_of_it(returned: str, swallowed: bool) -> None:
    found = flow(DATA + "tl.store(y_ptr + cols, encode(x / largest))", HELPER.format(returned))
    assert [divisor.swallowed for divisor in divisors(found)] == [swallowed]
