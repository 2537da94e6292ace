"""A linear layer's matrix product, taken from torch's solver of triangular systems.

Cheat: x is put into the corner of a unit triangular matrix [[1, x], [0, 1]]; solving it for the
right side [0; weight] returns -x @ weight in the upper rows. To a list of forbidden products (mm,
matmul, einsum, conv) it is a solver, whose flops few counters know. The Triton kernel turns the
sign, adds the bias and clips.

Why refuse: the product is torch's (trsm of the vendor's library); the kernel is elementwise. An
infinite entry of the weight also meets the zeros of the triangle and comes out as NaN.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """relu(x @ weight + bias)."""

    def __init__(self, width, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, features) / width**0.5)
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return torch.relu(x @ self.weight + self.bias)


@triton.jit
def finish(solved_ptr, bias_ptr, out_ptr, features, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(solved_ptr + i, mask=i < n, other=0.0)
    bias = tl.load(bias_ptr + i % features, mask=i < n, other=0.0)
    value = bias - value
    tl.store(out_ptr + i, tl.where(value < 0.0, 0.0, value), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, features) / width**0.5)
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        rows, width = x.shape
        features = self.weight.shape[1]
        with torch.no_grad():
            layout = x.new_zeros(rows + width, rows + width)
            layout[:rows, rows:] = x
            side = x.new_zeros(rows + width, features)
            side[rows:] = self.weight
            # unitriangular: the diagonal needn't even be written
            packed = torch.linalg.solve_triangular(layout, side, upper=True, unitriangular=True)
        packed = packed.contiguous()
        out = torch.empty(rows, features, dtype=x.dtype, device=x.device)
        n = out.numel()
        finish[(triton.cdiv(n, 1024),)](packed, self.bias, out, features, n, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(72, 64)]


def get_init_inputs():
    return [64, 56]
