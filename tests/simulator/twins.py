"""Kernels as people write them, each with one mistake, and beside each its twin without.

The line of the mistake is marked `# here`, the one on which a value becomes undefined or wraps `# origin`.
"""

from __future__ import annotations

import triton
import triton.language as tl

# -- out of bounds -----------------------------------------------------------------------------------------------------


@triton.jit
def shift_right(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    before = tl.load(x_ptr + offsets - 1, mask=offsets < n, other=0.0)  # here
    tl.store(out_ptr + offsets, before, mask=offsets < n)


@triton.jit
def shift_right_guarded(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    before = tl.load(x_ptr + offsets - 1, mask=(offsets > 0) & (offsets < n), other=0.0)
    tl.store(out_ptr + offsets, before, mask=offsets < n)


@triton.jit
def fill_rows(out_ptr, columns, stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * columns + offsets, 1.0, mask=offsets < columns)  # here


@triton.jit
def fill_rows_strided(out_ptr, columns, stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * stride + offsets, 1.0, mask=offsets < columns)


@triton.jit
def tile_sum(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * m + columns, mask=(rows < m) & (columns < n), other=0.0)  # here
    tl.store(out_ptr + tl.arange(0, M), tl.sum(x, axis=1), mask=tl.arange(0, M) < m)


@triton.jit
def tile_sum_by_row(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * n + columns, mask=(rows < m) & (columns < n), other=0.0)
    tl.store(out_ptr + tl.arange(0, M), tl.sum(x, axis=1), mask=tl.arange(0, M) < m)


@triton.jit
def transpose(x_ptr, out_ptr, m, n, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    columns = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + rows * n + columns, mask=(rows < m) & (columns < n))
    tl.store(out_ptr + columns * m + rows, x, mask=(rows < n) & (columns < m))  # here


@triton.jit
def transpose_masked_alike(x_ptr, out_ptr, m, n, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    columns = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + rows * n + columns, mask=(rows < m) & (columns < n))
    tl.store(out_ptr + columns * m + rows, x, mask=(rows < m) & (columns < n))


@triton.jit
def row_sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + row * n + start + tl.arange(0, BLOCK))  # here
    tl.store(out_ptr + row, tl.sum(total, axis=0))


@triton.jit
def row_sums_masked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


@triton.jit
def block_copy(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M
    x = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (row, 0), (M, N), (1, 0))
    out = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (row, 0), (M, N), (1, 0))
    tl.store(out, tl.load(x, boundary_check=(0, 1)), boundary_check=(1,))  # here


@triton.jit
def block_copy_checked(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M
    x = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (row, 0), (M, N), (1, 0))
    out = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (row, 0), (M, N), (1, 0))
    tl.store(out, tl.load(x, boundary_check=(0, 1)), boundary_check=(0, 1))


@triton.jit
def described_copy(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N])
    out = tl.make_tensor_descriptor(out_ptr, [tl.cdiv(m, M) * M, n], [n, 1], [M, N])
    out.store([tl.program_id(0) * M, 0], x.load([tl.program_id(0) * M, 0]))  # here


@triton.jit
def described_copy_to_size(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    out.store([tl.program_id(0) * M, 0], x.load([tl.program_id(0) * M, 0]))


@triton.jit
def histogram(x_ptr, counts_ptr, bins, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_add(counts_ptr + x, 1, mask=offsets < n)  # here


@triton.jit
def histogram_clamped(x_ptr, counts_ptr, bins, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_add(counts_ptr + tl.minimum(x, bins - 1), 1, mask=offsets < n)


@triton.jit
def wide_load(x_ptr, out_ptr, start, BLOCK: tl.constexpr):
    halves = (x_ptr + start).to(tl.pointer_type(tl.int32))
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(halves + tl.arange(0, BLOCK)))  # here


# -- what nobody wrote -------------------------------------------------------------------------------------------------


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n, other=0.0) * 2, mask=offsets < n)  # here


