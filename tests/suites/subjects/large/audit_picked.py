"""What targets pick from rows that may lie far apart: one kernel counts in 64 bits, one in 32."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def picked_kernel(x_ptr, targets_ptr, out_ptr, row_stride, col_stride, IS_WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    if target == 0:
        return
    cols = tl.arange(0, BLOCK)
    if IS_WIDE:
        cols = cols.to(tl.int64)
    x = tl.load(x_ptr + row * row_stride + cols * col_stride)
    tl.store(out_ptr + row, tl.sum(tl.where(cols == target, x, 0.0), axis=0))


def picked(x, targets, is_wide):
    targets = targets.contiguous()
    out = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device)
    picked_kernel[(x.shape[0],)](x, targets, out, x.stride(0), x.stride(1), IS_WIDE=is_wide, BLOCK=4096)
    return out


def wide(x, targets):
    return picked(x, targets, True)


def narrow(x, targets):
    return picked(x, targets, False)


inputs = [Tensor("rows", 4096), Tensor("rows", dtype="int64", high=4096)]
wide_subject = Subject(wide, inputs=inputs, dtypes=["float32"])
narrow_subject = Subject(narrow, inputs=inputs, dtypes=["float32"])
