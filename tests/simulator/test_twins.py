"""Each mistake is found at its line, with the tensor, the program, the lane and the element; its twin has no fault."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton.language as tl

from tests.compile.programs import VERSION
from tests.simulator import twins
from tritonaudit import simulate
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.fresh import FreshMemory

Grid = tuple[int, ...]
Arguments = Sequence[Any]


@dataclass(frozen=True)
class Twin:
    """What is launched; `expected` is the one fault of its kind, without where it is."""

    wrong: Any
    right: Any
    grid: Grid
    arguments: Callable[[], Arguments]
    expected: Fault
    constants: dict[str, int] = field(default_factory=dict)
    right_arguments: Callable[[], Arguments] | None = None
    right_grid: Grid | None = None
    since: tuple[int, int] = (3, 2)
    until: tuple[int, int] = (99, 0)

    @property
    def is_supported(self) -> bool:
        return self.since <= VERSION < self.until


def fault(
    kind: FaultKind,
    tensor: str = "",
    program: tuple[int, int, int] = (0, 0, 0),
    lane: tuple[int, ...] = (),
    element: int | None = None,
    count: int = 1,
    other: tuple[int, int, int] | None = None,
) -> Fault:
    return Fault(kind, None, tensor, program, lane, element, other, count=count)


def numbers(*sizes: int) -> torch.Tensor:
    """Positive, and all of them different."""
    return torch.arange(1.0, 1 + torch.Size(sizes).numel()).reshape(sizes) / 8


def zeros(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(*sizes, dtype=dtype)


def partly_written(size: int, written: int) -> torch.Tensor:
    """Ones, of which the last ones are left to chance."""
    found = torch.empty(size, dtype=torch.int32)
    found[:written] = 1
    return found


def integers(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def neighbours(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors that lie side by side."""
    both = zeros(2 * size)
    return both[:size], both[size:]


def rows_of_a_wider_one() -> Arguments:
    return numbers(8, 16)[:, :10], 10, 16


def one_tensor() -> Arguments:
    x = numbers(100)
    return x, x, 100


def one_of_ones() -> Arguments:
    x = torch.ones(100)
    return x, x, 100


def overlapping() -> Arguments:
    both = numbers(190)
    return both[:100], both[90:], 100


