"""Launches on tensors that do not fit into memory: where accesses go is known without it, what they load is not."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.memory import address_space

FAR = 1 << 31
MANY = 2_800_000_001


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def wide_copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def copy_by_cut_offsets(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets.to(tl.int32), mask=mask), mask=mask)


@triton.jit
def copy_by_unsigned_offsets(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets.to(tl.uint32), mask=mask), mask=mask)


@triton.jit
def unmasked_copy(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@triton.jit
def product(a_ptr, b_ptr, c_ptr, k, a_stride, b_stride, c_stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    a = a_ptr + rows[:, None] * a_stride + inner[None, :]
    b = b_ptr + inner[:, None] * b_stride + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        total += tl.dot(tl.load(a), tl.load(b))
        a += K
        b += K * b_stride
    tl.store(c_ptr + rows[:, None] * c_stride + columns[None, :], total)


@triton.jit
def gather(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offsets)
    tl.store(out_ptr + offsets, tl.load(x_ptr + index))


@triton.jit
def branching(x_ptr, out_ptr, shift):
    first = tl.load(x_ptr)
    place = tl.program_id(0)
    if first > 0:
        place += 1
        tl.store(out_ptr + FAR_AWAY, 1.0)
    tl.store(out_ptr + shift, first)
    tl.store(out_ptr + place, first)


@triton.jit
def counted_rows(x_ptr, index_ptr, counts_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    row, lanes = tl.load(index_ptr + tl.program_id(0)), tl.arange(0, BLOCK)
    tl.atomic_add(counts_ptr + row, 1)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + lanes, tl.load(x_ptr + row * stride + lanes))


@triton.jit
def where_flagged(x_ptr, flag_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    flags = tl.load(flag_ptr + offsets, mask=offsets < n, other=0.0)
    x = tl.load(x_ptr + offsets, mask=(flags > 0) & (offsets < n))
    tl.store(out_ptr + offsets, x, mask=(flags > 0) & (offsets < n))


FAR_AWAY = tl.constexpr(1 << 40)


@triton.jit
def returning(x_ptr, out_ptr, shift):
    first = 0.0
    if tl.program_id(0) > 1:
        first = tl.load(x_ptr)
    if first > 0:
        return
    tl.store(out_ptr + tl.program_id(0) * shift, 1.0)


@triton.jit
def looping(n_ptr, out_ptr, shift):
    total = 0
    for i in range(tl.load(n_ptr)):
        tl.store(out_ptr + i + FAR_AWAY, 1.0)
        total += i
    tl.store(out_ptr + total, 1.0)
    tl.store(out_ptr + shift, 1.0)


@triton.jit
def waiting(flag_ptr, out_ptr, shift):
    rounds = 0
    while tl.load(flag_ptr + rounds) == 0:
        rounds += 1
    tl.store(out_ptr + rounds, 1.0)
    tl.store(out_ptr + shift, 1.0)


@triton.jit
def masked_by(x_ptr, flag_ptr, out_ptr, shift, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    mask = tl.load(flag_ptr + lanes) > 0
    tl.store(out_ptr + shift + lanes, tl.load(x_ptr + shift + lanes, mask=mask), mask=mask)
    tl.store(out_ptr + shift + lanes, 1.0)


@triton.jit
def counting(count_ptr, out_ptr, shift):
    place = tl.atomic_add(count_ptr, 1)
    tl.atomic_add(out_ptr + shift, 1.0)
    tl.store(out_ptr + place, 1.0)


@triton.jit
def in_place(x_ptr, out_ptr):
    tl.store(x_ptr + tl.program_id(0), 7)
    tl.store(out_ptr + tl.load(x_ptr + tl.program_id(0)), 1.0)


@triton.jit
def as_pairs(x_ptr, out_ptr, shift):
    pairs = (x_ptr + shift).to(tl.pointer_type(tl.int64))
    tl.store(out_ptr, tl.load(pairs + tl.program_id(0).to(tl.int64) * FAR_PAIRS).to(tl.float32))


FAR_PAIRS = tl.constexpr(1 << 29)


@triton.jit
def total(x_ptr, out_ptr, n, IS_MASKED: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    at = x_ptr + lanes
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        x = tl.load(at, mask=start + lanes < n, other=0.0) if IS_MASKED else tl.load(at)
        sums += x + tl.load(x_ptr + start + lanes, mask=start + lanes < n, other=0.0)
        at += BLOCK
    tl.store(out_ptr, tl.sum(sums, 0))


@triton.jit
def rows_of(x_ptr, out_ptr, rows, stride, IS_CARRIED: tl.constexpr):
    offset = 0
    last = 0.0
    for row in range(rows):
        last = tl.load(x_ptr + (offset if IS_CARRIED else row * stride))
        offset += stride
    tl.store(out_ptr, last)


@triton.jit
def halving(x_ptr, out_ptr, n):
    place = 0
    total = 0
    for i in range(n):
        place = place // 2 + i
        total += i
        tl.store(out_ptr + i * 4, 1.0)
    tl.store(out_ptr + place, 1.0)


@triton.jit
def stepping(x_ptr, out_ptr, n, shift, BLOCK: tl.constexpr):
    start = n * 0
    while start < n:
        tl.store(out_ptr + start + tl.arange(0, BLOCK), 1.0)
        start += BLOCK
    tl.store(out_ptr + start, 1.0)
    tl.store(x_ptr + shift, 1.0)


def vast(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*sizes, dtype=dtype, device="meta")


def kinds(faults: tuple[Fault, ...]) -> list[FaultKind]:
    return [fault.kind for fault in faults]


def test_an_offset_that_overflows_is_found_in_the_first_program_that_has_one() -> None:
    found = simulate(copy, (triton.cdiv(MANY, 1024),), vast(MANY), vast(MANY), MANY, BLOCK=1024)
    overflows = [fault for fault in found.faults if fault.kind is FaultKind.OVERFLOW_ADDRESS]
    assert len(overflows) == 2
    assert {fault.program for fault in overflows} == {(FAR // 1024, 0, 0)}
    assert ("offsets", -FAR) in [value for step in overflows[0].chain for value in step.values]


def test_the_same_with_64_bits_is_silent_and_looked_at_on_both_sides() -> None:
    programs = triton.cdiv(MANY, 1024)
    found = simulate(wide_copy, (programs,), vast(MANY), vast(MANY), MANY, BLOCK=1024)
    assert found.faults == found.undecided == ()
    assert found.programs is not None
    assert {(0, 0, 0), (FAR // 1024 - 1, 0, 0), (FAR // 1024, 0, 0), (programs - 1, 0, 0)} <= set(found.programs)
    assert len(found.programs) < 20


def test_an_offset_that_loses_its_upper_half_is_one_that_overflows() -> None:
    found = simulate(copy_by_cut_offsets, (triton.cdiv(MANY, 1024),), vast(MANY), vast(MANY), MANY, BLOCK=1024)
    (overflow,) = (fault for fault in found.faults if fault.kind is FaultKind.OVERFLOW_ADDRESS)
    assert overflow.program == (FAR // 1024, 0, 0)


def test_one_that_is_read_without_its_sign_is_not() -> None:
    found = simulate(copy_by_unsigned_offsets, (triton.cdiv(MANY, 1024),), vast(MANY), vast(MANY), MANY, BLOCK=1024)
    assert FaultKind.OVERFLOW_ADDRESS not in kinds(found.faults)


def test_the_tail_of_the_last_program_is_out_of_bounds() -> None:
    found = simulate(unmasked_copy, (triton.cdiv(MANY, 1024),), vast(MANY), vast(MANY), BLOCK=1024)
    assert kinds(found.faults) == [FaultKind.OUT_OF_BOUNDS_LOAD, FaultKind.OUT_OF_BOUNDS_STORE]
    assert found.faults[0].element == MANY
    assert found.faults[0].program == (triton.cdiv(MANY, 1024) - 1, 0, 0)


def test_what_lies_between_the_rows_of_a_view_is_not_its() -> None:
    x = vast(1 << 20, 4096)[:, :4000]
    found = simulate(unmasked_copy, (x.numel() // 1024,), x, vast(x.numel()), BLOCK=1024)
    assert kinds(found.faults) == [FaultKind.BETWEEN_ELEMENTS]
    assert found.faults[0].tensor == "x_ptr"
    assert found.faults[0].element is not None
    assert found.faults[0].element % 4096 >= 4000


def test_a_view_of_rows_is_followed_along_both_axes() -> None:
    rows, k = 1 << 21, 1 << 11
    a, b, c = vast(rows, k, dtype=torch.float16), vast(k, 256, dtype=torch.float16), vast(rows, 256)
    strides = (a.stride(0), b.stride(0), c.stride(0))
    grid = (rows // 64, 256 // 64)
    found = simulate(product, grid, a, b, c, k, *strides, M=64, N=64, K=512)
    assert kinds(found.faults) == [FaultKind.OVERFLOW_ADDRESS]
    assert found.faults[0].program[0] == FAR // k // 64
    assert simulate(product, (1 << 14, 4), a, b, c, k, *strides, M=64, N=64, K=512).faults == ()


def test_a_known_index_is_followed_into_a_tensor_without_memory() -> None:
    index = torch.tensor([0, 5, MANY - 1, MANY])
    found = simulate(gather, (1,), vast(MANY), index, torch.zeros(4), BLOCK=4)
    assert kinds(found.faults) == [FaultKind.OUT_OF_BOUNDS_LOAD]
    assert (found.faults[0].lane, found.faults[0].element) == ((3,), MANY)
    assert found.undecided == ()


def test_an_index_that_is_not_known_is_said() -> None:
    found = simulate(gather, (MANY // 1024,), vast(1000), vast(MANY, dtype=torch.int64), vast(MANY), BLOCK=1024)
    assert kinds(found.undecided) == [FaultKind.UNKNOWN_ADDRESS]
    assert found.undecided[0].origin is not None
    assert found.faults == ()


def undecided_and_faults(kernel: Any, *args: Any, **kwargs: Any) -> tuple[list[FaultKind], list[FaultKind]]:
    silent = simulate(kernel, (4,), *args, 0, **kwargs)
    found = simulate(kernel, (4,), *args, MANY, **kwargs)
    assert silent.faults == ()
    assert kinds(silent.undecided) == kinds(found.undecided)
    return kinds(found.undecided), kinds(found.faults)


def test_a_branch_that_is_not_known_is_not_followed_but_the_rest_is() -> None:
    undecided, faults = undecided_and_faults(branching, vast(4), vast(64))
    assert undecided == [FaultKind.UNKNOWN_BRANCH, FaultKind.UNKNOWN_ADDRESS]
    assert faults == [FaultKind.OUT_OF_BOUNDS_STORE]


def test_a_return_that_is_not_known_ends_what_is_reported() -> None:
    found = simulate(returning, (4,), vast(4), vast(64), 40)
    assert kinds(found.undecided) == [FaultKind.UNKNOWN_BRANCH]
    assert found.undecided[0].count == 2
    assert found.faults == ()
    assert kinds(simulate(returning, (2,), vast(4), vast(64), 64).faults) == [FaultKind.OUT_OF_BOUNDS_STORE]


def test_a_loop_whose_bound_is_not_known_is_not_followed_but_the_rest_is() -> None:
    undecided, faults = undecided_and_faults(looping, vast(4, dtype=torch.int32), vast(64))
    assert undecided == [FaultKind.UNKNOWN_BRANCH, FaultKind.UNKNOWN_ADDRESS]
    assert faults == [FaultKind.OUT_OF_BOUNDS_STORE]


def test_a_loop_whose_end_is_not_known_is_not_followed_but_the_rest_is() -> None:
    undecided, faults = undecided_and_faults(waiting, vast(4, dtype=torch.int32), vast(64))
    assert undecided == [FaultKind.UNKNOWN_BRANCH, FaultKind.UNKNOWN_ADDRESS]
    assert faults == [FaultKind.OUT_OF_BOUNDS_STORE]


def test_a_mask_that_is_not_known_is_said_where_it_matters() -> None:
    arguments = vast(64), vast(64), vast(64)
    found = simulate(masked_by, (4,), *arguments, MANY, BLOCK=16)
    assert kinds(found.undecided) == [FaultKind.UNKNOWN_MASK, FaultKind.UNKNOWN_MASK]
    assert kinds(found.faults) == [FaultKind.OUT_OF_BOUNDS_STORE]
    found = simulate(masked_by, (4,), *arguments, 0, BLOCK=16)
    assert found.undecided == found.faults == ()


@pytest.mark.parametrize("rows", [1000, 1 << 20])
def test_indices_beside_an_atomic_are_known(rows: int) -> None:
    index = torch.tensor([5, 0, 999, 7], dtype=torch.int32)
    counts = torch.zeros(rows, dtype=torch.int32)
    found = simulate(counted_rows, (4,), vast(rows, 4096), index, counts, vast(4, 64), 4096, BLOCK=64)
    assert found.undecided == found.faults == ()
    index[2] = rows - 1
    found = simulate(counted_rows, (4,), vast(rows, 4096), index, counts, vast(4, 64), 4096, BLOCK=64)
    assert found.undecided == ()
    assert kinds(found.faults) == [FaultKind.OVERFLOW_ADDRESS] * (rows * 4096 > FAR)
    assert counts.eq(0).all()


def test_lanes_that_are_known_to_be_left_out_are_not_in_question() -> None:
    found = simulate(where_flagged, (4,), vast(1000), vast(1000), vast(1000), 1000, BLOCK=256)
    assert found.undecided == found.faults == ()
    found = simulate(where_flagged, (4,), vast(1000), vast(1000), vast(999), 1000, BLOCK=256)
    assert kinds(found.undecided) == [FaultKind.UNKNOWN_MASK]
    assert found.undecided[0].origin is not None


@triton.jit
def triangles(a_ptr, b_ptr, c_ptr, m, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, K)
    a = tl.where(rows[:, None] > inner[None, :], tl.load(a_ptr + rows[:, None] * K + inner[None, :]), 0.0)
    b = tl.where(columns[None, :] > inner[:, None], tl.load(b_ptr + inner[:, None] * N + columns[None, :]), 0.0)
    tl.store(c_ptr + rows[:, None] * stride + columns[None, :], tl.dot(a, b), mask=rows[:, None] < m)


def test_a_product_of_blocks_that_are_known_in_part() -> None:
    m = 64
    a, b = torch.empty(m, 16, device="meta"), torch.empty(16, 64, device="meta")
    c = torch.empty(m, 1 << 30, device="meta")
    found = simulate(triangles, (2,), a, b, c, m, 1 << 30, M=32, N=64, K=16)
    assert [fault.kind for fault in found.faults] == [FaultKind.OVERFLOW_ADDRESS]


def test_what_an_atomic_gives_is_not_known() -> None:
    undecided, faults = undecided_and_faults(counting, torch.zeros(1, dtype=torch.int32), vast(64))
    assert undecided == [FaultKind.UNKNOWN_ADDRESS]
    assert faults == [FaultKind.OUT_OF_BOUNDS_ATOMIC]


def test_a_tensor_that_is_written_is_not_known_and_stays_as_it_is() -> None:
    x = torch.arange(4)
    found = simulate(in_place, (4,), x, vast(8))
    assert kinds(found.undecided) == [FaultKind.UNKNOWN_ADDRESS]
    assert found.faults == ()
    assert x.tolist() == [0, 1, 2, 3]


def test_an_access_that_is_not_aligned() -> None:
    x = vast(MANY, dtype=torch.int32)
    assert kinds(simulate(as_pairs, (2,), x, vast(8), 3).faults) == [FaultKind.MISALIGNED]
    assert simulate(as_pairs, (2,), x, vast(8), 4).faults == ()


def test_the_programs_that_are_asked_for() -> None:
    found = simulate(copy, (triton.cdiv(MANY, 1024),), vast(MANY), vast(MANY), MANY, BLOCK=1024, order=[7, 2_500_000])
    assert found.programs == ((7, 0, 0), (2_500_000, 0, 0))
    assert {fault.program for fault in found.faults} == {(2_500_000, 0, 0)}


def test_a_launch_with_memory_runs_all_of_its_programs() -> None:
    found = simulate(wide_copy, (4,), torch.ones(64), torch.empty(64), 64, BLOCK=16)
    assert found.programs is None


@triton.jit
def wrapped_rows(x_ptr, out_ptr, rows, k, stride, shift, M: tl.constexpr, K: tl.constexpr):
    row = (tl.program_id(0) * M + tl.arange(0, M)) % rows
    inner = tl.arange(0, K)
    at = x_ptr + row[:, None] * stride + inner[None, :]
    sums = tl.zeros([M], tl.float32)
    for _ in range(0, k, K):
        sums += tl.sum(tl.load(at + shift), 1)
        at += K
    tl.store(out_ptr + tl.program_id(0) * M + tl.arange(0, M), sums)


@pytest.mark.parametrize("shift", [0, 1])
def test_rows_that_wrap_around_are_followed_through_a_long_loop(shift: int) -> None:
    rows, k = 1000, 1 << 20
    x = vast(rows, k)
    found = simulate(wrapped_rows, (8,), x, vast(1024), rows, k, k, shift, M=128, K=1 << 12)
    assert found.undecided == ()
    assert kinds(found.faults) == [FaultKind.OUT_OF_BOUNDS_LOAD] * shift
    if shift:
        assert (found.faults[0].program, found.faults[0].element) == ((7, 0, 0), rows * k)


@pytest.mark.parametrize("is_masked", [True, False])
def test_a_loop_over_all_of_a_tensor_is_looked_at_here_and_there(is_masked: bool) -> None:
    found = simulate(total, (1,), vast(MANY), vast(1), MANY, IS_MASKED=is_masked, BLOCK=64)
    assert found.undecided == ()
    if is_masked:
        assert found.faults == ()
    else:
        assert kinds(found.faults) == [FaultKind.OUT_OF_BOUNDS_LOAD]
        assert (found.faults[0].element, found.faults[0].lane) == (MANY, (MANY % 64,))


@pytest.mark.parametrize("is_carried", [True, False])
def test_an_offset_that_overflows_in_a_late_round(is_carried: bool) -> None:
    rows, stride = 1 << 20, 4096
    found = simulate(rows_of, (1,), vast(rows, stride), vast(1), rows, stride, IS_CARRIED=is_carried)
    assert kinds(found.faults) == [FaultKind.OVERFLOW_ADDRESS]
    held = dict(value for step in found.faults[0].chain for value in step.values)
    assert held["row"] > FAR // stride
    assert not is_carried or held["offset"] != held["row"] * stride
    rows //= 2
    assert simulate(rows_of, (1,), vast(rows, stride), vast(1), rows, stride, IS_CARRIED=is_carried).faults == ()


def test_what_a_long_loop_makes_of_a_value_is_not_known() -> None:
    found = simulate(halving, (1,), vast(4), vast(4_000_000), 1_000_000)
    assert kinds(found.undecided) == [FaultKind.UNKNOWN_ADDRESS]
    assert found.faults == ()
    assert kinds(simulate(halving, (1,), vast(4), vast(3_999_996), 1_000_000).faults) == [FaultKind.OUT_OF_BOUNDS_STORE]


def test_a_long_loop_without_a_counter_is_not_followed_to_its_end() -> None:
    found = simulate(stepping, (2,), vast(4), vast(MANY), MANY, 4, BLOCK=16)
    assert kinds(found.undecided) == [FaultKind.LONG_LOOP, FaultKind.UNKNOWN_ADDRESS]
    assert kinds(found.faults) == [FaultKind.OUT_OF_BOUNDS_STORE]


VIEWS = (
    lambda x: x[:, ::3],
    lambda x: x[2:11, 5:9],
    lambda x: x.t()[1::2],
    lambda x: x[:, None, ::4].expand(12, 5, 5),
    lambda x: x[::5, 3:4],
    lambda x: x.reshape(3, 4, 20).permute(2, 0, 1)[::2, 1:],
    lambda x: x[:, 7],
    lambda x: x.as_strided((20, 8), (5, 1)),
)


@pytest.mark.parametrize("view", VIEWS)
def test_holes_are_reckoned_as_they_are_seen(view: Any) -> None:
    there, absent = (
        address_space([(0, "x", view(torch.zeros(12, 20, device=device)))])[0] for device in ("cpu", "meta")
    )
    assert there is not None
    assert absent is not None
    assert (there.low, there.high, there.is_dense) == (absent.low, absent.high, absent.is_dense)
    positions = torch.arange(there.low, there.high, 4)
    assert there.is_dense or absent.is_between(positions).equal(there.is_between(positions))
    assert there.is_dense != bool(there.is_between(positions).any())


def test_a_view_without_memory_whose_axes_overlap_is_said() -> None:
    x = torch.as_strided(vast(1 << 20), (1 << 10, 1 << 10, 4), (7, 3, 2))
    with pytest.raises(NotSimulated, match="overlap"):
        simulate(unmasked_copy, (2,), x, vast(2048), BLOCK=1024)