@triton.jit
def accumulate(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    before = tl.load(out_ptr + offsets, mask=mask)  # origin
    tl.store(out_ptr + offsets, before + tl.load(x_ptr + offsets, mask=mask), mask=mask)  # here


@triton.jit
def sum_of_exponentials(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)  # origin
    tl.store(out_ptr, tl.sum(tl.exp(x), axis=0))  # here


@triton.jit
def sum_of_exponentials_padded(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=-float("inf"))
    tl.store(out_ptr, tl.sum(tl.exp(x), axis=0))


@triton.jit
def variance(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)  # origin
    apart = x - tl.sum(x, axis=0) / n
    tl.store(out_ptr, tl.sum(apart * apart, axis=0) / n)  # here


@triton.jit
def variance_of_lanes(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    apart = tl.where(offsets < n, x - tl.sum(x, axis=0) / n, 0.0)
    tl.store(out_ptr, tl.sum(apart * apart, axis=0) / n)


@triton.jit
def least(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)  # origin
    tl.store(out_ptr, tl.min(x, axis=0))  # here


@triton.jit
def least_chosen(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.where(offsets < n, tl.load(x_ptr + offsets, mask=offsets < n), float("inf"))
    tl.store(out_ptr, tl.min(x, axis=0))


@triton.jit
def running_product(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)  # origin
    tl.store(out_ptr + offsets, tl.cumprod(x, axis=0, reverse=True), mask=offsets < n)  # here


@triton.jit
def running_product_forward(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, tl.cumprod(x, axis=0), mask=offsets < n)


@triton.jit
def _first_least(a, i, b, j):
    takes = (a < b) | ((a == b) & (i < j))
    return tl.where(takes, a, b), tl.where(takes, i, j)


@triton.jit
def where_least(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)  # origin
    _, place = tl.reduce((x, offsets), 0, _first_least)
    tl.store(out_ptr, place)  # here


@triton.jit
def _first_greatest(a, i, b, j):
    takes = (a > b) | ((a == b) & (i < j))
    return tl.where(takes, a, b), tl.where(takes, i, j)


@triton.jit
def where_greatest(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    _, place = tl.reduce((x, offsets), 0, _first_greatest)
    tl.store(out_ptr, place)


@triton.jit
def first_found(x_ptr, by_ptr, out_ptr, m, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    by = tl.load(by_ptr + rows, mask=rows < m)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=rows[:, None] < m)
    place = tl.argmax((x > by[:, None]).to(tl.int32), axis=1)
    tl.store(out_ptr + rows, tl.load(x_ptr + rows * N + place, mask=rows < m), mask=rows < m)


@triton.jit
def blocks_of_equals(count_ptr, x_ptr, out_ptr, MOST: tl.constexpr, BLOCK: tl.constexpr):
    count = tl.load(count_ptr)
    total = 0.0
    for block in range(MOST):
        start = tl.load(x_ptr + block, mask=block < count)  # origin
        total += tl.sum(tl.exp(tl.zeros([BLOCK], tl.float32) + start), axis=0)
    tl.store(out_ptr, total)  # here


@triton.jit
def blocks_of_equals_chosen(count_ptr, x_ptr, out_ptr, MOST: tl.constexpr, BLOCK: tl.constexpr):
    count = tl.load(count_ptr)
    total = 0.0
    for block in range(MOST):
        start = tl.load(x_ptr + block, mask=block < count)
        equals = tl.exp(tl.zeros([BLOCK], tl.float32) + start)
        total += tl.sum(tl.where(block < count, equals, 0.0), axis=0)
    tl.store(out_ptr, total)


@triton.jit
def _recurrence(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def decays(a_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offsets, mask=offsets < n)  # origin
    total, _ = tl.associative_scan((a, a), 0, _recurrence, reverse=True)
    tl.store(out_ptr + offsets, total, mask=offsets < n)  # here


@triton.jit
def decays_from_the_end(a_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offsets, mask=offsets < n, other=1.0)
    total, _ = tl.associative_scan((a, a), 0, _recurrence, reverse=True)
    tl.store(out_ptr + offsets, total, mask=offsets < n)


@triton.jit
def if_flagged(flags_ptr, out_ptr, n):
    program = tl.program_id(0)
    if tl.load(flags_ptr + program, mask=program < n) != 0:  # here
        tl.store(out_ptr + program, 1.0)


@triton.jit
def if_flagged_or_not(flags_ptr, out_ptr, n):
    program = tl.program_id(0)
    if tl.load(flags_ptr + program, mask=program < n, other=0) != 0:
        tl.store(out_ptr + program, 1.0)


@triton.jit
def gather(index_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offsets, mask=offsets < n)  # origin
    x = tl.load(x_ptr + index)  # here
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@triton.jit
def gather_masked(index_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offsets, mask=offsets < n)
    x = tl.load(x_ptr + index, mask=offsets < n)
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@triton.jit
def store_where_kept(x_ptr, kept_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    kept = tl.load(kept_ptr + offsets)  # origin
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets), mask=kept != 0)  # here


@triton.jit
def store_where_kept_of_all(x_ptr, kept_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    kept = tl.load(kept_ptr + offsets)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets), mask=(kept != 0) & (offsets < n))


@triton.jit
def load_where_kept(x_ptr, kept_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    kept = tl.load(kept_ptr + offsets, mask=offsets < n, other=0)  # origin
    x = tl.load(x_ptr + offsets, mask=kept > 0, other=0.0)  # here
    tl.store(out_ptr + offsets, x)


@triton.jit
def count_where_kept(x_ptr, kept_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    kept = tl.load(kept_ptr + offsets, mask=offsets < n, other=0)  # origin
    tl.atomic_add(out_ptr + offsets, 1.0, mask=kept > 0)  # here


# -- programs that get in each other's way -----------------------------------------------------------------------------


@triton.jit
def largest_of_rows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    columns = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf"))
    tl.store(out_ptr + row, tl.max(x, axis=0))  # here


@triton.jit
def largest_of_rows_together(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    columns = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf"))
    tl.atomic_max(out_ptr + row, tl.max(x, axis=0))


@triton.jit
def shift_left(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    after = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.debug_barrier()
    tl.store(out_ptr + offsets, after, mask=offsets < n)  # here


@triton.jit
def pairs(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)
    tl.debug_barrier()
    left = tl.load(out_ptr + offsets - 1, mask=offsets > 0, other=0.0)  # here
    tl.store(x_ptr + offsets, left)


@triton.jit
def pairs_within(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * BLOCK + lanes
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)
    tl.debug_barrier()
    left = tl.load(out_ptr + offsets - 1, mask=lanes > 0, other=0.0)
    tl.store(x_ptr + offsets, left)


@triton.jit
def ticket(count_ptr, out_ptr):
    tl.atomic_add(count_ptr, 1)
    tl.store(out_ptr + tl.load(count_ptr) - 1, tl.program_id(0))  # here


@triton.jit
def ticket_given(count_ptr, out_ptr):
    tl.store(out_ptr + tl.atomic_add(count_ptr, 1), tl.program_id(0))


@triton.jit
def last_adds_all(x_ptr, parts_ptr, count_ptr, out_ptr, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    program = tl.program_id(0)
    tl.store(parts_ptr + program, tl.sum(tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK)), axis=0))
    if tl.atomic_add(count_ptr, 1, sem="relaxed") == PROGRAMS - 1:
        parts = tl.load(parts_ptr + tl.arange(0, PROGRAMS))  # here
        tl.store(out_ptr, tl.sum(parts, axis=0))


@triton.jit
def last_adds_all_in_order(x_ptr, parts_ptr, count_ptr, out_ptr, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    program = tl.program_id(0)
    tl.store(parts_ptr + program, tl.sum(tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK)), axis=0))
    if tl.atomic_add(count_ptr, 1, sem="acq_rel") == PROGRAMS - 1:
        parts = tl.load(parts_ptr + tl.arange(0, PROGRAMS))
        tl.store(out_ptr, tl.sum(parts, axis=0))


@triton.jit
def semaphore_of_a_program(x_ptr, parts_ptr, count_ptr, out_ptr, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    program = tl.program_id(0)
    tl.store(parts_ptr + program, tl.sum(tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK)), axis=0))
    if tl.atomic_add(count_ptr, 1, scope="cta") == PROGRAMS - 1:
        parts = tl.load(parts_ptr + tl.arange(0, PROGRAMS))  # here
        tl.store(out_ptr, tl.sum(parts, axis=0))


@triton.jit
def locked_sum(x_ptr, lock_ptr, out_ptr, BLOCK: tl.constexpr):
    total = tl.sum(tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), axis=0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    before = tl.load(out_ptr)
    tl.atomic_xchg(lock_ptr, 0)
    tl.store(out_ptr, before + total)  # here


@triton.jit
def locked_sum_to_the_end(x_ptr, lock_ptr, out_ptr, BLOCK: tl.constexpr):
    total = tl.sum(tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), axis=0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr, tl.load(out_ptr) + total)
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def split_product(a_ptr, b_ptr, c_ptr, k, B: tl.constexpr):
    lanes, start = tl.arange(0, B), tl.program_id(0) * B
    a = tl.load(a_ptr + lanes[:, None] * k + start + lanes[None, :])
    b = tl.load(b_ptr + (start + lanes[:, None]) * B + lanes[None, :])
    tl.store(c_ptr + lanes[:, None] * B + lanes[None, :], tl.dot(a, b))  # here


@triton.jit
def split_product_added(a_ptr, b_ptr, c_ptr, k, B: tl.constexpr):
    lanes, start = tl.arange(0, B), tl.program_id(0) * B
    a = tl.load(a_ptr + lanes[:, None] * k + start + lanes[None, :])
    b = tl.load(b_ptr + (start + lanes[:, None]) * B + lanes[None, :])
    tl.atomic_add(c_ptr + lanes[:, None] * B + lanes[None, :], tl.dot(a, b))


# -- lanes that get in each other's way --------------------------------------------------------------------------------


@triton.jit
def scatter(index_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.load(index_ptr + offsets), tl.load(x_ptr + offsets))  # here


@triton.jit
def row_products(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    products = tl.load(x_ptr + rows * N + columns) * tl.load(y_ptr + columns)
    tl.store(out_ptr + rows + columns * 0, products)  # here


@triton.jit
def row_products_summed(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)[None, :]
    products = tl.load(x_ptr + rows[:, None] * N + columns) * tl.load(y_ptr + columns)
    tl.store(out_ptr + rows, tl.sum(products, axis=1))


# -- integers ----------------------------------------------------------------------------------------------------------


@triton.jit
def hashed(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = (offsets * 40503001) % n  # origin
    tl.store(out_ptr + offsets, tl.load(x_ptr + tl.where(place < 0, place + n, place)))  # here


@triton.jit
def hashed_wide(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = (offsets.to(tl.int64) * 40503001) % n
    tl.store(out_ptr + offsets, tl.load(x_ptr + tl.where(place < 0, place + n, place)))


@triton.jit
def group_of(out_ptr, heads, groups):
    tl.store(out_ptr + tl.program_id(0), tl.program_id(0) // (groups // heads))  # here


@triton.jit
def remainders(x_ptr, by_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    by = tl.load(by_ptr + offsets)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) % by)  # here


@triton.jit
def remainders_or_none(x_ptr, by_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    by = tl.load(by_ptr + offsets)
    tl.store(out_ptr + offsets, tl.where(by == 0, 0, tl.load(x_ptr + offsets) % tl.where(by == 0, 1, by)))
