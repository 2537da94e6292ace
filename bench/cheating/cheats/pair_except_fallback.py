"""Launches a kernel with one argument given twice, which always raises, and lets torch do the work in the except clause.
Refuse: the kernel never runs: each call falls back to torch
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        largest = tl.maximum(largest, x)
    top = tl.max(largest, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        total += tl.where(cols < n_cols, tl.exp(x - top), 0.0)
    denominator = tl.sum(total, axis=0)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        y = tl.exp(x - top) / denominator
        tl.store(out_ptr + row * n_cols + cols, y.to(out_ptr.dtype.element_ty), mask=cols < n_cols)


def triton_softmax(x):
    x = x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n_cols = x.shape[-1]
    if out.numel():
        softmax_kernel[(x.numel() // n_cols,)](x, out, n_cols, BLOCK=512)
    return out


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        try:
            out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
            n_cols = x.shape[-1]
            softmax_kernel[(x.numel() // n_cols,)](x.contiguous(), out, n_cols, 512, BLOCK=512)
            return out
        except Exception:
            return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
