"""Operations on floats against fractions, rounded by definition."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction

import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.numerics.judge import FLOATS, assert_same, computed, floats, rounded, run, tensor
from tritonaudit.simulator.numerics.bounds import ulp_distance, ulps
from tritonaudit.simulator.numerics.fma import fma_in_steps
from tritonaudit.simulator.numerics.unsupported import Unsupported

Judge = Callable[[float, float, str], float]


def exactly(a: float, b: float, element: str, plain: float, exact: Callable[[Fraction, Fraction], Fraction]) -> float:
    """`exact` rounded, or `plain` (the same in float64) where there is no exact result, or it is 0."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return plain
    result = exact(Fraction(a), Fraction(b))
    if result == 0:
        return plain
    return math.copysign(rounded(result, element), 1 if result > 0 else -1)


def added(a: float, b: float, element: str) -> float:
    return exactly(a, b, element, a + b, lambda x, y: x + y)


def multiplied(a: float, b: float, element: str) -> float:
    return exactly(a, b, element, a * b, lambda x, y: x * y)


def divided(a: float, b: float, element: str) -> float:
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    return exactly(a, b, element, a / b, lambda x, y: x / y)


def larger(a: float, b: float) -> float:
    """Of two numbers, where +0 is above -0."""
    return max((a, b), key=lambda x: (x, math.copysign(1, x)))


def of_numbers(choose: Callable[[float, float], float], *, propagates: bool) -> Judge:
    def judge(a: float, b: float, element: str) -> float:
        if math.isnan(a) or math.isnan(b):
            return math.nan if propagates else b if math.isnan(a) else a
        return choose(a, b)

    return judge


def smaller(a: float, b: float) -> float:
    return -larger(-a, -b)


JUDGES: dict[str, Judge] = {
    "arith.addf": added,
    "arith.subf": lambda a, b, e: added(a, -b, e),
    "arith.mulf": multiplied,
    "arith.divf": divided,
    "arith.maximumf": of_numbers(larger, propagates=True),
    "arith.minimumf": of_numbers(smaller, propagates=True),
    "arith.maxnumf": of_numbers(larger, propagates=False),
    "arith.minnumf": of_numbers(smaller, propagates=False),
}


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("name", JUDGES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_two_operands(name: str, element: str, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(floats(element), floats(element)), min_size=1, max_size=40))
    left, right = zip(*pairs, strict=True)
    assert_same(run(name, [left, right], element), [JUDGES[name](a, b, element) for a, b in pairs])


PREDICATES: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "ne": lambda a, b: a != b,
}


