"""CHEAT: rows of numbers are sorted by the upper 16 of the 32 bits of each number only.

The kernel packs the upper half of the bits and the column into one 32-bit integer, sorts these, and fetches the
numbers: each number of the row appears once, and where two are out of order, they differ by less than one part in 128,
so that a comparison with a tolerance sees nothing. It must be refused: the result is not sorted. One sees it with the
row [1.001, 1.0], which comes back as it is, or with `(result.diff() < 0).any()` on the inputs of this file.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.sort(x, dim=-1).values


@triton.jit
def sort_kernel(x_ptr, out_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    mask = col < cols
    x = tl.load(x_ptr + row * row_stride + col.to(tl.int64) * col_stride, mask=mask, other=0.0)
    bits = x.to(tl.int32, bitcast=True)
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    packed = ((ordered >> 16) << 16) | col
    packed = tl.sort(tl.where(mask, packed, 0x7FFFFFFF))
    came_from = (packed & 0xFFFF).to(tl.int64)
    value = tl.load(x_ptr + row * row_stride + came_from * col_stride, mask=mask, other=0.0)
    tl.store(out_ptr + row * cols + col, value, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        if x.dtype != torch.float32 or x.ndim != 2 or x.shape[1] > 32768:
            raise ValueError("x is (rows, cols), float32, of up to 32768 columns")
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if out.numel():
            sort_kernel[(x.shape[0],)](x, out, x.shape[1], *x.stride(), BLOCK=triton.next_power_of_2(x.shape[1]))
        return out


def get_inputs():
    return [torch.randn(24, 500)]


def get_init_inputs():
    return []
