"""Colour grading: every pixel is looked up in a cube of colours with trilinear interpolation between its eight corners.

Pixels are clamped to [0, 1] (a NaN becomes 0) and scaled by side - 1. The cube may have any side from 1 on, and both
tensors any layout; the corner above is clamped to the last one. Sums are in float32.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 64


@triton.jit
def axis_place(value, side):
    value = tl.where(value == value, value, 0.0)
    place = tl.minimum(tl.maximum(value, 0.0), 1.0) * (side - 1)
    low = tl.floor(place).to(tl.int64)
    high = tl.minimum(low + 1, side - 1)
    return low, high, place - low.to(tl.float32)


@triton.jit
def lut_kernel(image, cube, out, pixels, height, width, side, ib, iy, ix, ic, c0, c1, c2, c3, BLOCK: tl.constexpr):
    pixel = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = pixel < pixels
    column = pixel % width
    line = pixel // width % height
    batch = pixel // width // height
    at = image + batch * ib + line * iy + column * ix
    r0, r1, rf = axis_place(tl.load(at, mask=keep, other=0.0).to(tl.float32), side)
    g0, g1, gf = axis_place(tl.load(at + ic, mask=keep, other=0.0).to(tl.float32), side)
    b0, b1, bf = axis_place(tl.load(at + 2 * ic, mask=keep, other=0.0).to(tl.float32), side)
    for channel in tl.static_range(3):
        total = tl.zeros([BLOCK], dtype=tl.float32)
        for corner in tl.static_range(8):
            r, rw = r0, 1.0 - rf
            g, gw = g0, 1.0 - gf
            b, bw = b0, 1.0 - bf
            if corner // 4 == 1:
                r, rw = r1, rf
            if corner // 2 % 2 == 1:
                g, gw = g1, gf
            if corner % 2 == 1:
                b, bw = b1, bf
            colour = tl.load(cube + r * c0 + g * c1 + b * c2 + channel * c3, mask=keep, other=0.0).to(tl.float32)
            total += rw * gw * bw * colour
        tl.store(out + pixel * 3 + channel, total, mask=keep)


def lut3d(image, cube):
    if image.dtype not in (torch.float32, torch.float16, torch.bfloat16) or cube.dtype != image.dtype:
        raise ValueError("lut3d takes two tensors of float32, float16 or bfloat16")
    if image.dim() != 4 or image.shape[3] != 3 or cube.dim() != 4 or cube.shape[3] != 3:
        raise ValueError("lut3d takes an image of (batch, height, width, 3) and a cube of (side, side, side, 3)")
    side = cube.shape[0]
    if cube.shape[1] != side or cube.shape[2] != side or side == 0:
        raise ValueError("lut3d takes a cube with three equal sides of at least 1")
    if image.device != cube.device:
        raise ValueError("lut3d takes tensors of one device")
    out = torch.empty(image.shape, dtype=image.dtype, device=image.device)
    batch, height, width, _ = image.shape
    pixels = batch * height * width
    if pixels:
        grid = (triton.cdiv(pixels, BLOCK),)
        lut_kernel[grid](image, cube, out, pixels, height, width, side, *image.stride(), *cube.stride(), BLOCK=BLOCK, num_warps=2)
    return out


def reference(image, cube):
    side = cube.shape[0]
    place = torch.nan_to_num(image.float(), nan=0.0).clamp(0.0, 1.0) * float(side - 1)
    low = place.floor()
    part = place - low
    low = low.long()
    high = (low + 1).clamp(max=side - 1)
    table = cube.float()
    total = torch.zeros(image.shape, dtype=torch.float32, device=image.device)
    for corner in range(8):
        index, weight = [], 1.0
        for axis, upper in enumerate((corner // 4, corner // 2 % 2, corner % 2)):
            index.append((high if upper else low)[..., axis])
            weight = weight * (part if upper else 1.0 - part)[..., axis]
        total = total + weight[..., None] * table[index[0], index[1], index[2]]
    return total.to(image.dtype)


graded = Subject(
    lut3d,
    reference=reference,
    inputs=[Tensor("batch", "height", "width", "three"), Tensor("side", "side", "side", "three")],
    sizes={"three": [3], "side": [1, 2, 5, 9]},
)
