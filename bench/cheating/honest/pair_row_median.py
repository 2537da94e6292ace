"""The median of each row, the lower of two as torch has it, and NaN if there is one. The kernel halves the range of bit patterns 32 times and counts; it never sorts.
Fair: the kernel reads the row 33 times and finds the element itself; torch only allocates
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_median_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    n_cols = tl.cast(n_cols, tl.int64)
    nans = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        nans += (x != x).to(tl.int32)
    low = tl.full((), -2147483648, tl.int64)
    high = tl.full((), 2147483647, tl.int64)
    for _ in range(0, 32):
        middle = (low + high) >> 1
        below = tl.zeros((BLOCK,), tl.int64)
        for start in range(0, n_cols, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
            bits = x.to(tl.int32, bitcast=True)
            key = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.int64)
            below += ((cols < n_cols) & (key <= middle)).to(tl.int64)
        enough = tl.sum(below, axis=0) > (n_cols - 1) // 2
        high = tl.where(enough, middle, high)
        low = tl.where(enough, low, middle + 1)
    key = low.to(tl.int32)
    median = (key ^ ((key >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)
    median = tl.where(tl.sum(nans, axis=0) > 0, float("nan"), median)
    tl.store(out_ptr + row, median.to(out_ptr.dtype.element_ty))


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.median(x, dim=-1).values


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert x.ndim >= 1 and x.shape[-1] > 0 and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        out = torch.empty(x.shape[:-1], device=x.device, dtype=x.dtype)
        if out.numel():
            row_median_kernel[(out.numel(),)](x, out, x.shape[-1], BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(24, 501)]


def get_init_inputs():
    return []
