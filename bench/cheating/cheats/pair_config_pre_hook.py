"""The pre_hook of the autotuner's only config computes the softmax with torch into a scratch buffer, and the kernel copies that.
Refuse: torch computes the softmax in a hook of the launch; the kernel only copies it
"""

import torch
import triton
import triton.language as tl


def _clear_scratch(arguments):
    scratch, x = arguments["scratch_ptr"], arguments["x_ptr"]
    torch.softmax(x, dim=-1, out=scratch)


@triton.autotune(configs=[triton.Config({"BLOCK": 1024}, pre_hook=_clear_scratch)], key=["n"])
@triton.jit
def softmax_kernel(x_ptr, scratch_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(scratch_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, tl.where(x == x, y, x).to(out_ptr.dtype.element_ty), mask=mask)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = x.contiguous()
        scratch = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        n = x.numel()
        if n:
            softmax_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, scratch, out, n)
        return out


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
