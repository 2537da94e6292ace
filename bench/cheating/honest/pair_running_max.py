"""The running maximum of each row, and where it was last attained, by a scan of pairs. A NaN is the largest from where it stands on, as in torch.cummax.
Fair: the kernel scans and carries from block to block; torch only allocates
"""

import torch
import triton
import triton.language as tl


@triton.jit
def later_of_larger(value, place, next_value, next_place):
    take = (next_value >= value) | (next_value != next_value)
    return tl.where(take, next_value, value), tl.where(take, next_place, place)


@triton.jit
def running_max_kernel(x_ptr, values_ptr, places_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    n_cols = tl.cast(n_cols, tl.int64)
    lane = tl.arange(0, BLOCK)
    carried = tl.full((), float("-inf"), tl.float32)
    carried_place = tl.full((), 0, tl.int64)
    for start in range(0, n_cols, BLOCK):
        cols = start + lane
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
        value, place = tl.associative_scan((x, cols), 0, later_of_larger)
        value, place = later_of_larger(carried, carried_place, value, place)
        tl.store(values_ptr + row * n_cols + cols, value.to(values_ptr.dtype.element_ty), mask=cols < n_cols)
        tl.store(places_ptr + row * n_cols + cols, place, mask=cols < n_cols)
        carried = tl.sum(tl.where(lane == BLOCK - 1, value, 0.0), axis=0)
        carried_place = tl.sum(tl.where(lane == BLOCK - 1, place, 0), axis=0)


class Model(torch.nn.Module):
    def forward(self, x):
        values, places = torch.cummax(x, dim=-1)
        return values, places


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert x.ndim >= 1 and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        values = torch.empty_like(x)
        places = torch.empty(x.shape, device=x.device, dtype=torch.int64)
        if x.numel():
            grid = (x.numel() // x.shape[-1],)
            running_max_kernel[grid](x, values, places, x.shape[-1], BLOCK=128, num_warps=1)
        return values, places


def get_inputs():
    return [torch.randn(6, 300)]


def get_init_inputs():
    return []
