"""Registers an operator of its own with torch.library, whose body lets torch compute the softmax and the kernel copy it.
Refuse: the operator has a name of its own, but torch computes the softmax inside it; the kernel only copies
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x, mask=mask)


def triton_copy(x):
    x = x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = x.numel()
    if n:
        copy_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out


@torch.library.custom_op("fastkernels::row_softmax_copy", mutates_args=())
def row_softmax(x: torch.Tensor) -> torch.Tensor:
    return triton_copy(torch.softmax(x, dim=-1))


@row_softmax.register_fake
def _(x):
    return torch.empty_like(x)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.ops.fastkernels.row_softmax_copy(x)


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
