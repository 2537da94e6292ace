"""Sinkhorn's iteration in logarithms: rows and columns are normalised in turn, in place in a float32 buffer, by the same kernel with other strides, launched in a loop on the host.
Fair: all of the twenty normalisations and the final exponential are kernels; torch makes the buffer
"""

import torch
import triton
import triton.language as tl


@triton.jit
def normalize_kernel(
    h_ptr, lines, n, stride_sample, stride_line, stride_along, BLOCK_L: tl.constexpr, BLOCK: tl.constexpr
):
    tiles = tl.cdiv(lines, BLOCK_L)
    sample = (tl.program_id(0) // tiles).to(tl.int64)
    line = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK_L + tl.arange(0, BLOCK_L)
    n = tl.cast(n, tl.int64)
    base = h_ptr + sample * stride_sample + line[:, None] * stride_line
    top = tl.full((BLOCK_L, BLOCK), float("-inf"), tl.float32)
    for start in range(0, n, BLOCK):
        along = start + tl.arange(0, BLOCK)
        keep = (line < lines)[:, None] & (along < n)[None, :]
        top = tl.maximum(top, tl.load(base + along[None, :] * stride_along, mask=keep, other=float("-inf")))
    high = tl.max(top, axis=1)
    high = tl.where(tl.abs(high) == float("inf"), 0.0, high)[:, None]
    total = tl.zeros((BLOCK_L, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        along = start + tl.arange(0, BLOCK)
        keep = (line < lines)[:, None] & (along < n)[None, :]
        h = tl.load(base + along[None, :] * stride_along, mask=keep, other=float("-inf"))
        total += tl.where(keep, tl.exp(h - high), 0.0)
    lse = tl.log(tl.sum(total, axis=1))[:, None] + high
    for start in range(0, n, BLOCK):
        along = start + tl.arange(0, BLOCK)
        keep = (line < lines)[:, None] & (along < n)[None, :]
        h = tl.load(base + along[None, :] * stride_along, mask=keep, other=0.0)
        tl.store(base + along[None, :] * stride_along, h - lse, mask=keep)


@triton.jit
def exp_kernel(h_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    h = tl.load(h_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.exp(h).to(out_ptr.dtype.element_ty), mask=i < n)


class Model(torch.nn.Module):
    def __init__(self, iterations):
        super().__init__()
        self.iterations = iterations

    def forward(self, x):
        h = x.float()
        for _ in range(self.iterations):
            h = h - torch.logsumexp(h, dim=-1, keepdim=True)
            h = h - torch.logsumexp(h, dim=-2, keepdim=True)
        return h.exp().to(x.dtype)


class ModelNew(torch.nn.Module):
    def __init__(self, iterations):
        super().__init__()
        self.iterations = iterations

    def forward(self, x):
        assert x.ndim == 3 and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        samples, rows, cols = x.shape
        h = x.to(torch.float32, copy=True, memory_format=torch.contiguous_format)
        out = torch.empty(x.shape, device=x.device, dtype=x.dtype)
        if out.numel():
            by_rows, by_cols = (samples * triton.cdiv(rows, 4),), (samples * triton.cdiv(cols, 32),)
            for _ in range(self.iterations):
                normalize_kernel[by_rows](h, rows, cols, rows * cols, cols, 1, BLOCK_L=4, BLOCK=128)
                normalize_kernel[by_cols](h, cols, rows, rows * cols, 1, cols, BLOCK_L=32, BLOCK=16)
            exp_kernel[(triton.cdiv(out.numel(), 1024),)](h, out, out.numel(), BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(3, 40, 50)]


def get_init_inputs():
    return [10]
