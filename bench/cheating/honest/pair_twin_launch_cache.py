"""Keeps the block and the grid of each shape in a dictionary, and counts its calls; the result is computed anew in each.
Fair: only launch parameters are kept; every call computes its own result (twin of 20, 21 and 29)
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


_launches = {}
_calls = 0


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        global _calls
        _calls += 1
        key = tuple(x.shape)
        if key not in _launches:
            n_cols = x.shape[-1]
            block = min(1024, triton.next_power_of_2(max(n_cols, 1)))
            _launches[key] = (x.numel() // max(n_cols, 1),), max(block, 16)
        grid, block = _launches[key]
        x = x.contiguous()
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if x.numel():
            softmax_kernel[grid](x, out, x.shape[-1], BLOCK=block)
        return out


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
