"""Tensor cores: against what an H100 gave, and against the same rule in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor, log2
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.numerics.tensor_cores import Instruction, dot

_GAVE = (Path(__file__).parent / "tensor_cores.txt").read_text().splitlines()
"""Element, accumulator, precision, width (0: for a group of warps), longest; the bits of a row, a column, c, result."""


def types(element: str, total: str, rows: int, length: int, columns: int) -> list[Type]:
    return [Type(element, (rows, length)), Type(element, (length, columns)), Type(total, (rows, columns))]


def decoded(bits: str, element: str) -> torch.Tensor:
    return torch.frombuffer(bytearray.fromhex(bits), dtype=dtype_of(Type(element)))


@pytest.mark.parametrize("line", _GAVE, ids=lambda line: "-".join(line.split()[:5]))
def test_an_h100_gave_the_same(line: str) -> None:
    element, total, precision, width, longest, *bits = line.split()
    a, b = (decoded(one, element) for one in bits[:2])
    c, result = (decoded(one, total) for one in bits[2:])
    instruction = Instruction(is_for_group=width == "0", width=int(width))
    found = dot(
        a.view(1, 1, -1), b.view(1, -1, 1), c.view(1, 1, 1),
        types(element, total, 1, len(a), 1), precision, instruction, int(longest),
    )  # fmt: skip
    assert found is not None
    assert found.dtype == result.dtype
    found = found.view(1)
    assert bool(found.isnan()) if bool(result.isnan()) else found.view(torch.uint8).equal(result.view(torch.uint8))


def summed(products: list[Fraction], exponents: list[int], bits: int) -> Fraction:
    """The rule: all cut off so many bits below the greatest exponent, then added."""
    known = [exponent for exponent, product in zip(exponents, products, strict=True) if product]
    unit = Fraction(2) ** (max(known, default=0) - bits)
    return sum((int(product / unit) * unit for product in products), Fraction())


def cut_off(x: Fraction, bits: int) -> Fraction:
    if not x:
        return x
    unit = Fraction(2) ** (max(-126, floor_log2(x)) - bits)
    return int(x / unit) * unit


def floor_log2(x: Fraction) -> int:
    exponent = floor(log2(abs(x)))
    while Fraction(2) ** exponent > abs(x):
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= abs(x):
        exponent += 1
    return exponent


@pytest.mark.parametrize(
    ("element", "is_for_group", "length", "least", "bits", "fraction"),
    [
        ("f16", True, 16, -14, 25, 23),
        ("bf16", False, 16, -126, 25, 23),
        ("f8E4M3FN", True, 32, -6, 13, 13),
        ("f8E5M2", True, 32, -14, 13, 13),
    ],
)
@pytest.mark.parametrize("spread", [2, 12, 100])
def test_the_rule_in_fractions(
    element: str, is_for_group: bool, length: int, least: int, bits: int, fraction: int, spread: int
) -> None:
    """Two instructions in a row on blocks, exponents far from each other, subnormal numbers and zeros among them."""
    coins = torch.Generator().manual_seed(spread)
    reach = min(spread, 62 if element == "bf16" else 1 - least)

    def wide(*shape: int) -> torch.Tensor:
        powers = torch.randint(-reach, min(reach, 7), shape, generator=coins).double()
        x = torch.randn(shape, generator=coins, dtype=torch.float64) * torch.exp2(powers)
        return torch.where(torch.rand(shape, generator=coins) < 0.1, 0, x.clamp(-400, 400))

    a, b = (wide(1, *shape).float().to(dtype_of(Type(element))) for shape in ((3, 2 * length), (2 * length, 5)))
    c = wide(1, 3, 5).float()
    found = dot(a, b, c, types(element, "f32", 3, 2 * length, 5), "ieee", Instruction(is_for_group, 2))
    assert found is not None

    def exponent(x: Fraction, lowest: int) -> int:
        return max(lowest, floor_log2(x)) if x else lowest

    for i in range(3):
        for j in range(5):
            total = Fraction(c[0, i, j].item())
            for start in (0, length):
                products, exponents = [total], [exponent(total, -126)]
                for k in range(start, start + length):
                    x, y = Fraction(a[0, i, k].float().item()), Fraction(b[0, k, j].float().item())
                    products.append(x * y)
                    exponents.append(exponent(x, least) + exponent(y, least))
                total = cut_off(summed(products, exponents, bits), fraction)
            assert Fraction(found[0, i, j].item()) == total


def test_more_rows_than_a_tile_holds_are_each_what_they_are_alone() -> None:
    coins = torch.Generator().manual_seed(0)
    a, b = (torch.randn(shape, generator=coins).half() for shape in ((2, 300, 32), (1, 32, 400)))
    c = torch.randn((1, 1, 400), generator=coins)
    group = Instruction(is_for_group=True, width=0)
    whole = dot(a, b, c, types("f16", "f32", 300, 32, 400), "ieee", group)
    assert whole is not None
    one = dot(a[1:, 250:251], b, c, types("f16", "f32", 1, 32, 400), "ieee", group)
    assert one is not None
    assert whole[1:, 250:251].equal(one)


def test_how_many_a_thread_holds_in_a_row_tells_what_comes_together() -> None:
    """Beside 1 - 1 the third product is cut off; where it comes in the next instruction, it is all that is left."""
    a, b = torch.zeros((1, 1, 32)).half(), torch.zeros((1, 32, 1)).half()
    a[0, 0, [0, 2, 4]] = torch.tensor([1, 2.0**-13, 1]).half()
    b[0, [0, 2, 4], 0] = torch.tensor([1, 2.0**-13, -1]).half()
    c = torch.zeros((1, 1, 1))
    found = {}
    for width in (2, 4):
        total = dot(a, b, c, types("f16", "f32", 1, 32, 1), "ieee", Instruction(is_for_group=False, width=width))
        assert total is not None
        found[width] = total.item()
    assert found == {2: 0, 4: 2.0**-26}


def test_what_is_not_modelled_is_said() -> None:
    """Nothing is known of other types, and of a K that the threads do not divide."""
    a = torch.ones((1, 4, 16), dtype=torch.int8)
    c = torch.zeros((1, 4, 4), dtype=torch.int32)
    warp = Instruction(is_for_group=False, width=2)
    assert dot(a, a.transpose(1, 2), c, types("i8", "i32", 4, 16, 4), "ieee", warp) is None
    half = a.half()
    wide = Instruction(is_for_group=False, width=4)
    assert dot(half, half.transpose(1, 2), c.float(), types("f16", "f32", 4, 16, 4), "ieee", wide) is None
