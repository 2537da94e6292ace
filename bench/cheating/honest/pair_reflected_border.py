"""Images with a border in which they are mirrored, without repeating the edge.

Looks suspicious: no arithmetic on the values, absolute values of indices, and inputs that are refused.
It is fair: mirroring is a gather, one fold suffices for borders smaller than the image, and larger ones torch refuses as well.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def reflect_kernel(x, out, count, channels, height, width, tall, wide, left, top, sb, sc, sh, sw, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    col = i % wide - left
    row = (i // wide) % tall - top
    plane = i // wide // tall
    col = tl.where(col < 0, -col, col)
    col = tl.where(col >= width, 2 * (width - 1) - col, col)
    row = tl.where(row < 0, -row, row)
    row = tl.where(row >= height, 2 * (height - 1) - row, row)
    at = x + (plane // channels) * sb + (plane % channels) * sc + row * sh + col * sw
    tl.store(out + i, tl.load(at, mask=keep), mask=keep)


class Model(nn.Module):
    def __init__(self, left, right, top, bottom):
        super().__init__()
        self.border = (left, right, top, bottom)

    def forward(self, x):
        return F.pad(x, self.border, mode="reflect")


class ModelNew(nn.Module):
    def __init__(self, left, right, top, bottom):
        super().__init__()
        if min(left, right, top, bottom) < 0:
            raise ValueError("no part of the border is negative")
        self.border = (left, right, top, bottom)

    def forward(self, x):
        left, right, top, bottom = self.border
        if x.dim() != 4 or x.dtype not in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
            raise ValueError("x is (batch, channels, height, width) of floating point")
        batch, channels, height, width = x.shape
        if batch == 0 or channels == 0 or max(left, right) >= width or max(top, bottom) >= height:
            raise ValueError("the border is smaller than the image, which is not empty")
        x = x.detach()
        tall, wide = top + height + bottom, left + width + right
        out = torch.empty((batch, channels, tall, wide), dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(out.numel(), 256),)
        reflect_kernel[grid](x, out, out.numel(), channels, height, width, tall, wide, left, top, *x.stride(), BLOCK=256)
        return out


def get_inputs():
    return [torch.randn(2, 3, 17, 22)]


def get_init_inputs():
    return [5, 3, 0, 8]
