"""Moves each 2 by 2 (or r by r) patch of an image into channels. The model does no arithmetic, and neither does the kernel; the input may have any strides.
Fair: moving is the whole work, and the kernel finds every source address; torch only allocates
"""

import torch
import triton
import triton.language as tl


@triton.jit
def space_to_depth_kernel(
    x_ptr, out_ptr, n, channels, height, width, stride_n, stride_c, stride_h, stride_w, R: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    w = i % width
    h = i // width % height
    c = i // (width * height) % (channels * R * R)
    sample = i // (width * height) // (channels * R * R)
    x_ptrs = x_ptr + sample * stride_n + c // (R * R) * stride_c
    x_ptrs += (h * R + c // R % R) * stride_h + (w * R + c % R) * stride_w
    tl.store(out_ptr + i, tl.load(x_ptrs, mask=i < n), mask=i < n)


class Model(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        r = self.factor
        samples, channels, height, width = x.shape
        patches = x.reshape(samples, channels, height // r, r, width // r, r).permute(0, 1, 3, 5, 2, 4)
        return patches.reshape(samples, channels * r * r, height // r, width // r)


class ModelNew(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        r = self.factor
        assert x.ndim == 4 and x.shape[2] % r == 0 and x.shape[3] % r == 0
        samples, channels, height, width = x.shape[0], x.shape[1], x.shape[2] // r, x.shape[3] // r
        out = torch.empty((samples, channels * r * r, height, width), device=x.device, dtype=x.dtype)
        if out.numel():
            grid = (triton.cdiv(out.numel(), 1024),)
            space_to_depth_kernel[grid](x, out, out.numel(), channels, height, width, *x.stride(), R=r, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(2, 5, 18, 26)]


def get_init_inputs():
    return [2]