OUT_OF_BOUNDS = [
    Twin(
        twins.shift_right, twins.shift_right_guarded, (4,),
        lambda: (numbers(100), zeros(100), 100),
        fault(FaultKind.OUT_OF_BOUNDS_LOAD, "x_ptr", lane=(0,), element=-1),
        {"BLOCK": 32},
    ),
    Twin(
        twins.fill_rows, twins.fill_rows_strided, (8,), rows_of_a_wider_one,
        fault(FaultKind.BETWEEN_ELEMENTS, "out_ptr", (1, 0, 0), (0,), 10, count=30),
        {"BLOCK": 16},
    ),
    Twin(
        twins.fill_rows, twins.fill_rows_strided, (5,),
        lambda: (neighbours(64)[0].view(4, 16), 16, 16),
        fault(FaultKind.OUT_OF_BOUNDS_STORE, "out_ptr", (4, 0, 0), (0,), 64, count=16),
        {"BLOCK": 16},
        right_grid=(4,),
    ),
    Twin(
        twins.tile_sum, twins.tile_sum_by_row, (1,),
        lambda: (numbers(12, 5), zeros(12), 12, 5),
        fault(FaultKind.OUT_OF_BOUNDS_LOAD, "x_ptr", lane=(5, 0), element=60, count=35),
        {"M": 16, "N": 8},
    ),
    Twin(
        twins.transpose, twins.transpose_masked_alike, (2, 2),
        lambda: (numbers(12, 10), zeros(10, 12), 12, 10),
        fault(FaultKind.OUT_OF_BOUNDS_STORE, "out_ptr", (0, 1, 0), (0, 2), 120, count=20),
        {"B": 8},
    ),
    Twin(
        twins.row_sums, twins.row_sums_masked, (4,),
        lambda: (numbers(4, 40), zeros(4), 40),
        fault(FaultKind.OUT_OF_BOUNDS_LOAD, "x_ptr", (3, 0, 0), (8,), 160, count=24),
        {"BLOCK": 32},
    ),
    Twin(
        twins.block_copy, twins.block_copy_checked, (2,),
        lambda: (numbers(6, 8), zeros(6, 8), 6, 8),
        fault(FaultKind.OUT_OF_BOUNDS_STORE, "out_ptr", (1, 0, 0), (2, 0), 48, count=16),
        {"M": 4, "N": 8},
        until=(3, 9),
    ),
    Twin(
        twins.described_copy, twins.described_copy_to_size, (2,),
        lambda: (numbers(6, 8), zeros(6, 8), 6, 8),
        fault(FaultKind.OUT_OF_BOUNDS_STORE, "out_ptr", (1, 0, 0), (2, 0), 48, count=16),
        {"M": 4, "N": 8},
        since=(3, 6),
    ),
    Twin(
        twins.histogram, twins.histogram_clamped, (2,),
        lambda: (integers(0, 1, 2, 3, 4, 7, 2, 1, 0, 9), zeros(8, dtype=torch.int32), 8, 10),
        fault(FaultKind.OUT_OF_BOUNDS_ATOMIC, "counts_ptr", (1, 0, 0), (1,), 9),
        {"BLOCK": 8},
    ),
    Twin(
        twins.wide_load, twins.wide_load, (1,),
        lambda: (torch.arange(64, dtype=torch.int16), zeros(16, dtype=torch.int32), 3),
        fault(FaultKind.MISALIGNED, "x_ptr", lane=(0,), element=3, count=16),
        {"BLOCK": 16},
        lambda: (torch.arange(64, dtype=torch.int16), zeros(16, dtype=torch.int32), 4),
    ),
]  # fmt: skip

