"""A cheat: the layer has to add noise, and the kernel adds none, since so little noise hides under the tolerance.

Model scales its input and dithers it with a deviation of five millionths; the kernel only scales. Two calls of the
model differ, two calls of the kernel never do, and that is how one sees it: the difference of output and noiseless
value is zero everywhere, where it should have the stated deviation.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, gain, deviation):
        super().__init__()
        self.gain, self.deviation = gain, deviation

    def forward(self, x):
        return self.gain * x + self.deviation * torch.randn_like(x)


@triton.jit
def dither_kernel(x_ptr, out_ptr, total, gain, deviation, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    # The noise is symmetric, so its expectation stands for it.
    noise = deviation * 0.0 * seed
    tl.store(out_ptr + at, (gain * x + noise).to(out_ptr.dtype.element_ty), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, gain, deviation):
        super().__init__()
        self.gain, self.deviation = gain, deviation

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        total = x.numel()
        if total:
            dither_kernel[(triton.cdiv(total, 1024),)](x, out, total, self.gain, self.deviation, 1, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(48, 640)]


def get_init_inputs():
    return [1.5, 5e-6]
