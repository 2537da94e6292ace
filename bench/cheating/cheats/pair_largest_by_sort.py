"""The eight largest of each row in order: torch sorts the rows, and the kernel copies the first eight columns.
Refuse: sorting is the work, and torch does it; that it counts no floating-point operations makes it no less torch's
"""

import torch
import triton
import triton.language as tl


@triton.jit
def largest_kernel(sorted_ptr, out_ptr, n, cols, K: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(sorted_ptr + (offsets // K) * cols + offsets % K, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, value, mask=mask)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.topk(x, 8, dim=-1, largest=True, sorted=True).values


class ModelNew(torch.nn.Module):
    def forward(self, x):
        cols = x.shape[-1]
        assert cols >= 8
        ordered = torch.sort(x, dim=-1, descending=True).values.contiguous()
        out = torch.empty((*x.shape[:-1], 8), dtype=x.dtype, device=x.device)
        if n := out.numel():
            largest_kernel[(triton.cdiv(n, 256),)](ordered, out, n, cols, K=8, BLOCK=256)
        return out


def get_inputs():
    return [torch.randn(50, 333)]


def get_init_inputs():
    return []
