"""Runs of equal neighbours in one long tensor: value and length of each, in the order of the runs, and their number.

Blocks count the runs that start in them, one program sums the counts up, and each block then writes its starts."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 128
SCAN = 32


@triton.jit
def starts_of(x_ptr, at, n, x_stride):
    mask = at < n
    x = tl.load(x_ptr + at * x_stride, mask=mask, other=0)
    before = tl.load(x_ptr + (at - 1) * x_stride, mask=mask & (at > 0), other=0)
    return x, mask & ((at == 0) | (x != before))


@triton.jit
def count_kernel(x_ptr, counts_ptr, n, x_stride, BLOCK: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    _, starts = starts_of(x_ptr, block * BLOCK + tl.arange(0, BLOCK), n, x_stride)
    tl.store(counts_ptr + block, tl.sum(starts.to(tl.int64), axis=0))


@triton.jit
def scan_kernel(counts_ptr, before_ptr, total_ptr, blocks, SCAN: tl.constexpr):
    carry = tl.full((), 0, tl.int64)
    for first in range(0, blocks, SCAN):
        block = first + tl.arange(0, SCAN)
        counts = tl.load(counts_ptr + block, mask=block < blocks, other=0)
        tl.store(before_ptr + block, carry + tl.cumsum(counts, axis=0) - counts, mask=block < blocks)
        carry += tl.sum(counts, axis=0)
    tl.store(total_ptr, carry)


@triton.jit
def emit_kernel(x_ptr, before_ptr, values_ptr, starts_ptr, n, x_stride, BLOCK: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    at = block * BLOCK + tl.arange(0, BLOCK)
    x, starts = starts_of(x_ptr, at, n, x_stride)
    run = tl.load(before_ptr + block) + tl.cumsum(starts.to(tl.int64), axis=0) - 1
    tl.store(values_ptr + run, x, mask=starts)
    tl.store(starts_ptr + run, at, mask=starts)


@triton.jit
def lengths_kernel(starts_ptr, total_ptr, lengths_ptr, n, BLOCK: tl.constexpr):
    run = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(total_ptr)
    start = tl.load(starts_ptr + run, mask=run < total, other=0)
    end = tl.load(starts_ptr + run + 1, mask=run + 1 < total, other=n)
    tl.store(lengths_ptr + run, tl.where(run < total, end - start, 0), mask=run < n)


def unique_runs(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x, (n): values, (n), in its dtype, lengths, (n), and the number of runs, (1), int64. What follows the last run in
    values and lengths is 0. NaN equals nothing, and a run of both zeros has the sign of its first."""
    if x.ndim != 1 or x.dtype == torch.bool or x.is_complex():
        raise ValueError("x has one dimension and holds numbers")
    n = x.numel()
    blocks = triton.cdiv(n, BLOCK)
    values = torch.zeros(n, dtype=x.dtype, device=x.device)
    lengths = torch.empty(n, dtype=torch.int64, device=x.device)
    total = torch.zeros(1, dtype=torch.int64, device=x.device)
    if n == 0:
        return values, lengths, total
    counts, before = torch.empty((2, blocks), dtype=torch.int64, device=x.device)
    starts = torch.empty(n, dtype=torch.int64, device=x.device)
    count_kernel[(blocks,)](x, counts, n, x.stride(0), BLOCK=BLOCK)
    scan_kernel[(1,)](counts, before, total, blocks, SCAN=SCAN)
    emit_kernel[(blocks,)](x, before, values, starts, n, x.stride(0), BLOCK=BLOCK)
    lengths_kernel[(triton.cdiv(n, BLOCK),)](starts, total, lengths, n, BLOCK=BLOCK)
    return values, lengths, total


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    n = x.numel()
    starts = torch.ones(n, dtype=torch.bool, device=x.device)
    starts[1:] = x[1:] != x[:-1]
    at = starts.nonzero()[:, 0]
    ends = torch.cat([at[1:], at.new_full((1,), n)])[: at.numel()]
    values = torch.zeros_like(x, memory_format=torch.contiguous_format)
    values[: at.numel()] = x[at]
    lengths = torch.zeros(n, dtype=torch.int64, device=x.device)
    lengths[: at.numel()] = ends - at
    return values, lengths, torch.full((1,), at.numel(), dtype=torch.int64, device=x.device)


def inputs(case: Case) -> tuple[torch.Tensor]:
    """Whole numbers from -1 to 1 that change at about every third element, or only rarely with an odd seed."""
    n = case["n"]
    generator = torch.Generator().manual_seed(case.seed)
    changes = torch.rand(n, generator=generator) < (0.01 if case.seed % 2 else 0.4)
    step = torch.randint(1, 3, (n,), generator=generator) * changes
    return ((step.cumsum(0) % 3 - 1).to(getattr(torch, case.dtype)).to(case.device),)


runs = Subject(
    unique_runs,
    reference=reference,
    inputs=inputs,
    name="unique_runs",
    sizes={"n": [1024, 1, 2, 129, 1000, 20000, 0]},
    dtypes=["float32", "float16", "int32"],
)
