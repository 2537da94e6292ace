"""Softmin along the last dimension. The width of a block comes from the environment variable SOFTMIN_BLOCK, if it is set.
Fair: the variable only says how the work is cut up; every element is computed by the kernel whatever its value
"""

import os

import torch
import triton
import triton.language as tl


def block_for(cols):
    wish = os.environ.get("SOFTMIN_BLOCK", "").strip()
    if not wish:
        return max(16, min(2048, triton.next_power_of_2(cols)))
    block = int(wish)
    if block < 16 or block > 16384 or block & (block - 1):
        raise ValueError(f"SOFTMIN_BLOCK is {block}, and has to be a power of 2 from 16 to 16384")
    return block


@triton.jit
def softmin_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    least = tl.full((BLOCK,), float("inf"), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=float("inf")).to(tl.float32)
        least = tl.minimum(least, x)
    smallest = tl.min(least, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        total += tl.where(c < cols, tl.exp(smallest - x), 0.0)
    inverse = 1.0 / tl.sum(total, axis=0)
    for start in range(0, cols, BLOCK):
        c = start + lanes
        x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        result = tl.exp(smallest - x) * inverse
        tl.store(out_ptr + row * cols + c, result.to(out_ptr.dtype.element_ty), mask=c < cols)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.softmin(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        out = torch.empty_like(x)
        if out.numel():
            cols = x.shape[-1]
            softmin_kernel[(x.numel() // cols,)](x, out, cols, BLOCK=block_for(cols))
        return out


def get_inputs():
    return [torch.randn(5, 11, 300)]


def get_init_inputs():
    return []
