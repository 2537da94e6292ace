"""Integer operations against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.numerics.judge import INTEGERS, WIDTHS, integers, run, unsigned, wrapped
from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.numerics.elementwise import compute
from tritonaudit.simulator.numerics.unsupported import Unsupported

Judge = Callable[[int, int, str], int]


def truncated(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shifted_left(a: int, b: int, element: str) -> int:
    amount = unsigned(b, element)
    return a << amount if amount < WIDTHS[element] else 0


def shifted_right(a: int, b: int, element: str) -> int:
    return a >> min(unsigned(b, element), WIDTHS[element])


JUDGES: dict[str, Judge] = {
    "arith.addi": lambda a, b, e: a + b,
    "arith.subi": lambda a, b, e: a - b,
    "arith.muli": lambda a, b, e: a * b,
    "arith.andi": lambda a, b, e: a & b,
    "arith.ori": lambda a, b, e: a | b,
    "arith.xori": lambda a, b, e: a ^ b,
    "arith.divsi": lambda a, b, e: truncated(a, b),
    "arith.remsi": lambda a, b, e: a - truncated(a, b) * b if b else 0,
    "arith.ceildivsi": lambda a, b, e: -(-a // b) if b else 0,
    "arith.floordivsi": lambda a, b, e: a // b if b else 0,
    "arith.divui": lambda a, b, e: unsigned(a, e) // unsigned(b, e) if b else 0,
    "arith.remui": lambda a, b, e: unsigned(a, e) % unsigned(b, e) if b else 0,
    "arith.ceildivui": lambda a, b, e: -(-unsigned(a, e) // unsigned(b, e)) if b else 0,
    "arith.shli": shifted_left,
    "arith.shrsi": shifted_right,
    "arith.shrui": lambda a, b, e: shifted_right(unsigned(a, e), b, e),
    "arith.maxsi": lambda a, b, e: max(a, b),
    "arith.minsi": lambda a, b, e: min(a, b),
    "arith.maxui": lambda a, b, e: max(unsigned(a, e), unsigned(b, e)),
    "arith.minui": lambda a, b, e: min(unsigned(a, e), unsigned(b, e)),
    "tt.mulhiui": lambda a, b, e: unsigned(a, e) * unsigned(b, e) >> WIDTHS[e],
}


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("name", JUDGES)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_two_operands(name: str, element: str, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(integers(element), integers(element)), min_size=1, max_size=24))
    left, right = zip(*pairs, strict=True)
    expected = [wrapped(JUDGES[name](a, b, element), element) for a, b in pairs]
    assert run(name, [left, right], element) == expected


PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@pytest.mark.parametrize("element", INTEGERS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_comparisons(element: str, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(integers(element), integers(element)), min_size=1, max_size=24))
    left, right = zip(*pairs, strict=True)
    for name, holds in PREDICATES.items():
        signed = name if name in ("eq", "ne") else f"s{name}"
        assert run("arith.cmpi", [left, right], element, "i1", predicate=signed) == [holds(a, b) for a, b in pairs]
        if signed != name:
            expected = [holds(unsigned(a, element), unsigned(b, element)) for a, b in pairs]
            assert run("arith.cmpi", [left, right], element, "i1", predicate=f"u{name}") == expected


@pytest.mark.parametrize("element", INTEGERS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_bits_of_one_operand(element: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(integers(element), min_size=1, max_size=24))
    width = WIDTHS[element]
    patterns = [unsigned(value, element) for value in values]
    assert run("math.ctpop", [values], element) == [pattern.bit_count() for pattern in patterns]
    assert run("math.ctlz", [values], element) == [width - pattern.bit_length() for pattern in patterns]
    expected = [(pattern & -pattern).bit_length() - 1 if pattern else width for pattern in patterns]
    assert run("math.cttz", [values], element) == expected
    assert run("math.absi", [values], element) == [wrapped(abs(value), element) for value in values]


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_widths(source: str, target: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(integers(source), min_size=1, max_size=24))
    if WIDTHS[target] > WIDTHS[source]:
        assert run("arith.extsi", [values], source, target) == values
        assert run("arith.extui", [values], source, target) == [unsigned(value, source) for value in values]
    else:
        assert run("arith.trunci", [values], source, target) == [wrapped(value, target) for value in values]


def test_one_bit() -> None:
    """A bit that is set is 1 without a sign and -1 with it; sums wrap."""
    a, b = [False, False, True, True], [False, True, False, True]
    expected = {
        "arith.addi": [0, 1, 1, 0],
        "arith.subi": [0, 1, 1, 0],
        "arith.muli": [0, 0, 0, 1],
        "arith.andi": [0, 0, 0, 1],
        "arith.ori": [0, 1, 1, 1],
        "arith.xori": [0, 1, 1, 0],
        "arith.maxsi": [0, 0, 0, 1],
        "arith.minsi": [0, 1, 1, 1],
        "arith.maxui": [0, 1, 1, 1],
        "arith.minui": [0, 0, 0, 1],
    }
    for name, result in expected.items():
        assert run(name, [a, b], "i1") == [bool(bit) for bit in result], name
    for predicate, holds in {
        "slt": [0, 0, 1, 0],
        "ult": [0, 1, 0, 0],
        "sge": [1, 1, 0, 1],
        "uge": [1, 0, 1, 1],
    }.items():
        assert run("arith.cmpi", [a, b], "i1", predicate=predicate) == [bool(bit) for bit in holds], predicate
    assert run("arith.extsi", [[False, True]], "i1", "i32") == [0, -1]
    assert run("arith.extui", [[False, True]], "i1", "i32") == [0, 1]
    assert run("arith.trunci", [[2, 3, -1]], "i32", "i1") == [False, True, True]
    assert run("arith.sitofp", [[False, True]], "i1", "f32") == [0, -1]
    assert run("arith.uitofp", [[False, True]], "i1", "f32") == [0, 1]
    with pytest.raises(Unsupported, match=r"arith\.divsi: i1"):
        run("arith.divsi", [a, b], "i1")


def test_programs_and_blocks_broadcast() -> None:
    """A uniform scalar chooses for whole blocks, and sizes of 1 stretch."""
    condition = torch.tensor([True, False])
    a, b = torch.ones((1, 1, 4), dtype=torch.int32), torch.zeros((2, 3, 1), dtype=torch.int32)
    block = Type("i32", (3, 4))
    chosen = compute(Operation("arith.select"), [condition, a, b], [Type("i1"), block, block], block)
    assert chosen.shape == (2, 3, 4)
    assert chosen[0].all()
    assert not chosen[1].any()


def test_what_is_unknown_is_said() -> None:
    with pytest.raises(Unsupported, match=r"arith\.mulsi_extended"):
        run("arith.mulsi_extended", [[1], [1]], "i32")
    with pytest.raises(Unsupported, match="i128"):
        run("arith.extsi", [[1]], "i32", "i128")
