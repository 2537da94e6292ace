"""Approximate instructions against what an H100 gave: all segments of an octave by checksum, the rest by examples."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor

from tritonaudit.simulator.numerics import approximations

OCTAVES: tuple[tuple[Callable[[Tensor, bool], Tensor], float, int], ...] = (
    (approximations.reciprocal, 1.0, 2043077722),
    (approximations.root, 1.0, 929806851),
    (approximations.root, 2.0, 3134317430),
    (approximations.reciprocal_root, 1.0, 1856956623),
    (approximations.reciprocal_root, 2.0, 4196240956),
    (approximations.power_of_two, 1.0, 2791953464),
    (approximations.power_of_two, -1.0, 2615107295),
)
"""Where an octave begins, and the checksum of the results of every 15th float from there."""


def single(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float32)


@pytest.mark.parametrize(("function", "first", "checksum"), OCTAVES)
def test_results_of_an_octave_are_the_gpus(
    function: Callable[[Tensor, bool], Tensor], first: float, checksum: int
) -> None:
    start = int(single(first).view(torch.int32))
    found = function(torch.arange(start, start + (1 << 23), 15, dtype=torch.int32).view(torch.float32), True)
    assert zlib.crc32(found.numpy().tobytes()) == checksum


@pytest.mark.parametrize(
    ("a", "b", "flushes", "expected"),
    [
        ("-0x1.5b75b2p-44", "-0x1.3df1e6p-54", False, "0x1.17c3b6p+10"),
        ("-0x1.8e2470p-80", "0x1.e84902p-42", False, "-0x1.a17aa8p-39"),
        ("0x1.0cd3d2p+1", "-0x1.48cfb4p-111", False, "-0x1.a298fcp+111"),
        ("0x1.309676p-40", "-0x1.f718eap+89", False, "-0x1.35fa4p-130"),
        ("0x1.309676p-40", "-0x1.f718eap+89", True, "-0.0"),
    ],
)
def test_quotients_are_the_gpus(a: str, b: str, flushes: bool, expected: str) -> None:
    found = approximations.quotient(single(float.fromhex(a)), single(float.fromhex(b)), flushes)
    assert float(found).hex() == float.fromhex(expected).hex()


def test_quotients_by_numbers_that_have_no_normal_reciprocal() -> None:
    found = approximations.quotient(single(3.0, 3.0, 1.0), single(2.0**-140, 2.0**127, 2.0**-149), False)
    assert found.tolist() == [torch.inf, 3 * 2.0**-127, torch.inf]


@pytest.mark.parametrize(
    ("x", "flushes", "expected"),
    [
        ("-0x1.82b9a0p-16", True, "0x1.fffde8p-1"),
        ("0x1.4d87b6p+5", True, "0x1.9d5ce8p+41"),
        ("-0x1.5p-34", True, "0x1p+0"),
        ("-0xcp+0", True, "0x1p-12"),
        ("-0x1.1187c6p+7", False, "0x1.2d4p-137"),
        ("-0x1.1187c6p+7", True, "0x0p+0"),
        ("inf", True, "inf"),
        ("-inf", False, "0x0p+0"),
    ],
)
def test_powers_of_two_are_the_gpus(x: str, flushes: bool, expected: str) -> None:
    """Of a negative number the bits are inverted, unless it is whole to 23 bits."""
    found = approximations.power_of_two(single(float.fromhex(x)), flushes)
    assert float(found) == float.fromhex(expected)


def test_zeros_infinities_and_subnormal_numbers() -> None:
    x = single(0.0, -0.0, torch.inf, -torch.inf, 2.0**-130, -(2.0**-130))
    assert approximations.reciprocal(x, True).tolist() == [torch.inf, -torch.inf, 0, 0, torch.inf, -torch.inf]
    roots = approximations.root(x, True)
    assert roots[[0, 1, 2, 4, 5]].tolist() == [0, 0, torch.inf, 0, 0]
    assert roots.signbit()[[1, 5]].tolist() == [True, True]
    inverse = approximations.reciprocal_root(x, True)
    assert inverse[[0, 1, 2, 4, 5]].tolist() == [torch.inf, -torch.inf, 0, torch.inf, -torch.inf]
    assert bool(roots[3].isnan())
    assert bool(inverse[3].isnan())
    assert approximations.reciprocal_root(x, False)[4] == 2.0**65


def test_what_is_no_number_stays_so() -> None:
    x = single(torch.nan)
    for function in (
        approximations.reciprocal,
        approximations.root,
        approximations.reciprocal_root,
        approximations.power_of_two,
    ):
        assert bool(function(x, True).isnan())
        assert bool(function(x, False).isnan())
