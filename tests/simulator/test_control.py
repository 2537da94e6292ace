"""Programs, and lanes, that go different ways give what each would give alone."""

from __future__ import annotations

import linecache

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tests.simulator.kernels import VERSION, mapping, mapping_with_branches
from tritonaudit import simulate
from tritonaudit.simulator.faults import FaultKind

PROGRAMS = 300


def numbers() -> torch.Tensor:
    return torch.arange(PROGRAMS, dtype=torch.int32)


def out() -> torch.Tensor:
    return torch.full((PROGRAMS,), -1, dtype=torch.int32)


@triton.jit
def branching(x_ptr, out_ptr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program)
    if x % 3 == 0:
        y = x * 2
    elif x % 3 == 1:
        y = x + program
    else:
        y = -x
    tl.store(out_ptr + program, y)


def test_branches() -> None:
    result = out()
    assert simulate(branching, (PROGRAMS,), numbers(), result).faults == ()
    assert result.tolist() == [(n * 2, n + n, -n)[n % 3] for n in range(PROGRAMS)]


@triton.jit
def collatz(x_ptr, out_ptr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program) + 1
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x //= 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(out_ptr + program, steps)


def test_loops_that_end_when_they_like() -> None:
    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    result = out()
    assert simulate(collatz, (PROGRAMS,), numbers(), result).faults == ()
    assert result.tolist() == [steps(n + 1) for n in range(PROGRAMS)]


@triton.jit
def triangular(x_ptr, out_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.int32)
    for row in range(program % 7, program, 2):
        total += tl.load(x_ptr + row) + tl.arange(0, BLOCK)
    tl.store(out_ptr + program, tl.sum(total, axis=0))


def test_loops_with_bounds_of_each_program() -> None:
    result = out()
    assert simulate(triangular, (PROGRAMS,), numbers(), result, BLOCK=4).faults == ()
    assert result.tolist() == [sum(4 * row + 6 for row in range(n % 7, n, 2)) for n in range(PROGRAMS)]


@triton.jit
def returning(x_ptr, out_ptr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program)
    if x % 5 == 4:
        tl.store(out_ptr + program, -7)
        return
    if x % 2 == 0:
        x += 1000
        if x % 3 == 0:
            return
    tl.store(out_ptr + program, x)


def test_early_returns() -> None:
    def expected(n: int) -> int:
        if n % 5 == 4:
            return -7
        return n if n % 2 else (-1 if (n + 1000) % 3 == 0 else n + 1000)

    result = out()
    assert simulate(returning, (PROGRAMS,), numbers(), result).faults == ()
    assert result.tolist() == [expected(n) for n in range(PROGRAMS)]


@triton.jit
def locked(lock_ptr, out_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr, tl.load(out_ptr) + tl.program_id(0))
    tl.atomic_xchg(lock_ptr, 0)


def test_programs_that_wait_for_each_other() -> None:
    lock, total = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    assert simulate(locked, (PROGRAMS,), lock, total).faults == ()
    assert total.item() == sum(range(PROGRAMS))


@pytest.mark.skipif(VERSION < (3, 6), reason="this Triton has no tl.map_elementwise")
def test_lanes_that_go_different_ways() -> None:
    def expected(a: float) -> float:
        if a > 1 and a * 2 > 7:
            return a
        return (a + 0 + 1 + 2) * 3

    x = torch.linspace(-5, 5, 64)
    wanted = torch.tensor([expected(a) for a in x.tolist()])
    assert simulate(mapping_with_branches, (1,), x, N=64).faults == ()
    torch.testing.assert_close(x, wanted)
    low, high = torch.rand(64), torch.rand(64)
    wanted_low, wanted_high = torch.minimum(low, high), torch.maximum(low, high)
    simulate(mapping, (1,), low, high, N=64)
    assert torch.equal(low, wanted_low)
    assert torch.equal(high, wanted_high)


@triton.jit
def ordered(a, b, c, d):
    """The smaller of two neighbours of both operands comes first."""
    return min(a, b), max(a, b), min(c, d), max(c, d)


@triton.jit
def mapping_pairs(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.map_elementwise(ordered, tl.load(x_ptr + i), tl.load(y_ptr + i), pack=2)
    tl.store(x_ptr + i, x)
    tl.store(y_ptr + i, y)


@pytest.mark.skipif(VERSION < (3, 6), reason="this Triton has no tl.map_elementwise")
def test_functions_of_several_lanes() -> None:
    x, y = torch.randn(2, 64, generator=torch.Generator().manual_seed(0)).unbind()
    wanted = [one.reshape(-1, 2).sort(1).values.flatten() for one in (x.clone(), y.clone())]
    assert simulate(mapping_pairs, (1,), x, y, N=64).faults == ()
    assert torch.equal(x, wanted[0])
    assert torch.equal(y, wanted[1])


@triton.jit
def waiting_for_the_next(flag_ptr, out_ptr, programs):
    program = tl.program_id(0)
    if program < programs - 1:
        while tl.atomic_add(flag_ptr + program + 1, 0) == 0:
            pass
        tl.store(out_ptr + program, tl.load(out_ptr + program + 1) + 1)
    tl.atomic_xchg(flag_ptr + program, 1)


def test_programs_that_wait_for_later_ones() -> None:
    flags, found = torch.zeros(PROGRAMS, dtype=torch.int32), out()
    found.zero_()
    assert simulate(waiting_for_the_next, (PROGRAMS,), flags, found, PROGRAMS).faults == ()
    assert found.tolist() == list(range(PROGRAMS))[::-1]


@triton.jit
def waiting_for_itself(flag_ptr, out_ptr):
    while tl.atomic_cas(flag_ptr, 1, 1) != 1:
        pass
    tl.store(out_ptr + tl.program_id(0), 1)
    tl.atomic_xchg(flag_ptr, 1)


def test_programs_that_wait_for_ever() -> None:
    flag, found, programs = torch.zeros(1, dtype=torch.int32), out(), 30
    (fault,) = simulate(waiting_for_itself, (programs,), flag, found).faults
    assert (fault.kind, fault.count, fault.program) == (FaultKind.WAITS_FOREVER, programs, (0, 0, 0))
    assert fault.location is not None
    assert "while tl.atomic_cas" in linecache.getline(fault.location.path, fault.location.line)