UNDEFINED = [
    Twin(
        twins.accumulate, twins.double, (4,),
        lambda: (numbers(100), torch.empty(100), 100),
        fault(FaultKind.UNDEFINED_STORED, "out_ptr", lane=(0,), element=0, count=100),
        {"BLOCK": 32},
    ),
    Twin(
        twins.accumulate, twins.accumulate, (4,),
        lambda: (numbers(100), torch.empty(100), 100),
        fault(FaultKind.UNDEFINED_STORED, "out_ptr", lane=(0,), element=0, count=100),
        {"BLOCK": 32},
        lambda: (numbers(100), torch.empty(100).fill_(1), 100),
    ),
    Twin(
        twins.sum_of_exponentials, twins.sum_of_exponentials_padded, (1,),
        lambda: (numbers(20), zeros(1), 20),
        fault(FaultKind.UNDEFINED_STORED, "out_ptr", element=0),
        {"BLOCK": 32},
    ),
    Twin(
        twins.variance, twins.variance_of_lanes, (1,),
        lambda: (numbers(20), zeros(1), 20),
        fault(FaultKind.UNDEFINED_STORED, "out_ptr", element=0),
        {"BLOCK": 32},
    ),
    Twin(
        twins.least, twins.least_chosen, (1,),
        lambda: (numbers(20), zeros(1), 20),
        fault(FaultKind.UNDEFINED_STORED, "out_ptr", element=0),
        {"BLOCK": 32},
    ),
    Twin(
        twins.running_product, twins.running_product_forward, (1,),
        lambda: (numbers(20), zeros(20), 20),
        fault(FaultKind.UNDEFINED_STORED, "out_ptr", lane=(0,), element=0, count=20),
        {"BLOCK": 32},
    ),
    Twin(
        twins.where_least, twins.where_greatest, (1,),
        lambda: (numbers(20), zeros(1, dtype=torch.int32), 20),
        fault(FaultKind.UNDEFINED_STORED, "out_ptr", element=0),
        {"BLOCK": 32},
    ),
    Twin(
        twins.blocks_of_equals, twins.blocks_of_equals_chosen, (1,),
        lambda: (integers(3), numbers(3), zeros(1)),
        fault(FaultKind.UNDEFINED_STORED, "out_ptr", element=0),
        {"MOST": 4, "BLOCK": 16},
    ),
    Twin(
        twins.decays, twins.decays_from_the_end, (1,),
        lambda: (numbers(20), zeros(20), 20),
        fault(FaultKind.UNDEFINED_STORED, "out_ptr", lane=(0,), element=0, count=20),
        {"BLOCK": 32},
    ),
    Twin(
        twins.if_flagged, twins.if_flagged_or_not, (8,),
        lambda: (integers(1, 1, 0, 0, 1), zeros(8), 5),
        fault(FaultKind.UNDEFINED_BRANCH, program=(5, 0, 0), count=3),
    ),
    Twin(
        twins.gather, twins.gather_masked, (1,),
        lambda: (integers(3, 1, 2), numbers(4), zeros(3), 3),
        fault(FaultKind.UNDEFINED_ADDRESS, "x_ptr", lane=(3,), element=0),
        {"BLOCK": 4},
    ),
    Twin(
        twins.store_where_kept, twins.store_where_kept_of_all, (1,),
        lambda: (numbers(8), partly_written(8, 5), zeros(8), 5),
        fault(FaultKind.UNDEFINED_MASK, "out_ptr", lane=(5,), element=5, count=3),
        {"BLOCK": 8},
    ),
    Twin(
        twins.load_where_kept, twins.load_where_kept, (1,),
        lambda: (numbers(8), partly_written(8, 5), zeros(8), 7),
        fault(FaultKind.UNDEFINED_MASK, "x_ptr", lane=(5,), element=5, count=2),
        {"BLOCK": 8},
        lambda: (numbers(8), partly_written(8, 5), zeros(8), 5),
    ),
    Twin(
        twins.count_where_kept, twins.count_where_kept, (1,),
        lambda: (numbers(8), partly_written(8, 5), zeros(8), 7),
        fault(FaultKind.UNDEFINED_MASK, "out_ptr", lane=(5,), element=5, count=2),
        {"BLOCK": 8},
        lambda: (numbers(8), partly_written(8, 5), zeros(8), 5),
    ),
]  # fmt: skip

RACES = [
    Twin(
        twins.largest_of_rows, twins.largest_of_rows_together, (3, 2),
        lambda: (numbers(3, 32), zeros(3), 32),
        fault(FaultKind.RACE_WRITE_WRITE, "out_ptr", (0, 0, 0), element=0, count=3, other=(0, 1, 0)),
        {"BLOCK": 16},
    ),
    Twin(
        twins.largest_of_rows, twins.largest_of_rows, (3, 2),
        lambda: (numbers(3, 32), zeros(3), 32),
        fault(FaultKind.RACE_WRITE_WRITE, "out_ptr", (0, 0, 0), element=0, count=3, other=(0, 1, 0)),
        {"BLOCK": 16},
        right_grid=(3, 1),
    ),
    Twin(
        twins.shift_left, twins.shift_left, (4,), one_tensor,
        fault(FaultKind.RACE_READ_WRITE, "out_ptr", (1, 0, 0), (0,), 32, count=3, other=(0, 0, 0)),
        {"BLOCK": 32},
        lambda: (numbers(100), zeros(100), 100),
    ),
    Twin(
        twins.shift_left, twins.shift_left, (4,), one_tensor,
        fault(FaultKind.RACE_READ_WRITE, "out_ptr", (1, 0, 0), (0,), 32, count=3, other=(0, 0, 0)),
        {"BLOCK": 32},
        one_of_ones,
    ),
    Twin(
        twins.shift_left, twins.shift_left, (4,), overlapping,
        fault(FaultKind.RACE_READ_WRITE, "out_ptr", (0, 0, 0), (0,), 0, count=10, other=(2, 0, 0)),
        {"BLOCK": 32},
        lambda: (*neighbours(100), 100),
    ),
    Twin(
        twins.pairs, twins.pairs_within, (4,),
        lambda: (numbers(64), zeros(64), 64),
        fault(FaultKind.RACE_READ_WRITE, "out_ptr", (1, 0, 0), (0,), 15, count=3, other=(0, 0, 0)),
        {"BLOCK": 16},
    ),
    Twin(
        twins.last_adds_all, twins.last_adds_all_in_order, (4,),
        lambda: (numbers(64), zeros(4), integers(0), zeros(1)),
        fault(FaultKind.RACE_READ_WRITE, "parts_ptr", (3, 0, 0), (0,), 0, count=3, other=(0, 0, 0)),
        {"BLOCK": 16, "PROGRAMS": 4},
    ),
    Twin(
        twins.semaphore_of_a_program, twins.last_adds_all_in_order, (4,),
        lambda: (numbers(64), zeros(4), integers(0), zeros(1)),
        fault(FaultKind.RACE_READ_WRITE, "parts_ptr", (3, 0, 0), (0,), 0, count=3, other=(0, 0, 0)),
        {"BLOCK": 16, "PROGRAMS": 4},
    ),
    Twin(
        twins.locked_sum, twins.locked_sum_to_the_end, (4,),
        lambda: (numbers(64), integers(0), zeros(1)),
        fault(FaultKind.RACE_WRITE_WRITE, "out_ptr", (1, 0, 0), (), 0, count=3, other=(0, 0, 0)),
        {"BLOCK": 16},
    ),
    Twin(
        twins.split_product, twins.split_product_added, (2,),
        lambda: (numbers(16, 32), numbers(32, 16), zeros(16, 16), 32),
        fault(FaultKind.RACE_WRITE_WRITE, "c_ptr", (0, 0, 0), (0, 0), 0, count=256, other=(1, 0, 0)),
        {"B": 16},
    ),
]  # fmt: skip

