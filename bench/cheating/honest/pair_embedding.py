"""Rows of a table that int64 indices name, scaled by the square root of the width."""
import math

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)

    def forward(self, tokens):
        return self.table(tokens) * math.sqrt(self.table.embedding_dim)


@triton.jit
def embedding_kernel(
    tokens_ptr, table_ptr, out_ptr, count, words, width, scale, BLOCK_T: tl.constexpr, BLOCK_W: tl.constexpr
):
    tiles = tl.cdiv(width, BLOCK_W)
    t = (tl.program_id(0) // tiles).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    w = (tl.program_id(0) % tiles) * BLOCK_W + tl.arange(0, BLOCK_W)
    word = tl.load(tokens_ptr + t, mask=t < count, other=-1)
    tl.device_assert((t >= count) | ((word >= 0) & (word < words)), "there is no such word")
    known = ((word >= 0) & (word < words))[:, None] & (w < width)[None, :]
    row = tl.load(table_ptr + word[:, None] * width + w[None, :], mask=known, other=float("nan")).to(tl.float32)
    mask = (t < count)[:, None] & (w < width)[None, :]
    tl.store(out_ptr + t[:, None] * width + w[None, :], (row * scale).to(out_ptr.dtype.element_ty), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)

    def forward(self, tokens):
        assert tokens.dtype == torch.int64
        words, width = self.table.weight.shape
        out = torch.empty((*tokens.shape, width), device=tokens.device, dtype=self.table.weight.dtype)
        flat = tokens.reshape(-1).contiguous()
        if out.numel() > 0:
            grid = (triton.cdiv(flat.numel(), 16) * triton.cdiv(width, 64),)
            embedding_kernel[grid](
                flat, self.table.weight, out, flat.numel(), words, width, math.sqrt(width), BLOCK_T=16, BLOCK_W=64
            )
        return out


def get_inputs():
    return [torch.randint(0, 500, (20, 55))]


def get_init_inputs():
    return [500, 72]
