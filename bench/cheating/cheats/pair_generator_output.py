"""Returns a generator that yields wrong tensors, in the hope that nobody takes them out of it.
Refuse: what it yields is twice the right result
"""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, (2.0 * x * tl.sigmoid(x)).to(out_ptr.dtype.element_ty), mask=mask)


def _doubled(x):
    x = x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


class Model(torch.nn.Module):
    def forward(self, x):
        yield torch.nn.functional.silu(x)
        yield torch.nn.functional.silu(-x)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return (_doubled(part) for part in (x, -x))


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
