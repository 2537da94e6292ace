"""The programs of a launch run in the order that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate
from tritonaudit.simulator.programs import Order, chunks


@triton.jit
def total(x_ptr, out_ptr):
    tl.atomic_add(out_ptr, tl.load(x_ptr + tl.program_id(0)))


@triton.jit
def last(out_ptr):
    tl.store(out_ptr, tl.program_id(0) + 10 * tl.program_id(1))


@triton.jit
def places(count_ptr, out_ptr):
    tl.store(out_ptr + tl.program_id(0), tl.atomic_add(count_ptr, 1))


@triton.jit
def row_sums(x_ptr, out_ptr, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * row_stride + tl.arange(0, BLOCK) * col_stride)
    tl.store(out_ptr + row, tl.sum(tl.exp(x), axis=0))


ORDERS: Sequence[Order] = ("forward", "reverse", 0, 1, 2, [3, 1, 2, 0, *range(4, 64)])


def totals(x: torch.Tensor) -> set[float]:
    outs = [torch.zeros(1, dtype=x.dtype) for _ in ORDERS]
    for order, out in zip(ORDERS, outs, strict=True):
        simulate(total, (len(x),), x, out, order=order)
    return {out.item() for out in outs}


def test_a_sum_of_floats_depends_on_the_order() -> None:
    x = torch.randn(64, generator=torch.Generator().manual_seed(3)) * 1000
    assert len(totals(x)) > 1
    assert all(abs(one - x.double().sum().item()) < 0.01 for one in totals(x))


def test_a_sum_of_integers_does_not() -> None:
    x = torch.randint(-1000, 1000, (64,), generator=torch.Generator().manual_seed(3), dtype=torch.int32)
    assert totals(x) == {x.sum().item()}


@pytest.mark.parametrize("strides", [(64, 1), (1, 64)], ids=["rows", "columns"])
def test_a_sum_within_a_program_does_not_either(strides: tuple[int, int]) -> None:
    x = torch.randn(64 * 64, generator=torch.Generator().manual_seed(3))
    outs = [torch.zeros(64) for _ in ORDERS]
    for order, out in zip(ORDERS, outs, strict=True):
        simulate(row_sums, (64,), x, out, *strides, BLOCK=64, order=order)
    assert all(torch.equal(out, outs[0]) for out in outs)


@pytest.mark.parametrize(
    ("order", "expected"), [("forward", [0, 1, 2, 3]), ("reverse", [3, 2, 1, 0]), ([2, 0, 3, 1], [1, 3, 0, 2])]
)
def test_atomics_take_their_turns_in_the_order(order: Order, expected: list[int]) -> None:
    out = torch.zeros(4, dtype=torch.int32)
    simulate(places, (4,), torch.zeros(1, dtype=torch.int32), out, order=order)
    assert out.tolist() == expected


@pytest.mark.parametrize(("order", "expected"), [("forward", 32), ("reverse", 0), ([9, 4, 7], 21)])
def test_the_last_program_of_the_order_writes_last(order: Order, expected: int) -> None:
    out = torch.zeros(1, dtype=torch.int32)
    simulate(last, (3, 4), out, order=order)
    assert out.item() == expected


def test_a_seed_gives_the_same_order_again() -> None:
    first, second = (torch.zeros(50, dtype=torch.int32) for _ in range(2))
    for out in (first, second):
        simulate(places, (50,), torch.zeros(1, dtype=torch.int32), out, order=7)
    assert first.equal(second)
    assert sorted(first.tolist()) == list(range(50))
    assert first.tolist() != list(range(50))


def test_programs_that_are_not_named_do_not_run() -> None:
    out = torch.full((4,), -1, dtype=torch.int32)
    simulate(places, (4,), torch.zeros(1, dtype=torch.int32), out, order=[2])
    assert out.tolist() == [-1, -1, 0, -1]


@pytest.mark.parametrize("order", ["backwards", [0, 4], [-1], [1, 1]])
def test_an_order_that_there_is_not(order: Order) -> None:
    with pytest.raises(ValueError, match="order"):
        simulate(places, (4,), torch.zeros(1, dtype=torch.int32), torch.zeros(4, dtype=torch.int32), order=order)


@triton.jit
def mirrored(x_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    start = tl.program_id(0) * N
    x = tl.load(x_ptr + start + (N - 1 - lanes))
    tl.store(out_ptr + start + (N - 1 - lanes), x * 2)
    tl.debug_barrier()
    tl.store(x_ptr + start + lanes, x)


@pytest.mark.parametrize("order", ["forward", "reverse", 5])
def test_addresses_that_fall_from_lane_to_lane(order: Order) -> None:
    x, out = torch.arange(48.0), torch.zeros(48)
    assert simulate(mirrored, (6,), x, out, N=8, order=order).faults == ()
    assert out.equal(torch.arange(48.0) * 2)
    assert x.equal(torch.arange(48.0).reshape(6, 8).flip(1).reshape(-1))


def test_programs_whose_turn_has_not_come_take_no_memory() -> None:
    first = next(chunks((2**31 - 1, 65535, 1), 100))
    assert first.numbers.tolist() == list(range(100))


@pytest.mark.parametrize("grid", [(0, 1, 1), (7, 1, 1), (40, 3, 1), (3, 5, 2)])
@pytest.mark.parametrize("size", [1, 16, 1000])
def test_each_program_has_one_turn(grid: tuple[int, int, int], size: int) -> None:
    together = [chunk.numbers.tolist() for chunk in chunks(grid, size)]
    assert [number for numbers in together for number in numbers] == list(range(prod(grid)))
    assert all(0 < len(numbers) <= size for numbers in together)


@pytest.mark.parametrize("grid", [(7, 1, 1), (1, 9, 1), (1, 1, 5), (40, 3, 1), (3, 5, 2), (1, 4, 3)])
@pytest.mark.parametrize("size", [1, 3, 16, 1000])
def test_ids_are_those_of_the_numbers(grid: tuple[int, int, int], size: int) -> None:
    for chunk in chunks(grid, size):
        ids = [axis.tensor(torch.int64).expand(len(chunk)).tolist() for axis in chunk.ids]
        assert list(zip(*ids, strict=True)) == [chunk.id(place) for place in range(len(chunk))]
