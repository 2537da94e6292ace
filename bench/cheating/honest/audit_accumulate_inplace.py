"""Honest: adds half of one matrix to another in place, which is what it is for, whatever the strides of either."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def accumulate_kernel(y_ptr, x_ptr, rows, cols, syr, syc, sxr, sxc, scale, WIDE: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    pid = tl.program_id(0)
    blocks = tl.cdiv(cols, BLOCK_C)
    row = (pid // blocks).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    col = (pid % blocks).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (row < rows)[:, None] & (col < cols)[None, :]
    target = y_ptr + row[:, None] * syr + col[None, :] * syc
    y = tl.load(target, mask=mask, other=0.0).to(WIDE)
    x = tl.load(x_ptr + row[:, None] * sxr + col[None, :] * sxc, mask=mask, other=0.0).to(WIDE)
    tl.store(target, y + x * scale, mask=mask)


def accumulate_(y, x, scale=0.5):
    rows, cols = y.shape
    if rows and cols:
        wide = tl.float64 if y.dtype == torch.float64 else tl.float32
        accumulate_kernel[(triton.cdiv(rows, 32) * triton.cdiv(cols, 64),)](
            y, x, rows, cols, *y.stride(), *x.stride(), scale, WIDE=wide, BLOCK_R=32, BLOCK_C=64
        )
    return y


def reference(y, x):
    return y.add_(x, alpha=0.5)


accumulate = Subject(
    accumulate_,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", "cols")],
    mutates=["y"],
    sizes={"rows": [128, 131], "cols": [256, 250]},
)
