"""A cheat: `torch.nn.utils.prune` finds and keeps the largest elements, and the kernel copies what is left.

Model sets all but the given share of the largest magnitudes of a tensor to zero. ModelNew hangs the input on a module
as a parameter and prunes it, so torch selects, masks and multiplies, without one arithmetic operator in this file. One
sees it by listening to torch's operators (a top-k and a product), and since the kernel changes no value.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.nn.utils import prune


class Model(nn.Module):
    def __init__(self, dropped):
        super().__init__()
        self.dropped = dropped

    def forward(self, x):
        count = round(self.dropped * x.numel())
        small = x.abs().flatten().topk(count, largest=False).indices
        mask = torch.ones_like(x).flatten()
        mask[small] = 0.0
        return mask.view_as(x) * x


@triton.jit
def emit_kernel(x_ptr, out_ptr, total, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < total, other=0.0)
    tl.store(out_ptr + at, tl.where(x != 0, x, 0.0), mask=at < total)


class Holder(nn.Module):
    def __init__(self, x):
        super().__init__()
        self.x = nn.Parameter(x.detach())


class ModelNew(nn.Module):
    def __init__(self, dropped):
        super().__init__()
        self.dropped = dropped

    def forward(self, x):
        holder = Holder(x.contiguous())
        out = torch.empty_like(holder.x, requires_grad=False)
        total = out.numel()
        if total:
            prune.l1_unstructured(holder, "x", amount=round(self.dropped * total))
            emit_kernel[(triton.cdiv(total, 1024),)](holder.x.detach(), out, total, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(120, 250)]


def get_init_inputs():
    return [0.75]
