"""Atomics of newer Tritons: loads, stores and waiting."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate
from tritonaudit.simulator.faults import FaultKind

pytestmark = pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="this Triton has no tl.atomic_poll")

PROGRAMS = 5
BLOCK = 8


@triton.jit
def handed_on(flag, x, out, SEM: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    tl.atomic_poll(flag, program, sem=SEM)
    i = tl.arange(0, BLOCK)
    total = tl.load(out + i) + tl.load(x + i) * program
    tl.store(out + i, total)
    tl.atomic_store(flag, program + 1, sem="release")


def test_programs_that_wait_for_each_other_in_turn() -> None:
    flag, x, out = torch.zeros(1, dtype=torch.int32), torch.arange(float(BLOCK)), torch.zeros(BLOCK)
    assert simulate(handed_on, (PROGRAMS,), flag, x, out, "acquire", BLOCK).faults == ()
    assert flag.item() == PROGRAMS
    assert torch.equal(out, x * sum(range(PROGRAMS)))


def test_waiting_without_acquiring_orders_nothing() -> None:
    flag, x, out = torch.zeros(1, dtype=torch.int32), torch.arange(float(BLOCK)), torch.zeros(BLOCK)
    kinds = {fault.kind for fault in simulate(handed_on, (PROGRAMS,), flag, x, out, "relaxed", BLOCK).faults}
    assert FaultKind.RACE_READ_WRITE in kinds


@triton.jit
def waits_for_the_next(flag, out):
    program = tl.program_id(0)
    tl.atomic_poll(flag, tl.num_programs(0) - 1 - program)
    tl.store(out + program, tl.atomic_load(flag))
    tl.atomic_store(flag, tl.num_programs(0) - program)


def test_programs_that_wait_for_later_ones() -> None:
    out = torch.full((PROGRAMS,), -1, dtype=torch.int32)
    assert simulate(waits_for_the_next, (PROGRAMS,), torch.zeros(1, dtype=torch.int32), out).faults == ()
    assert out.tolist() == list(range(PROGRAMS))[::-1]


def test_a_wait_that_does_not_end_is_a_fault() -> None:
    (fault,) = simulate(waits_for_the_next, (2,), torch.full((1,), 7, dtype=torch.int32), torch.zeros(2)).faults
    assert (fault.kind, fault.count) == (FaultKind.WAITS_FOREVER, 2)


@triton.jit
def waits_for_a_while(flag, out):
    tl.store(out, tl.atomic_poll(flag, 1, timeout_ns=1000))
    tl.store(out + 1, tl.atomic_poll(flag, 7, timeout_ns=1000))


def test_a_wait_may_be_in_vain() -> None:
    out = torch.full((2,), -1, dtype=torch.int32)
    simulate(waits_for_a_while, (1,), torch.full((1,), 7, dtype=torch.int32), out)
    assert out.tolist() == [0, 1]


@triton.jit
def exchanged(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_store(out + i, i * 10, mask=i < n)
    tl.store(x + i, tl.atomic_load(out + i, mask=i >= 2), mask=i >= 2)


def test_atomic_loads_and_stores_have_masks() -> None:
    x, out = torch.zeros(BLOCK, dtype=torch.int32), torch.full((BLOCK,), -1, dtype=torch.int32)
    assert simulate(exchanged, (1,), x, out, 5, BLOCK).faults == ()
    assert out.tolist() == [0, 10, 20, 30, 40, -1, -1, -1]
    assert x.tolist() == [0, 0, 20, 30, 40, -1, -1, -1]
