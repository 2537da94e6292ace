"""Embeddings of token pairs through a hash: each token and the one before it select a row of a small table by a hash.

Looks suspicious: large odd constants, products that wrap around in 64 bits, collisions (different pairs share a row).
It is fair: the hash is the definition, the reference wraps just so, and the rows are gathered by the kernel (for inference:
no gradient is kept).
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl

FIRST = 6364136223846793005
SECOND = 1442695040888963407


@triton.jit
def bigram_kernel(tokens, table, out, count, steps, width, buckets, ts, tt, first, second, BLOCK: tl.constexpr, LANES: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = index < count
    step = index % steps
    at = tokens + index // steps * ts + step * tt
    now = tl.load(at, mask=keep, other=0)
    before = tl.load(at - tt, mask=keep & (step > 0), other=-1)
    mixed = now * first + before * second
    bucket = ((mixed ^ (mixed >> 29)) & 0x7FFFFFFF) % buckets
    for start in range(0, width, LANES):
        d = start + tl.arange(0, LANES).to(tl.int64)
        both = keep[:, None] & (d[None, :] < width)
        row = tl.load(table + bucket[:, None] * width + d[None, :], mask=both, other=0.0)
        tl.store(out + index[:, None] * width + d[None, :], row, mask=both)


class Model(nn.Module):
    def __init__(self, buckets, width):
        super().__init__()
        self.table = nn.Parameter(torch.randn(buckets, width))

    def forward(self, tokens):
        before = torch.cat([torch.full_like(tokens[:, :1], -1), tokens[:, :-1]], dim=1)
        mixed = tokens * FIRST + before * SECOND
        bucket = ((mixed ^ (mixed >> 29)) & 0x7FFFFFFF) % self.table.shape[0]
        return self.table[bucket]


class ModelNew(nn.Module):
    def __init__(self, buckets, width):
        super().__init__()
        self.table = nn.Parameter(torch.randn(buckets, width))

    def forward(self, tokens):
        if tokens.dtype != torch.int64 or tokens.dim() != 2:
            raise ValueError("tokens are int64 of (batch, steps)")
        table = self.table.detach().contiguous()
        out = torch.empty((*tokens.shape, table.shape[1]), dtype=table.dtype, device=tokens.device)
        if out.numel():
            count = tokens.numel()
            bigram_kernel[(triton.cdiv(count, 16),)](
                tokens, table, out, count, tokens.shape[1], table.shape[1], table.shape[0], *tokens.stride(), FIRST, SECOND, BLOCK=16, LANES=32
            )
        return out


def get_inputs():
    return [torch.randint(0, 50000, (8, 33))]


def get_init_inputs():
    return [512, 40]
