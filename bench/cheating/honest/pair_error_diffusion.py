"""Black-and-white pictures by Floyd and Steinberg's error diffusion, in whole sixteenths.

It looks suspicious: one program walks a whole picture pixel by pixel, reads back what it has just stored, and its
workspace holds old numbers when it starts. It is fair: the method is sequential by nature, the workspace is filled
from this picture before the walk, and sixteenths of shades are integers, so both models take the same decisions.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, pictures):
        batch, height, width = pictures.shape
        state = torch.zeros((batch, height + 1, width + 2), dtype=torch.int64, device=pictures.device)
        state[:, :height, 1 : width + 1] = pictures.long() * 16
        out = torch.zeros(pictures.shape, dtype=torch.uint8, device=pictures.device)
        for r in range(height):
            for c in range(width):
                shade = state[:, r, c + 1]
                white = shade >= 2048
                out[:, r, c] = white.to(torch.uint8) * 255
                error = shade - white.long() * 4080
                # Shares of 3, 5 and 1 sixteenth, rounded down; the right neighbour takes what is left.
                shares = [torch.div(error * k, 16, rounding_mode="floor") for k in (3, 5, 1)]
                for k, share in enumerate(shares):
                    state[:, r + 1, c + k] += share
                state[:, r, c + 2] += error - sum(shares)
        return out


@triton.jit
def diffuse_kernel(x_ptr, out_ptr, line_ptr, height, width):
    """`line` holds, for each column of a picture, what the row above left for this row."""
    picture = tl.program_id(0).to(tl.int64)
    x_ptr += picture * height * width
    out_ptr += picture * height * width
    line_ptr += picture * (width + 2)
    nothing = tl.program_id(0) * 0
    for c in range(0, width + 2):
        tl.store(line_ptr + c, nothing)
    tl.debug_barrier()
    for r in range(0, height):
        right = nothing
        # Shares for the next row at columns c - 1 and c that are not complete yet.
        before = nothing
        under = nothing
        for c in range(0, width):
            left_over = tl.load(line_ptr + c + 1)
            shade = tl.load(x_ptr + r * width + c).to(tl.int32) * 16 + left_over + right
            white = shade >= 2048
            tl.store(out_ptr + r * width + c, tl.where(white, 255, 0).to(tl.uint8))
            error = shade - tl.where(white, 4080, 0)
            # An arithmetic shift rounds down, below zero too.
            three = (error * 3) >> 4
            five = (error * 5) >> 4
            one = error >> 4
            tl.debug_barrier()
            tl.store(line_ptr + c, before + three)
            before = under + five
            under = one
            right = error - three - five - one
        tl.store(line_ptr + width, before)
        tl.debug_barrier()


class ModelNew(nn.Module):
    def forward(self, pictures):
        pictures = pictures.contiguous()
        batch, height, width = pictures.shape
        out = torch.empty(pictures.shape, dtype=torch.uint8, device=pictures.device)
        if out.numel():
            lines = torch.empty((batch, width + 2), dtype=torch.int32, device=pictures.device)
            diffuse_kernel[(batch,)](pictures, out, lines, height, width, num_warps=1)
        return out


def get_inputs():
    return [torch.randint(0, 256, (2, 8, 15), dtype=torch.uint8)]


def get_init_inputs():
    return []
