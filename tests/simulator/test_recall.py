"""Launches of one form: what is kept of the first of them changes nothing about the others."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate
from tritonaudit.simulator.faults import FaultKind
from tritonaudit.simulator.fresh import FreshMemory

BLOCK = 16


@triton.jit
def scaled(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask, other=0.0) * factor, mask=mask)


def test_data_of_each_launch() -> None:
    for seed in range(4):
        x, out = torch.randn(40, generator=torch.Generator().manual_seed(seed)), torch.zeros(40)
        assert simulate(scaled, (1,), x, out, 40, 3.0, BLOCK).faults == ()
        assert torch.equal(out, x * 3)


def test_numbers_of_each_launch() -> None:
    x, out = torch.ones(40), torch.zeros(40)
    for factor in (0.0, -0.0, 2.0) * 3:
        assert simulate(scaled, (1,), x, out, 40, factor, BLOCK).faults == ()
        assert torch.equal(1 / out, 1 / (x * factor))


def test_views_of_each_launch() -> None:
    x = torch.arange(80.0)
    for first in (0, 40, 16) * 3:
        out = torch.zeros(40)
        assert simulate(scaled, (1,), x[first : first + 40], out, 40, 1.0, BLOCK).faults == ()
        assert torch.equal(out, x[first : first + 40])
    found = simulate(scaled, (1,), x[::2], torch.zeros(40), 40, 1.0, BLOCK).faults
    assert FaultKind.BETWEEN_ELEMENTS in {fault.kind for fault in found}


@triton.jit
def gathered(index_ptr, length_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for round in range(tl.load(length_ptr)):
        rows = tl.load(index_ptr + round * BLOCK + tl.arange(0, BLOCK))
        total += tl.load(x_ptr + rows)
    tl.store(out_ptr + tl.arange(0, BLOCK), total)


def test_indices_and_rounds_of_each_launch() -> None:
    x = torch.arange(64.0)
    for seed in (0, 0, 0, 1, 1, 1, 2, 0):
        generator = torch.Generator().manual_seed(seed)
        index = torch.randint(0, 64, (4, BLOCK), generator=generator, dtype=torch.int32)
        length, out = torch.tensor([seed + 1], dtype=torch.int32), torch.zeros(BLOCK)
        assert simulate(gathered, (1,), index, length, x, out, BLOCK).faults == ()
        assert torch.equal(out, x[index[: seed + 1].long()].sum(0))


def test_indices_that_leave_the_tensor_later() -> None:
    x, out, length = torch.arange(64.0), torch.zeros(BLOCK), torch.tensor([1], dtype=torch.int32)
    index = torch.zeros(1, BLOCK, dtype=torch.int32)
    for last, kinds in ((5, []), (5, []), (5, []), (64, [FaultKind.OUT_OF_BOUNDS_LOAD]), (5, [])):
        index[0, -1] = last
        found = simulate(gathered, (1,), index, length, x, out, BLOCK).faults
        assert [fault.kind for fault in found if fault.kind is not FaultKind.UNDEFINED_STORED] == kinds


@triton.jit
def chosen(flag_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if tl.load(flag_ptr) > 0:
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))
    else:
        tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets))


def test_ways_of_each_launch() -> None:
    x, out = torch.randn(BLOCK), torch.zeros(BLOCK)
    for flag in (1, 1, 1, 0, 0, 0, 1):
        assert simulate(chosen, (1,), torch.tensor([flag], dtype=torch.int32), x, out, BLOCK).faults == ()
        assert torch.equal(out, x if flag else -x)


@triton.jit
def shifted(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets + 1, tl.load(x_ptr + offsets))


def test_races_of_each_launch() -> None:
    """Tensors of one form, that lie in the same memory or not."""
    memory, other = torch.arange(65.0), torch.zeros(65)
    for out, kinds in ((other, []), (memory, [FaultKind.LANES_READ_WRITE, FaultKind.RACE_READ_WRITE])) * 3:
        found = simulate(shifted, (4,), memory, out, BLOCK).faults
        assert [fault.kind for fault in found] == kinds
        memory.copy_(torch.arange(65.0))


def test_what_nobody_wrote_in_each_launch() -> None:
    with FreshMemory():
        for kinds in ([], [FaultKind.UNDEFINED_STORED]) * 3:
            x, out = torch.empty(40), torch.empty(40)
            x[: 10 if kinds else 40] = 1.0
            found = simulate(scaled, (1,), x, out, 40, 1.0, BLOCK).faults
            assert [fault.kind for fault in found] == kinds
            assert sum(fault.count for fault in found) == (30 if kinds else 0)


@triton.jit
def meeting(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + tl.program_id(0)))


def test_programs_that_write_the_same_by_chance_or_not() -> None:
    for x, by_chance in (*[(torch.ones(4), True)] * 3, (torch.arange(4.0), False), (torch.ones(4), True)):
        (found,) = simulate(meeting, (4,), x, torch.zeros(1)).faults
        assert found.kind is FaultKind.RACE_WRITE_WRITE
        assert ("by chance" in found.detail) == by_chance
