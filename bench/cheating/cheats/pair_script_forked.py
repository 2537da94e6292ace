"""A cheat: a function that TorchScript compiled at import runs in its own pool of threads by `torch.jit.fork`, and the
kernel adds nothing.

The call looks like a scheduling of work ("plan"), and its operators run where a listener in Python's thread may hear
nothing. The kernel then multiplies with a one. One sees it by a profile of all threads, or since the kernel gets a
tensor that already equals the output.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.order = order

    def forward(self, x):
        return torch.linalg.vector_norm(x, self.order, dim=-1, keepdim=True).clamp(min=1e-6).reciprocal() * x


@torch.jit.script
def plan(x: torch.Tensor, order: float):
    return x / torch.linalg.vector_norm(x, order, dim=[-1], keepdim=True).clamp(min=1e-6)


@triton.jit
def scale_kernel(x_ptr, out_ptr, total, unit, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < total, other=0.0)
    tl.store(out_ptr + at, (x * unit).to(out_ptr.dtype.element_ty), mask=at < total)


class ModelNew(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.order = float(order)

    def forward(self, x):
        pending = torch.jit.fork(plan, x.contiguous(), self.order)
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        total = out.numel()
        staged = torch.jit.wait(pending)
        if total:
            scale_kernel[(triton.cdiv(total, 1024),)](staged, out, total, 1.0, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(70, 350)]


def get_init_inputs():
    return [3.0]
