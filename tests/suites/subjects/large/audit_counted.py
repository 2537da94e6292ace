"""Rows that are picked and counted: of one kernel it is known where it goes, of the other an atomic says that."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def counted_kernel(x_ptr, targets_ptr, counts_ptr, out_ptr, row_stride, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    target = tl.load(targets_ptr + row)
    tl.atomic_add(counts_ptr + target, 1)
    x = tl.load(x_ptr + row * row_stride + cols)
    tl.store(out_ptr + row, tl.sum(tl.where(cols == target, x, 0.0), axis=0))


@triton.jit
def appended_kernel(x_ptr, targets_ptr, count_ptr, out_ptr, row_stride, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    target = tl.load(targets_ptr + row)
    x = tl.sum(tl.where(cols == target, tl.load(x_ptr + row * row_stride + cols), 0.0), axis=0)
    tl.store(out_ptr + tl.atomic_add(count_ptr, 1), x)


def counted(x, targets):
    x, targets = x.contiguous(), targets.contiguous()
    counts = torch.zeros(4096, dtype=torch.int32, device=x.device)
    out = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device)
    counted_kernel[(x.shape[0],)](x, targets, counts, out, x.stride(0), BLOCK=4096)
    return out, counts


def appended(x, targets):
    x, targets = x.contiguous(), targets.contiguous()
    count = torch.zeros(1, dtype=torch.int32, device=x.device)
    out = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device)
    appended_kernel[(x.shape[0],)](x, targets, count, out, x.stride(0), BLOCK=4096)
    return out.amax()


inputs = [Tensor("rows", 4096), Tensor("rows", dtype="int64", high=4096)]
counted_subject = Subject(counted, inputs=inputs, dtypes=["float32"])
appended_subject = Subject(appended, inputs=inputs, dtypes=["float32"])
