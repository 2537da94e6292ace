"""What goes wrong in a launch is found at its line, with the tensor, the program and the element."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate
from tritonaudit.simulator.faults import Fault, FaultKind

BLOCK = 256


@triton.jit
def unmasked_load(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)  # here
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@triton.jit
def unmasked_store(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, x)  # here


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)  # here


@triton.jit
def one_total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0)
    tl.store(out_ptr, total)  # here


@triton.jit
def added_total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0)
    tl.store(out_ptr, tl.load(out_ptr) + total)  # here


@triton.jit
def atomic_total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0)
    tl.atomic_add(out_ptr, total)


@triton.jit
def last_program_total(x_ptr, parts_ptr, count_ptr, out_ptr, n, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts_ptr + program, tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0))
    if tl.atomic_add(count_ptr, 1) == PROGRAMS - 1:
        tl.store(out_ptr, tl.sum(tl.load(parts_ptr + tl.arange(0, PROGRAMS)), axis=0))


@triton.jit
def padded_max(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr, tl.max(x, axis=0))  # here


@triton.jit
def padded_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr, tl.sum(x, axis=0))


@triton.jit
def doubled_lanes(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets // 2, tl.load(x_ptr + offsets, mask=offsets < n, other=0.0))  # here


@triton.jit
def divided(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) // n)  # here


@triton.jit
def by_index(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, tl.load(x_ptr + index, mask=offsets < n), mask=offsets < n)  # here


@triton.jit
def stored_where_loaded(x_ptr, kept_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    kept = tl.load(kept_ptr + offsets, mask=offsets < n) != 0
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=kept, other=0.0), mask=kept)  # here


@triton.jit
def loaded_where_loaded(x_ptr, kept_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    kept = tl.load(kept_ptr + offsets, mask=offsets < n) != 0
    left = not_kept(kept_ptr, offsets, n) | (offsets >= n)
    x = tl.load(x_ptr + offsets, mask=kept, other=0.0)
    tl.store(out_ptr + offsets, tl.where(left, 0.0, x), mask=offsets < n)


@triton.jit
def not_kept(kept_ptr, offsets, n):
    return tl.load(kept_ptr + offsets, mask=offsets < n) == 0


@triton.jit
def repeated(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    row = tl.program_id(1) * tl.num_programs(0) * BLOCK
    tl.store(out_ptr + row + offsets, x + row)  # here


def line_of(kernel: Any) -> int:
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(number for number, line in enumerate(lines) if "# here" in line)


def faults(kernel: Any, grid: tuple[int, ...], *args: Any, **kwargs: Any) -> list[Fault]:
    return list(simulate(kernel, grid, *args, **kwargs).faults)


def fault_of(kind: FaultKind, kernel: Any, grid: tuple[int, ...], *args: Any, **kwargs: Any) -> Fault:
    (found,) = [fault for fault in faults(kernel, grid, *args, **kwargs) if fault.kind is kind]
    assert found.location is not None
    assert found.location.path == __file__
    assert found.location.line == line_of(kernel)
    return found


def ones(*sizes: int) -> torch.Tensor:
    return torch.ones(*sizes)


def test_a_load_past_the_end() -> None:
    found = fault_of(FaultKind.OUT_OF_BOUNDS_LOAD, unmasked_load, (4,), ones(1000), ones(1000), 1000, BLOCK=BLOCK)
    assert (found.tensor, found.program, found.lane, found.element, found.count) == (
        "x_ptr",
        (3, 0, 0),
        (232,),
        1000,
        24,
    )


def test_a_store_past_the_end_changes_nothing_there() -> None:
    whole = torch.zeros(1100)
    found = fault_of(FaultKind.OUT_OF_BOUNDS_STORE, unmasked_store, (4,), ones(1000), whole[:1000], 1000, BLOCK=BLOCK)
    assert (found.tensor, found.element, found.count) == ("out_ptr", 1000, 24)
    assert whole[:1000].eq(1).all()
    assert whole[1000:].eq(0).all()


def test_a_neighbour_in_the_same_storage_is_out_of_bounds() -> None:
    both = ones(4096)
    found = fault_of(FaultKind.OUT_OF_BOUNDS_LOAD, copy, (4,), both[:1000], both[2000:3024], 1024, BLOCK=BLOCK)
    assert (found.tensor, found.element) == ("x_ptr", 1000)


def test_what_lies_between_the_elements_of_a_view_is_not_its() -> None:
    found = fault_of(FaultKind.BETWEEN_ELEMENTS, copy, (1,), ones(64, 64)[:, ::2], ones(2048), 256, BLOCK=BLOCK)
    assert (found.tensor, found.element) == ("x_ptr", 1)


def test_a_view_that_ends_early_is_read_to_its_end_without_a_word() -> None:
    assert faults(copy, (4,), ones(5000)[100:1100], torch.empty(1000), 1000, BLOCK=BLOCK) == []


def test_programs_that_write_one_element_race() -> None:
    x = torch.arange(1000.0)
    found = fault_of(FaultKind.RACE_WRITE_WRITE, one_total, (4,), x, torch.zeros(1), 1000, BLOCK=BLOCK)
    assert (found.tensor, found.element) == ("out_ptr", 0)
    assert found.other is not None


def test_programs_that_write_the_same_by_chance_race() -> None:
    for before in (0.0, 1.0):
        (found,) = faults(one_total, (4,), torch.zeros(1000), torch.full((1,), before), 1000, BLOCK=BLOCK)
        assert found.kind is FaultKind.RACE_WRITE_WRITE
        assert "by chance" in found.detail


def test_a_mask_of_lanes_that_were_left_out_is_reported_where_memory_changes() -> None:
    arguments = ones(128), ones(100), torch.zeros(128), 100
    found = fault_of(FaultKind.MASKED_MASK, stored_where_loaded, (1,), *arguments, BLOCK=128)
    assert (found.lane, found.count) == ((100,), 28)
    assert faults(loaded_where_loaded, (1,), *arguments, BLOCK=128) == []


def test_a_sum_without_an_atomic_races() -> None:
    kinds = {fault.kind for fault in faults(added_total, (4,), torch.arange(1000.0), torch.zeros(1), 1000, BLOCK=BLOCK)}
    assert kinds == {FaultKind.RACE_WRITE_WRITE, FaultKind.RACE_READ_WRITE}


@pytest.mark.parametrize("is_checked", [True, False])
def test_rows_of_programs_that_share_what_they_read_do_not_race(is_checked: bool) -> None:
    storage = torch.arange(4.0 * 2 * BLOCK)
    x, out = storage[: 2 * BLOCK], storage[2 * BLOCK :]
    assert simulate(repeated, (2, 3), x, out, BLOCK=BLOCK, checks=is_checked).faults == ()
    assert torch.equal(out.reshape(3, -1), x + torch.tensor([[0.0], [2 * BLOCK], [4 * BLOCK]]))


def test_what_other_rows_of_programs_read_must_not_be_written() -> None:
    storage = torch.arange(4.0 * 2 * BLOCK)
    x, out = storage[2 * BLOCK : 4 * BLOCK], storage[: 6 * BLOCK]
    found = fault_of(FaultKind.RACE_READ_WRITE, repeated, (2, 3), x, out, BLOCK=BLOCK)
    assert (found.tensor, found.element, found.program) == ("out_ptr", 2 * BLOCK, (0, 1, 0))


def test_an_atomic_sum_does_not_race() -> None:
    x, out = torch.arange(1000.0), torch.zeros(1)
    assert faults(atomic_total, (4,), x, out, 1000, BLOCK=BLOCK) == []
    assert out.item() == x.sum().item()


def test_an_atomic_orders_what_was_written_before_it() -> None:
    x, parts, out = torch.arange(1000.0), torch.zeros(4), torch.zeros(1)
    count = torch.zeros(1, dtype=torch.int32)
    assert faults(last_program_total, (4,), x, parts, count, out, 1000, PROGRAMS=4, BLOCK=BLOCK) == []
    assert out.item() == x.sum().item()


def test_lanes_left_out_count_where_they_change_the_result() -> None:
    found = fault_of(FaultKind.UNDEFINED_STORED, padded_max, (1,), -ones(100), torch.zeros(1), 100, BLOCK=128)
    assert found.origin is not None
    assert found.origin.line == line_of(padded_max) - 1
    assert faults(padded_max, (1,), ones(100), torch.zeros(1), 100, BLOCK=128) == []
    assert faults(padded_sum, (1,), -ones(100), torch.zeros(1), 100, BLOCK=128) == []


def test_lanes_of_one_store_that_disagree_collide() -> None:
    found = fault_of(
        FaultKind.LANES_COLLIDE, doubled_lanes, (1,), torch.arange(256.0), torch.zeros(256), 256, BLOCK=256
    )
    assert found.tensor == "out_ptr"
    assert faults(doubled_lanes, (1,), ones(256), torch.zeros(256), 256, BLOCK=256) == []


def test_a_division_by_zero() -> None:
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    fault_of(FaultKind.DIVISION_BY_ZERO, divided, (1,), x, out, 0, BLOCK=16)
    assert faults(divided, (1,), x, out, 3, BLOCK=16) == []
    assert out.tolist() == [n // 3 for n in range(16)]


def test_an_index_outside_of_the_tensor() -> None:
    index = torch.tensor([0, 5, -1, 99, 3], dtype=torch.int64)
    found = fault_of(FaultKind.OUT_OF_BOUNDS_LOAD, by_index, (1,), ones(10), index, torch.zeros(5), 5, BLOCK=8)
    assert (found.tensor, found.element, found.count) == ("x_ptr", -1, 2)
    assert found.lane == (2,)


@triton.jit
def picked(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.load(index_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + index, mask=index >= 0, other=-1.0))


@pytest.mark.parametrize("kept", [slice(0, 1), slice(4095, 4096), slice(2000, 3000, 7), slice(0, 0)], ids=str)
def test_lanes_that_are_left_out_may_point_anywhere(kept: slice) -> None:
    index = torch.full((4096,), -(10**6), dtype=torch.int32)
    index[kept] = torch.arange(4096, dtype=torch.int32)[kept] % 100
    x, out = torch.randn(100), torch.zeros(4096)
    assert simulate(picked, (1,), x, index, out, BLOCK=4096).faults == ()
    assert torch.equal(out, torch.where(index >= 0, x[index.clamp(min=0).long()], -1.0))
