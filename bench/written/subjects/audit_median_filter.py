"""The 3 by 3 median filter against salt and pepper: each pixel becomes the middle one of its nine neighbours.

Beyond the border the nearest pixel counts. A window with a NaN gives NaN, infinities are ordered as numbers. The median
is found by 19 exchanges, exactly. Images of any size and layout.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 256


@triton.jit
def order(a, b):
    return tl.minimum(a, b), tl.maximum(a, b)


@triton.jit
def median_kernel(image, out, pixels, height, width, ib, iy, ix, BLOCK: tl.constexpr):
    pixel = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = pixel < pixels
    column = pixel % width
    line = pixel // width % height
    base = image + pixel // width // height * ib
    above = base + tl.maximum(line - 1, 0) * iy
    here = base + line * iy
    below = base + tl.minimum(line + 1, height - 1) * iy
    left = tl.maximum(column - 1, 0) * ix
    middle = column * ix
    right = tl.minimum(column + 1, width - 1) * ix
    a = tl.load(above + left, mask=keep, other=0.0).to(tl.float32)
    b = tl.load(above + middle, mask=keep, other=0.0).to(tl.float32)
    c = tl.load(above + right, mask=keep, other=0.0).to(tl.float32)
    d = tl.load(here + left, mask=keep, other=0.0).to(tl.float32)
    e = tl.load(here + middle, mask=keep, other=0.0).to(tl.float32)
    f = tl.load(here + right, mask=keep, other=0.0).to(tl.float32)
    g = tl.load(below + left, mask=keep, other=0.0).to(tl.float32)
    h = tl.load(below + middle, mask=keep, other=0.0).to(tl.float32)
    i = tl.load(below + right, mask=keep, other=0.0).to(tl.float32)
    bad = (a != a) | (b != b) | (c != c) | (d != d) | (e != e) | (f != f) | (g != g) | (h != h) | (i != i)
    # every row of three, sorted
    b, c = order(b, c)
    e, f = order(e, f)
    h, i = order(h, i)
    a, b = order(a, b)
    d, e = order(d, e)
    g, h = order(g, h)
    b, c = order(b, c)
    e, f = order(e, f)
    h, i = order(h, i)
    # the largest of the low ones, the middle of the middle ones, the smallest of the high ones
    a, d = order(a, d)
    f, i = order(f, i)
    e, h = order(e, h)
    d, g = order(d, g)
    b, e = order(b, e)
    c, f = order(c, f)
    e, h = order(e, h)
    # the middle of these three
    e, c = order(e, c)
    g, e = order(g, e)
    e, c = order(e, c)
    tl.store(out + pixel, tl.where(bad, float("nan"), e), mask=keep)


def median_filter(image):
    if image.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("median_filter takes float32, float16 or bfloat16")
    if image.dim() != 3:
        raise ValueError("median_filter takes images of (batch, height, width)")
    out = torch.empty(image.shape, dtype=image.dtype, device=image.device)
    _, height, width = image.shape
    pixels = out.numel()
    if pixels:
        grid = (triton.cdiv(pixels, BLOCK),)
        median_kernel[grid](image, out, pixels, height, width, *image.stride(), BLOCK=BLOCK, num_warps=4)
    return out


def reference(image):
    _, height, width = image.shape
    if image.numel() == 0:
        return image.clone()
    windows = []
    for dy in (-1, 0, 1):
        line = (torch.arange(height, device=image.device) + dy).clamp(0, height - 1)
        for dx in (-1, 0, 1):
            column = (torch.arange(width, device=image.device) + dx).clamp(0, width - 1)
            windows.append(image[:, line][:, :, column])
    stack = torch.stack(windows, dim=-1)
    return stack.float().median(dim=-1).values.to(image.dtype)


filtered = Subject(median_filter, reference=reference, inputs=[Tensor("batch", "height", "width")])
