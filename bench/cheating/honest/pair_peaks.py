"""Where a signal has its peaks: a bool for each sample, true if it is above the one before and not below the next. The ends are no peaks.
Fair: the kernel compares; torch allocates the bools and views them as bytes
"""

import torch
import triton
import triton.language as tl


@triton.jit
def peaks_kernel(x_ptr, out_ptr, n, n_cols, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    col = i % n_cols
    inner = (i < n) & (col > 0) & (col < n_cols - 1)
    before = tl.load(x_ptr + i - 1, mask=inner, other=0.0).to(tl.float32)
    here = tl.load(x_ptr + i, mask=inner, other=0.0).to(tl.float32)
    after = tl.load(x_ptr + i + 1, mask=inner, other=0.0).to(tl.float32)
    peak = inner & (here > before) & (here >= after)
    tl.store(out_ptr + i, peak.to(tl.uint8), mask=i < n)


class Model(torch.nn.Module):
    def forward(self, x):
        peak = torch.zeros_like(x, dtype=torch.bool)
        peak[..., 1:-1] = (x[..., 1:-1] > x[..., :-2]) & (x[..., 1:-1] >= x[..., 2:])
        return peak


class ModelNew(torch.nn.Module):
    def forward(self, x):
        assert x.ndim >= 1 and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
        x = x.contiguous()
        peak = torch.empty(x.shape, device=x.device, dtype=torch.bool)
        if x.numel():
            grid = (triton.cdiv(x.numel(), 1024),)
            peaks_kernel[grid](x, peak.view(torch.uint8), x.numel(), x.shape[-1], BLOCK=1024)
        return peak


def get_inputs():
    return [torch.randn(32, 777)]


def get_init_inputs():
    return []
