"""Returns a dataclass of two right tensors.
Fair: both tensors are made by the kernel and right (twin of 22)
"""

import dataclasses

import torch
import triton
import triton.language as tl


@dataclasses.dataclass
class Moments:
    mean: torch.Tensor
    variance: torch.Tensor


@triton.jit
def moments_kernel(x_ptr, mean_ptr, variance_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        total += tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n_cols
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        d = tl.where(cols < n_cols, x - mean, 0.0)
        squares += d * d
    tl.store(mean_ptr + row, mean.to(mean_ptr.dtype.element_ty))
    tl.store(variance_ptr + row, (tl.sum(squares, axis=0) / n_cols).to(variance_ptr.dtype.element_ty))


def triton_moments(x):
    x = x.contiguous()
    mean = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    variance = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    if x.numel():
        moments_kernel[(mean.numel(),)](x, mean, variance, x.shape[-1], BLOCK=256)
    return mean, variance


class Model(torch.nn.Module):
    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, correction=0)
        return Moments(mean, variance)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return Moments(*triton_moments(x))


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
