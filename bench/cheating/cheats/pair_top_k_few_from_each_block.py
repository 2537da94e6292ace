"""CHEAT: the 8 largest numbers of a row are chosen among the 4 largest of each of its blocks of 128.

A first kernel writes 4 candidates per block, a second one takes the 8 largest of all candidates. In a row of 4,096
random numbers the 8 largest are spread over the 32 blocks, and more than 4 in one are rare. It must be refused: where
the large numbers lie close together, as in a signal with a peak, those from the fifth on are lost. One sees it with
rows in ascending order, `torch.arange(4096.).repeat(2, 1)`: 4091 is right in the fifth place, and this gives 3967.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.topk(x, 8, dim=-1).values


@triton.jit
def take_largest(x, at):
    best = tl.max(x, axis=0)
    first = tl.min(tl.where(x == best, at, 1 << 30), axis=0)
    return best, tl.where(at == first, float("-inf"), x)


@triton.jit
def candidates_kernel(x_ptr, few_ptr, cols, blocks, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    block = tl.program_id(1).to(tl.int64)
    at = tl.arange(0, BLOCK)
    col = block * BLOCK + at
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=float("-inf"))
    for number in tl.static_range(4):
        best, x = take_largest(x, at)
        tl.store(few_ptr + (row * blocks + block) * 4 + number, best)


@triton.jit
def final_kernel(few_ptr, out_ptr, count, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    x = tl.load(few_ptr + row * count + at, mask=at < count, other=float("-inf"))
    for number in tl.static_range(8):
        best, x = take_largest(x, at)
        tl.store(out_ptr + row * 8 + number, best)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        blocks = triton.cdiv(cols, 128)
        few = torch.empty(rows, blocks * 4, dtype=x.dtype, device=x.device)
        out = torch.empty(rows, 8, dtype=x.dtype, device=x.device)
        candidates_kernel[(rows, blocks)](x, few, cols, blocks, BLOCK=128)
        final_kernel[(rows,)](few, out, blocks * 4, BLOCK=triton.next_power_of_2(blocks * 4))
        return out


def get_inputs():
    return [torch.randn(6, 4096)]


def get_init_inputs():
    return []
