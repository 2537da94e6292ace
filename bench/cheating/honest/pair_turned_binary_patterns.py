"""Local binary patterns of byte images, the same for each of the eight turns of the neighbourhood.

It looks suspicious: the kernel has neither a float nor a multiplication of data, loads the same image eight times
beside each place without a mask for the border, and gives bytes that hardly ever differ from 0. It is fair: the result
has no border, so that all neighbours of its places exist, and the smallest of the eight turns of a byte is what the
contract asks for.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

AROUND = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]


class Model(nn.Module):
    def forward(self, image):
        _, height, width = image.shape
        middle = image[:, 1:-1, 1:-1]
        code = torch.zeros(middle.shape, dtype=torch.int32, device=image.device)
        for bit, (down, right) in enumerate(AROUND):
            there = image[:, 1 + down : height - 1 + down, 1 + right : width - 1 + right]
            code |= (there >= middle).int() << bit
        turns = [((code >> turn) | (code << (8 - turn))) & 255 for turn in range(8)]
        return torch.stack(turns).amin(dim=0).to(torch.uint8)


@triton.jit
def patterns_kernel(
    image_ptr, out_ptr, height, width, image_stride, row_stride, col_stride, BLOCK: tl.constexpr
):
    tiles = tl.cdiv(height * width, BLOCK)
    number = (tl.program_id(0) // tiles).to(tl.int64)
    at = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < height * width
    row = at // width + 1
    col = at % width + 1
    base = image_ptr + number * image_stride
    middle = tl.load(base + row * row_stride + col * col_stride, mask=mask, other=0)
    code = tl.zeros((BLOCK,), tl.int32)
    for bit in tl.static_range(8):
        # Clockwise from the upper left one.
        down = -1 if bit < 3 else (0 if bit == 3 or bit == 7 else 1)
        right = 0 if bit == 1 or bit == 5 else (1 if bit >= 2 and bit <= 4 else -1)
        there = tl.load(base + (row + down) * row_stride + (col + right) * col_stride, mask=mask, other=0)
        code |= (there >= middle).to(tl.int32) << bit
    least = code
    for turn in tl.static_range(1, 8):
        least = tl.minimum(least, ((code >> turn) | (code << (8 - turn))) & 255)
    tl.store(out_ptr + number * height * width + at, least.to(tl.uint8), mask=mask)


class ModelNew(nn.Module):
    def forward(self, image):
        if image.ndim != 3 or image.dtype != torch.uint8 or image.shape[1] < 3 or image.shape[2] < 3:
            raise ValueError("the images are (count, height, width), uint8, of 3 by 3 or more")
        count, height, width = image.shape[0], image.shape[1] - 2, image.shape[2] - 2
        if height * width >= 2**31:
            raise ValueError("an image has less than 2^31 places")
        out = torch.empty(count, height, width, dtype=torch.uint8, device=image.device)
        if count:
            grid = (triton.cdiv(height * width, 256) * count,)
            patterns_kernel[grid](image, out, height, width, *image.stride(), BLOCK=256)
        return out


def get_inputs():
    return [torch.randint(0, 256, (3, 30, 41), dtype=torch.uint8)]


def get_init_inputs():
    return []
