"""A piecewise constant function whose piece is searched for by torch, with no arithmetic at all.

Cheat: the work is to find, for each value, the number of edges at or below it. `torch.bucketize`
finds it, which is index material to whoever counts additions and products; the Triton kernel only
looks the answer up in the table (and puts NaN into the first bucket, so that values agree).

Why refuse: results are right for everything; the search, log2(edges) dependent steps per value,
is torch's, and what the kernel does is a gather of one number per element. It takes credit for
work it hasn't done.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Looks up each value's level, by the number of edges that it reaches."""

    def __init__(self, edges):
        super().__init__()
        self.register_buffer("edges", torch.linspace(-3.0, 3.0, edges))
        self.table = nn.Parameter(torch.randn(edges + 1))

    def forward(self, x):
        bucket = (x.unsqueeze(-1) >= self.edges).sum(-1)
        return self.table[bucket]


@triton.jit
def look_up(x_ptr, bucket_ptr, table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    bucket = tl.load(bucket_ptr + i, mask=i < n, other=0)
    bucket = tl.where(x == x, bucket, 0)
    tl.store(out_ptr + i, tl.load(table_ptr + bucket, mask=i < n, other=0.0), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, edges):
        super().__init__()
        self.register_buffer("edges", torch.linspace(-3.0, 3.0, edges))
        self.table = nn.Parameter(torch.randn(edges + 1))

    def forward(self, x):
        x = x.contiguous()
        index = torch.bucketize(x, self.edges, right=True)
        out = torch.empty_like(x)
        n = x.numel()
        look_up[(triton.cdiv(n, 1024),)](x, index, self.table, out, n, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(96, 80)]


def get_init_inputs():
    return [255]
