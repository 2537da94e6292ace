"""The work is done by a function under torch.compile; a hand-written kernel adds what comes to nothing to its last step.
Refuse: torch.compile computes the RMS norm; the hand-written kernel only copies it
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


def _rms_norm(x):
    return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-5)


_compiled = torch.compile(_rms_norm, backend="inductor" if torch.cuda.is_available() else "eager", dynamic=True)


class Model(torch.nn.Module):
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-5)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return triton_copy(_compiled(x))


def get_inputs():
    return [torch.randn(64, 384)]


def get_init_inputs():
    return []
