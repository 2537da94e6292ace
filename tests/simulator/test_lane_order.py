"""Lanes of one program that meet at one place, and what makes them wait for each other."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the values")
pytest.importorskip("triton", reason="Triton compiles the kernels")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate
from tritonaudit.simulator.faults import FaultKind

N = 64


@triton.jit
def reversed_by_scratch(x_ptr, scratch_ptr, out_ptr, WAITS: tl.constexpr, N: tl.constexpr):
    lanes = tl.program_id(0) * N + tl.arange(0, N)
    mirrored = tl.program_id(0) * N + N - 1 - tl.arange(0, N)
    tl.store(scratch_ptr + lanes, tl.load(x_ptr + lanes))
    if WAITS:
        tl.debug_barrier()
    tl.store(out_ptr + lanes, tl.load(scratch_ptr + mirrored))


@triton.jit
def reversed_in_place(x_ptr, WAITS: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    if WAITS:
        tl.debug_barrier()
    tl.store(x_ptr + N - 1 - lanes, x)


@triton.jit
def zeroed_and_scattered(x_ptr, out_ptr, WAITS: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(out_ptr + lanes, 0.0)
    if WAITS:
        tl.debug_barrier()
    tl.store(out_ptr + (lanes * 7) % N, tl.load(x_ptr + lanes))


@triton.jit
def normalised_in_place(x_ptr, N: tl.constexpr):
    lanes = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    tl.store(x_ptr + lanes, x - tl.max(x, axis=0))


@triton.jit
def turned_behind_a_sum(x_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    total = tl.sum(x, axis=0)
    tl.store(x_ptr + (lanes + 1) % N, x / total)


@triton.jit
def transposed_in_place(x_ptr, N: tl.constexpr):
    places = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(x_ptr + places, tl.trans(tl.load(x_ptr + places)))


@triton.jit
def rounds(x_ptr, scratch_ptr, out_ptr, count, WAITS: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    for turn in range(count):
        tl.store(scratch_ptr + lanes, tl.load(x_ptr + turn * N + lanes))
        tl.debug_barrier()
        tl.store(out_ptr + turn * N + lanes, tl.load(scratch_ptr + (lanes + 1) % N))
        if WAITS:
            tl.debug_barrier()


@triton.jit
def one_by_one(x_ptr, out_ptr, total_ptr, WAITS: tl.constexpr, N: tl.constexpr):
    for place in range(N):
        tl.store(out_ptr + place, tl.load(x_ptr + place) * 2)
    if WAITS:
        tl.debug_barrier()
    tl.store(total_ptr, tl.sum(tl.load(out_ptr + tl.arange(0, N)), axis=0))


def kinds(kernel: Any, programs: int, *arguments: Any, **constants: Any) -> set[FaultKind]:
    return {fault.kind for fault in simulate(kernel, (programs,), *arguments, **constants).faults}


def numbers(count: int) -> torch.Tensor:
    return torch.arange(1.0, count + 1)


def test_what_another_lane_has_just_stored_is_loaded_too_early() -> None:
    tensors = [numbers(2 * N), torch.zeros(2 * N), torch.zeros(2 * N)]
    assert kinds(reversed_by_scratch, 2, *tensors, WAITS=False, N=N) == {FaultKind.LANES_READ_WRITE}
    assert kinds(reversed_by_scratch, 2, *tensors, WAITS=True, N=N) == set()


def test_what_another_lane_has_yet_to_load_is_stored_over() -> None:
    assert kinds(reversed_in_place, 1, numbers(N), WAITS=False, N=N) == {FaultKind.LANES_READ_WRITE}
    assert kinds(reversed_in_place, 1, numbers(N), WAITS=True, N=N) == set()


def test_a_store_that_changes_nothing_harms_nobody() -> None:
    assert kinds(reversed_in_place, 1, torch.ones(N), WAITS=False, N=N) == set()


def test_two_stores_of_different_lanes() -> None:
    tensors = [numbers(N), torch.zeros(N)]
    assert kinds(zeroed_and_scattered, 1, *tensors, WAITS=False, N=N) == {FaultKind.LANES_WRITE_WRITE}
    assert kinds(zeroed_and_scattered, 1, *tensors, WAITS=True, N=N) == set()


def test_each_lane_may_meet_itself() -> None:
    assert kinds(normalised_in_place, 3, numbers(3 * N), N=N) == set()


def test_where_values_go_from_lane_to_lane_all_lanes_wait() -> None:
    assert kinds(turned_behind_a_sum, 1, numbers(N), N=N) == set()
    assert kinds(transposed_in_place, 1, numbers(16 * 16), N=16) == set()


def test_the_next_round_of_a_loop_meets_the_last() -> None:
    def tensors() -> list[torch.Tensor]:
        return [numbers(3 * N), torch.zeros(N), torch.zeros(3 * N)]

    assert kinds(rounds, 1, *tensors(), 3, WAITS=False, N=N) == {FaultKind.LANES_READ_WRITE}
    assert kinds(rounds, 1, *tensors(), 3, WAITS=True, N=N) == set()
    assert kinds(rounds, 1, *tensors(), 1, WAITS=False, N=N) == set()


def test_the_other_access_is_named_and_each_launch_tells() -> None:
    for _ in range(3):
        (fault,) = simulate(reversed_in_place, (1,), numbers(N), WAITS=False, N=N).faults
        assert fault.location is not None
        (other,) = fault.beside
        assert fault.location.line - other.line == 3


def test_a_scalar_is_the_first_threads() -> None:
    assert kinds(one_by_one, 1, numbers(N), torch.zeros(N), torch.zeros(1), WAITS=False, N=N) == {
        FaultKind.LANES_READ_WRITE
    }
    assert kinds(one_by_one, 1, numbers(N), torch.zeros(N), torch.zeros(1), WAITS=True, N=N) == set()
    assert kinds(one_by_one, 1, numbers(N), torch.zeros(N), torch.zeros(1), WAITS=False, N=16) == set()