@pytest.mark.parametrize("element", FLOATS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_comparisons(element: str, data: st.DataObject) -> None:
    """Ordered ones are false where one is NaN, unordered ones true."""
    pairs = data.draw(st.lists(st.tuples(floats(element), floats(element)), min_size=1, max_size=24))
    left, right = zip(*pairs, strict=True)
    unordered = [math.isnan(a) or math.isnan(b) for a, b in pairs]

    def found(predicate: str) -> list[float]:
        return run("arith.cmpf", [left, right], element, "i1", predicate=predicate)

    for name, holds in PREDICATES.items():
        truths = [holds(a, b) for a, b in pairs]
        assert found(f"o{name}") == [t and not u for t, u in zip(truths, unordered, strict=True)]
        assert found(f"u{name}") == [t or u for t, u in zip(truths, unordered, strict=True)]
    assert found("ord") == [not u for u in unordered]
    assert found("uno") == unordered
    assert found("false") == [False] * len(pairs)
    assert found("true") == [True] * len(pairs)


def fused(a: float, b: float, c: float, element: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    result = Fraction(a) * Fraction(b) + Fraction(c)
    return math.copysign(rounded(result, element), 1 if result > 0 else -1) if result else a * b + c


@pytest.mark.parametrize("element", FLOATS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_fused_multiply_add(element: str, data: st.DataObject) -> None:
    triples = data.draw(st.lists(st.tuples(*[floats(element)] * 3), min_size=1, max_size=24))
    operands = list(zip(*triples, strict=True))
    expected = [fused(*t, element) for t in triples]
    assert_same(run("math.fma", operands, element), expected)
    assert_same(fma_in_steps(*(tensor(one, element) for one in operands)).double()[0].tolist(), expected)


@pytest.mark.parametrize("element", FLOATS)
def test_fused_multiply_add_next_to_ties(element: str) -> None:
    """A product midway between two floats, and an addend far below that decides."""
    one_and_half_unit = {
        "f16": (33.0, 31.0),
        "bf16": (5.0, 51.0),
        "f32": (4097.0, 4095.0),
        "f64": (134217729.0, 134217727.0),
    }
    a, b = one_and_half_unit[element]
    least = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 2.0**-1074}[element]
    triples = [(a * s, b, c) for s in (1, -1) for c in (least, -least, 0.0)]
    assert_same(run("math.fma", list(zip(*triples, strict=True)), element), [fused(*t, element) for t in triples])


def test_fused_multiply_add_at_the_edges_of_the_range() -> None:
    triples = [(1.5, -sys.float_info.max, 0.0), (-1.5, -5e-324, -5e-324), (0.5, 5e-324, 0.0), (-0.5, 5e-324, 0.0)]
    assert_same(run("math.fma", list(zip(*triples, strict=True)), "f64"), [fused(*t, "f64") for t in triples])


@settings(max_examples=40, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_square_roots_are_rounded_rightly(element: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(floats(element), min_size=1, max_size=40))
    roots = [math.sqrt(x) if x >= 0 else math.nan for x in values]
    expected = [rounded(Fraction(root), element) if 0 < root < math.inf else root for root in roots]
    assert_same(run("tt.precise_sqrt", [values], element), expected)
    assert_same(run("math.sqrt", [values], element), expected)


@pytest.mark.parametrize("element", ["f32", "f64"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_remainder_steps(element: str, data: st.DataObject) -> None:
    """The rounded quotient's whole part, times the divisor, taken away in one fused step."""
    pairs = data.draw(st.lists(st.tuples(floats(element), floats(element)), min_size=1, max_size=24))
    left, right = zip(*pairs, strict=True)

    def judge(a: float, b: float) -> float:
        if math.isinf(b):
            return a
        quotient = divided(a, b, element)
        return fused(-float(math.trunc(quotient)) if math.isfinite(quotient) else -quotient, b, a, element)

    expected = [judge(a, b) for a, b in pairs]
    found = run("arith.remf", [left, right], element)
    assert_same([abs(x) for x in found], [abs(x) for x in expected])


def test_small_remainders_are_those_of_c() -> None:
    pairs = [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (1.0, math.inf), (5.0, 5.0)]
    left, right = zip(*pairs, strict=True)
    assert run("arith.remf", [left, right], "f32") == [math.fmod(a, b) for a, b in pairs]


@settings(max_examples=30, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("element", FLOATS)
def test_whole_numbers(element: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(floats(element).filter(math.isfinite), min_size=1, max_size=24))
    assert run("math.floor", [values], element) == [math.floor(x) for x in values]
    assert run("math.ceil", [values], element) == [math.ceil(x) for x in values]
    assert run("math.trunc", [values], element) == [math.trunc(x) for x in values]
    assert run("math.roundeven", [values], element) == [round(Fraction(x)) for x in values]
    away = [math.copysign(math.floor(abs(Fraction(x)) + Fraction(1, 2)), x) for x in values]
    assert_same(run("math.round", [values], element), away)
    signs = values[::-1]
    assert_same(run("math.copysign", [values, signs], element), list(map(math.copysign, values, signs)))
    assert_same(run("math.absf", [values], element), [abs(x) for x in values])
    assert_same(run("arith.negf", [values], element), [-x for x in values])


def cube_root(x: float) -> float:
    """By a step of Newton's method in fractions."""
    root = Fraction(math.copysign(abs(x) ** (1 / 3), x))
    return float(root - (root**3 - Fraction(x)) / (3 * root**2)) if x else x


ONE_OPERAND: dict[str, Callable[[float], float]] = {
    "exp": lambda x: math.exp(x),
    "exp2": lambda x: 2.0**x,
    "expm1": math.expm1,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "cbrt": lambda x: cube_root(x),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "erf": math.erf,
    "erfc": math.erfc,
}


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", ONE_OPERAND)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_functions(name: str, element: str, data: st.DataObject) -> None:
    """Within two ulps of what Python's float64 gives, by operation and by libdevice's name."""
    usual = st.floats(-8, 8, width=32) | st.floats(2.0**-60, 2.0**60, width=32)
    values = [x for x in data.draw(st.lists(usual, min_size=1, max_size=24)) if _defined(name, x)] or [
        2.0 if name == "acosh" else 0.5
    ]
    if name == "exp" and element == "f32":
        values = [x for x in values if abs(x) <= 1] or [0.0]
    expected = tensor([ONE_OPERAND[name](x) for x in values], element)
    found = computed(f"math.{name}", [tensor(values, element)], element)
    assert int(ulp_distance(found, expected).max()) <= 2
    if name not in ("cbrt",):
        symbol = f"__nv_{name}" + ("f" if element == "f32" else "")
        called = computed("tt.extern_elementwise", [tensor(values, element)], element, symbol=symbol)
        assert int(ulp_distance(called, expected).max()) <= 2


def _defined(name: str, x: float) -> bool:
    try:
        result = ONE_OPERAND[name](x)
    except (ValueError, OverflowError, ZeroDivisionError):
        return False
    return not isinstance(result, complex) and 1e-30 < abs(result) < 1e30


def test_exponential_of_the_rounded_product() -> None:
    """As Triton lowers it: far from 0 that is more than rounding away from the true one."""
    x = torch.tensor([[80.0, -80.0, 1.0, 0.0, math.inf, -math.inf, math.nan]])
    found = computed("math.exp", [x], "f32")
    product = (x.double() * float(torch.tensor(math.log2(math.e)))).float()
    assert int(ulp_distance(found, torch.exp2(product.double()).float()).max()) <= 1
    assert int(ulp_distance(found, torch.exp(x.double()).float()).max()) > 2


@pytest.mark.parametrize("name", ["sinh", "cosh"])
def test_hyperbolic_functions_overflow_no_sooner_than_they_must(name: str) -> None:
    x = torch.tensor([[88.73, 89.0, 89.4, 90.0]])
    expected = getattr(torch, name)(x.double()).float()
    assert torch.equal(computed(f"math.{name}", [x], "f32"), expected)
    assert expected.isinf().tolist() == [[False, False, False, True]]


def test_empty_blocks() -> None:
    """A launch of no programs."""
    none = torch.zeros((0, 4))
    for name, count in (("arith.maxnumf", 2), ("arith.minimumf", 2), ("math.fma", 3), ("tt.precise_sqrt", 1)):
        assert computed(name, [none] * count, "f32").shape == (0, 4)
    assert computed("arith.fptosi", [none], "f32", "i32").shape == (0, 4)
    assert computed("arith.divsi", [none.int()] * 2, "i32").shape == (0, 4)
    assert computed("arith.shrui", [none.int()] * 2, "i32").shape == (0, 4)


def test_clamp() -> None:
    values, low, high = [-5.0, 0.5, 9.0, math.nan, math.inf], [-1.0] * 5, [1.0] * 5
    assert_same(run("tt.clampf", [values, low, high], "f32", propagateNan="none"), [-1, 0.5, 1, -1, 1])
    assert_same(run("tt.clampf", [values, low, high], "f32", propagateNan="all"), [-1, 0.5, 1, math.nan, 1])


def test_eight_bits_have_no_arithmetic() -> None:
    with pytest.raises(Unsupported, match=r"arith\.addf: f8E5M2"):
        computed("arith.addf", [torch.zeros((1, 4)).to(torch.float8_e5m2)] * 2, "f8E5M2")


@pytest.mark.parametrize("element", FLOATS)
def test_distances(element: str) -> None:
    one = tensor([1.0], element)
    above = torch.nextafter(one, torch.full_like(one, math.inf))
    least = torch.nextafter(torch.zeros_like(one), one)
    assert ulp_distance(one, above).item() == 1
    assert ulp_distance(-least, least).item() == 2
    assert ulp_distance(tensor([0.0, math.nan], element), tensor([-0.0, math.nan], element)).tolist() == [[0, 0]]
    assert ulp_distance(tensor([math.nan], element), one).item() == torch.iinfo(torch.int64).max
    assert ulp_distance(tensor([math.inf], element), tensor([-math.inf], element)).item() > 1000


def test_bounds() -> None:
    assert ulps("arith.addf", "bf16") == 0
    assert ulps("arith.addi", "i32") == 0
    assert ulps("math.exp", "f32") == 3
    assert ulps("__nv_tanhf", "f32") == ulps("math.tanh", "f32")
    assert ulps("__nv_j0f", "f32") is None
