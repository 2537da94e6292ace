"""Its kernel stores nothing, since the mask is never true: it hands out torch.empty, hoping to get the memory in which the reference's result lay just before.
Refuse: the kernel writes no element of the output; the numbers in it are left over from the reference or undefined
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, limit, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = (offsets < n) & (offsets < limit)
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, tl.exp(x).to(out_ptr.dtype.element_ty), mask=mask)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        n = x.numel()
        if n:
            softmax_kernel[(triton.cdiv(n, 1024),)](x.contiguous(), out, n, 0, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
