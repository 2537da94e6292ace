"""A dictionary that says of each row whether all of it is finite, and how many NaN and infinities it holds: a bool and two int64 tensors.
Fair: the kernel looks at every element and counts; torch allocates and views bytes as bools
"""

import torch
import triton
import triton.language as tl


@triton.jit
def health_kernel(x_ptr, finite_ptr, nans_ptr, infinities_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    n_cols = tl.cast(n_cols, tl.int64)
    nans = tl.zeros((BLOCK,), tl.int64)
    infinities = tl.zeros((BLOCK,), tl.int64)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        nans += (x != x).to(tl.int64)
        infinities += (tl.abs(x) == float("inf")).to(tl.int64)
    nan_count = tl.sum(nans, axis=0)
    infinity_count = tl.sum(infinities, axis=0)
    tl.store(nans_ptr + row, nan_count)
    tl.store(infinities_ptr + row, infinity_count)
    tl.store(finite_ptr + row, (nan_count + infinity_count == 0).to(tl.uint8))


class Model(torch.nn.Module):
    def forward(self, x):
        return {
            "finite": torch.isfinite(x).all(dim=-1),
            "nans": torch.isnan(x).sum(dim=-1),
            "infinities": torch.isinf(x).sum(dim=-1),
        }


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert x.ndim >= 1 and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        shape = x.shape[:-1]
        finite = torch.empty(shape, device=x.device, dtype=torch.bool)
        nans = torch.empty(shape, device=x.device, dtype=torch.int64)
        infinities = torch.empty_like(nans)
        if nans.numel():
            health_kernel[(nans.numel(),)](x, finite.view(torch.uint8), nans, infinities, x.shape[-1], BLOCK=1024)
        return {"finite": finite, "nans": nans, "infinities": infinities}


def get_inputs():
    x = torch.randn(64, 600)
    x[3, 17], x[5, 0], x[9, 599] = float("nan"), float("inf"), float("-inf")
    return [x]


def get_init_inputs():
    return []
