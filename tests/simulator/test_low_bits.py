"""An overflow is no fault where only bits are read that it leaves alone, as in a hash that chooses a bucket."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate
from tritonaudit.simulator.faults import FaultKind

FACTOR = 0x2545F4914F6CDD1D
SMALL_FACTOR = 0x6CDD1D


@triton.jit
def masked_hash(out_ptr, factor, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    mixed = (lanes.to(tl.int64) + 11) * factor
    tl.store(out_ptr + ((mixed >> 20) & 0x7FFFFFFF) % n, 1.0)


@triton.jit
def masked_hash_of_32_bits(out_ptr, factor, n, BLOCK: tl.constexpr):
    mixed = (tl.arange(0, BLOCK) + 1000) * factor
    tl.store(out_ptr + ((mixed ^ (mixed >> 7)) & 0xFF) % n, 1.0)


@triton.jit
def hash_without_sign(out_ptr, factor, n, BLOCK: tl.constexpr):
    mixed = (tl.arange(0, BLOCK).to(tl.uint32) + 1000) * factor.to(tl.uint32)
    tl.store(out_ptr + (mixed >> 20) % n.to(tl.uint32), 1.0)


@triton.jit
def bits_that_are_lost(out_ptr, factor, n, BLOCK: tl.constexpr):
    mixed = (tl.arange(0, BLOCK) + 1000) * factor
    tl.store(out_ptr + ((mixed >> 20) & 0xFFFF) % n, 1.0)


@triton.jit
def remainder_of_an_overflow(out_ptr, factor, n, BLOCK: tl.constexpr):
    mixed = (tl.arange(0, BLOCK) + 1000) * factor
    tl.store(out_ptr + (mixed % n + n) % n, 1.0)


@triton.jit
def read_in_two_ways(out_ptr, factor, n, BLOCK: tl.constexpr):
    mixed = (tl.arange(0, BLOCK) + 1000) * factor
    tl.store(out_ptr + (mixed & 0xFF) % n, 1.0)
    tl.store(out_ptr + (mixed % n + n) % n, 1.0)


@pytest.mark.parametrize(
    ("kernel", "factor", "is_fault"),
    [
        (masked_hash, FACTOR, False),
        (masked_hash_of_32_bits, SMALL_FACTOR, False),
        (hash_without_sign, SMALL_FACTOR, False),
        (bits_that_are_lost, SMALL_FACTOR, True),
        (remainder_of_an_overflow, SMALL_FACTOR, True),
        (read_in_two_ways, SMALL_FACTOR, True),
    ],
)
def test_an_overflow_is_told_where_what_it_loses_is_read(
    kernel: triton.JITFunction, factor: int, is_fault: bool
) -> None:
    found = simulate(kernel, (1,), torch.zeros(64), factor, 37, BLOCK=32)
    kinds = {fault.kind for fault in found.faults}
    assert (FaultKind.OVERFLOW_ADDRESS in kinds) is is_fault
