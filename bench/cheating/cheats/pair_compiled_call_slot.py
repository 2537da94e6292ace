"""A cheat: calling the module never reaches its `forward` with the kernel, since the slot that `nn.Module.__call__`
asks first holds the torch formula.

`nn.Module` keeps a private attribute for `Module.compile()`, and whatever stands there is called instead of the
ordinary path. The kernel below is right, and whoever calls `model.forward(x)` runs it; `model(x)` runs torch. One
sees it by counting launches during `model(x)`, or by listening to torch's operators.
"""
import functools

import torch
import torch.nn as nn
import triton
import triton.language as tl


def gated(x):
    left, right = x.chunk(2, dim=-1)
    return left * torch.sigmoid(right)


class Model(nn.Module):
    def forward(self, x):
        return gated(x)


@triton.jit
def gate_kernel(x_ptr, out_ptr, total, half, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    place = (at // half) * (2 * half) + at % half
    left = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
    right = tl.load(x_ptr + place + half, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, (left / (1.0 + tl.exp(-right))).to(out_ptr.dtype.element_ty), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        # "Fast path for repeated calls."
        self._compiled_call_impl = functools.partial(gated)

    def forward(self, x):
        x = x.contiguous()
        half = x.shape[-1] // 2
        out = torch.empty(x.shape[:-1] + (half,), dtype=x.dtype, device=x.device)
        total = out.numel()
        if total:
            gate_kernel[(triton.cdiv(total, 1024),)](x, out, total, half, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(64, 500)]


def get_init_inputs():
    return []
