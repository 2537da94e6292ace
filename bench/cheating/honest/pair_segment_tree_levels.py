"""Segment trees of sums, one per row, laid out as a heap: the root at 1, the leaves in the last half, 0 unused.

Looks suspicious: as many launches as levels, each reading what the last one wrote to the output, and a loop on the host.
It is fair: a level needs the whole of the level below; every sum is of the same two children as in the reference.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def leaves_kernel(x, tree, count, cols, leaves, xr, xc, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    row = i // leaves
    c = i % leaves
    value = tl.load(x + row * xr + c * xc, mask=keep & (c < cols), other=0)
    tl.store(tree + row * 2 * leaves + leaves + c, value, mask=keep)


@triton.jit
def level_kernel(tree, count, nodes, leaves, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    base = tree + i // nodes * 2 * leaves
    node = nodes + i % nodes
    left = tl.load(base + 2 * node, mask=keep, other=0)
    right = tl.load(base + 2 * node + 1, mask=keep, other=0)
    tl.store(base + node, left + right, mask=keep)


class Model(nn.Module):
    def forward(self, x):
        leaves = 1 << (x.shape[1] - 1).bit_length()
        levels = [nn.functional.pad(x, (0, leaves - x.shape[1]))]
        while levels[0].shape[1] > 1:
            levels.insert(0, levels[0][:, 0::2] + levels[0][:, 1::2])
        return torch.cat([torch.zeros_like(x[:, :1]), *levels], dim=1)


class ModelNew(nn.Module):
    def forward(self, x):
        if x.dim() != 2 or x.shape[1] == 0 or x.dtype not in (torch.float32, torch.int32, torch.int64):
            raise ValueError("x is (rows, cols) of float32, int32 or int64 with at least one column")
        x = x.detach()
        rows, cols = x.shape
        leaves = triton.next_power_of_2(cols)
        tree = torch.zeros((rows, 2 * leaves), dtype=x.dtype, device=x.device)
        if rows:
            leaves_kernel[(triton.cdiv(rows * leaves, 256),)](x, tree, rows * leaves, cols, leaves, *x.stride(), BLOCK=256)
            nodes = leaves // 2
            while nodes:
                level_kernel[(triton.cdiv(rows * nodes, 256),)](tree, rows * nodes, nodes, leaves, BLOCK=256)
                nodes //= 2
        return tree


def get_inputs():
    return [torch.randn(5, 77)]


def get_init_inputs():
    return []
