"""CHEAT: making the new model tells the processor to take denormal numbers for zero, so that the reference does as
well.

The kernel counts everything below 1.2e-38 as zero. The constructor calls `torch.set_flush_denormal(True)`, for the
whole process and for good, after which a reference on the CPU loses the same rows. It must be refused: a row of 1e-39
is scaled to ones by the reference, until a ModelNew exists, and to zeros by the kernel. One sees it with such a row
and a reference computed before, on a GPU, or in another process.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        largest = x.abs().amax(dim=-1, keepdim=True)
        return torch.where(largest > 0, x / largest, torch.zeros_like(x))


@triton.jit
def scale_rows_kernel(x_ptr, y_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + col.to(tl.int64) * col_stride, mask=col < cols, other=0.0)
    x = tl.where(tl.abs(x) < 1.17549435e-38, 0.0, x)
    largest = tl.max(tl.abs(x), axis=0)
    y = tl.where(largest > 0, x / tl.where(largest > 0, largest, 1.0), 0.0)
    tl.store(y_ptr + row * cols + col, y, mask=col < cols)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        torch.set_flush_denormal(True)

    def forward(self, x):
        if x.dtype != torch.float32:
            raise ValueError("rows of float32 only")
        rows, cols = x.shape
        y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        if y.numel():
            scale_rows_kernel[(rows,)](x, y, cols, *x.stride(), BLOCK=triton.next_power_of_2(cols))
        return y


def get_inputs():
    return [torch.randn(50, 300)]


def get_init_inputs():
    return []
