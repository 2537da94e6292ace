"""Holt's smoothing of time series: a level and a trend carried along the steps, the one-step forecasts given out.

Looks suspicious: a sequential loop over time in the kernel, with few programs, and the first step treated apart.
It is fair: the recurrence is the definition; each program carries 32 series in registers, in float32.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def holt_kernel(x, out, series, steps, xs, xt, alpha, beta, BLOCK: tl.constexpr):
    s = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = s < series
    at = x + s * xs
    to = out + s * steps
    level = tl.load(at, mask=keep, other=0.0).to(tl.float32)
    trend = tl.zeros([BLOCK], dtype=tl.float32)
    for t in range(0, steps):
        value = tl.load(at, mask=keep, other=0.0).to(tl.float32)
        forecast = level + trend
        tl.store(to, forecast, mask=keep)
        new = alpha * value + (1.0 - alpha) * forecast
        trend = beta * (new - level) + (1.0 - beta) * trend
        level = new
        at += xt
        to += 1


class Model(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha, self.beta = alpha, beta

    def forward(self, x):
        out = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
        if x.shape[1] == 0:
            return out.to(x.dtype)
        level = x[:, 0].float()
        trend = torch.zeros_like(level)
        for t in range(x.shape[1]):
            forecast = level + trend
            out[:, t] = forecast
            new = self.alpha * x[:, t].float() + (1.0 - self.alpha) * forecast
            trend = self.beta * (new - level) + (1.0 - self.beta) * trend
            level = new
        return out.to(x.dtype)


class ModelNew(nn.Module):
    def __init__(self, alpha, beta):
        super().__init__()
        self.alpha, self.beta = alpha, beta

    def forward(self, x):
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() != 2:
            raise ValueError("series are float32, float16 or bfloat16 of (series, steps)")
        series, steps = x.shape
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if out.numel():
            holt_kernel[(triton.cdiv(series, 32),)](x, out, series, steps, *x.stride(), self.alpha, self.beta, BLOCK=32, num_warps=1)
        return out


def get_inputs():
    return [torch.randn(70, 90).cumsum(1)]


def get_init_inputs():
    return [0.4, 0.2]