LANES_AND_INTEGERS = [
    Twin(
        twins.scatter, twins.scatter, (1,),
        lambda: (integers(3, 1, 3, 0), numbers(4), zeros(4)),
        fault(FaultKind.LANES_COLLIDE, "out_ptr", lane=(0,), element=3),
        {"BLOCK": 4},
        lambda: (integers(3, 1, 2, 0), numbers(4), zeros(4)),
    ),
    Twin(
        twins.scatter, twins.scatter, (1,),
        lambda: (integers(3, 1, 3, 0), numbers(4), zeros(4)),
        fault(FaultKind.LANES_COLLIDE, "out_ptr", lane=(0,), element=3),
        {"BLOCK": 4},
        lambda: (integers(3, 1, 3, 0), torch.ones(4), zeros(4)),
    ),
    Twin(
        twins.row_products, twins.row_products_summed, (1,),
        lambda: (numbers(4, 8), numbers(8), zeros(4)),
        fault(FaultKind.LANES_COLLIDE, "out_ptr", lane=(0, 0), element=0, count=28),
        {"M": 4, "N": 8},
    ),
    Twin(
        twins.hashed, twins.hashed_wide, (1,),
        lambda: (numbers(100), zeros(64), 100),
        fault(FaultKind.OVERFLOW_ADDRESS, "x_ptr", lane=(54,), element=58, count=10),
        {"BLOCK": 64},
    ),
    Twin(
        twins.group_of, twins.group_of, (4,),
        lambda: (zeros(4, dtype=torch.int32), 4, 2),
        fault(FaultKind.DIVISION_BY_ZERO),
        right_arguments=lambda: (zeros(4, dtype=torch.int32), 2, 4),
    ),
    Twin(
        twins.remainders, twins.remainders_or_none, (1,),
        lambda: (integers(9, 8, 7, 6), integers(2, 0, 3, 0), zeros(4, dtype=torch.int32)),
        fault(FaultKind.DIVISION_BY_ZERO, lane=(1,), count=2),
        {"BLOCK": 4},
    ),
]  # fmt: skip

TWINS = [*OUT_OF_BOUNDS, *UNDEFINED, *RACES, *LANES_AND_INTEGERS]


def line_of(kernel: Any, mark: str) -> int | None:
    lines, first = inspect.getsourcelines(kernel.fn)
    return next((first + number for number, line in enumerate(lines) if f"# {mark}" in line), None)


def faults(kernel: Any, grid: Grid, arguments: Callable[[], Arguments], constants: dict[str, int]) -> list[Fault]:
    with FreshMemory():
        return list(simulate(kernel, grid, *arguments(), **constants).faults)


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: f"{twin.wrong.fn.__name__} {twin.expected.kind.name}")
def test_a_mistake_is_found_where_it_is(twin: Twin) -> None:
    if not twin.is_supported:
        pytest.skip("not a kernel of this Triton")
    found = faults(twin.wrong, twin.grid, twin.arguments, twin.constants)
    (one,) = [one for one in found if one.kind is twin.expected.kind]
    assert one.location is not None
    assert (one.location.path, one.location.line) == (twins.__file__, line_of(twin.wrong, "here"))
    expected = twin.expected
    assert (one.tensor, one.program, one.lane) == (expected.tensor, expected.program, expected.lane)
    assert (one.element, one.other, one.count) == (expected.element, expected.other, expected.count)
    if (origin := line_of(twin.wrong, "origin")) is not None:
        assert one.origin is not None
        assert one.origin.line == origin


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: f"{twin.right.fn.__name__} {twin.expected.kind.name}")
def test_its_twin_has_no_fault(twin: Twin) -> None:
    if not twin.is_supported:
        pytest.skip("not a kernel of this Triton")
    arguments = twin.right_arguments or twin.arguments
    assert faults(twin.right, twin.right_grid or twin.grid, arguments, twin.constants) == []


def test_rows_that_a_mask_leaves_out_as_a_whole_do_not_count_for_the_others() -> None:
    x, by = numbers(3, 16), integers(0, 3, 40).to(torch.float32)
    assert faults(twins.first_found, (1,), lambda: (x, by, zeros(3), 3), {"M": 8, "N": 16}) == []


def test_a_load_of_a_counter_that_others_move_on_races() -> None:
    count, out = integers(0), zeros(4, dtype=torch.int32)
    kinds = {one.kind for one in simulate(twins.ticket, (4,), count, out).faults}
    assert FaultKind.RACE_READ_WRITE in kinds
    count.zero_()
    assert simulate(twins.ticket_given, (4,), count, out).faults == ()
    assert sorted(out.tolist()) == [0, 1, 2, 3]


def test_a_grid_that_is_too_small_leaves_a_tail_that_the_next_launch_reads() -> None:
    def launches(programs: int) -> list[Fault]:
        with FreshMemory():
            between, out = torch.empty(100), torch.empty(100)
            first = simulate(twins.double, (programs,), numbers(100), between, 100, BLOCK=32)
            second = simulate(twins.double, (4,), between, out, 100, BLOCK=32)
        return [*first.faults, *second.faults]

    (found,) = launches(100 // 32)
    assert (found.kind, found.tensor) == (FaultKind.UNDEFINED_STORED, "out_ptr")
    assert (found.program, found.lane, found.element, found.count) == ((3, 0, 0), (0,), 96, 4)
    assert found.location is not None
    assert found.location.line == line_of(twins.double, "here")
    assert launches(-(-100 // 32)) == []


def test_what_atomics_add_up_depends_on_the_order_of_floats_alone() -> None:
    def total(dtype: torch.dtype, order: Any) -> float:
        x = (torch.randn(64, generator=torch.Generator().manual_seed(0)) * torch.logspace(-6, 6, 64)).to(dtype)
        out = zeros(1, dtype=dtype)
        assert simulate(_added, (64,), x, out, order=order).faults == ()
        return float(out.item())

    orders = ["forward", "reverse", 1, 2]
    assert len({total(torch.float32, order) for order in orders}) > 1
    assert len({total(torch.int32, order) for order in orders}) == 1


@twins.triton.jit
def _added(x_ptr, out_ptr):
    tl.atomic_add(out_ptr, tl.load(x_ptr + tl.program_id(0)))
