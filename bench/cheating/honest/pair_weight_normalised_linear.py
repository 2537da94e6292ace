"""A linear layer whose weight is stored as directions and lengths: weight = length * direction / |direction|.

Looks suspicious: the normalised weight never exists; a first kernel finds length / |direction| for each output, and the
product is scaled by it only at the end, so that values are rounded otherwise than in the reference.
It is fair: a factor common to a row of the weight may be taken out of the sum; both sums are float32.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def factor_kernel(direction, length, factor, inner, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, inner, BLOCK):
        c = start + tl.arange(0, BLOCK)
        value = tl.load(direction + row * inner + c, mask=c < inner, other=0.0).to(tl.float32)
        squares += value * value
    tl.store(factor + row, tl.load(length + row).to(tl.float32) / tl.sqrt(tl.sum(squares, axis=0)))


@triton.jit
def linear_kernel(x, direction, factor, bias, out, rows, outer, inner, outer_tiles, xr, xc, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    program = tl.program_id(0)
    m = (program // outer_tiles).to(tl.int64) * M + tl.arange(0, M)
    n = (program % outer_tiles).to(tl.int64) * N + tl.arange(0, N)
    acc = tl.zeros([M, N], dtype=tl.float32)
    for start in range(0, inner, K):
        k = start + tl.arange(0, K).to(tl.int64)
        a = tl.load(x + m[:, None] * xr + k[None, :] * xc, mask=(m[:, None] < rows) & (k[None, :] < inner), other=0.0).to(tl.float32)
        w = tl.load(direction + n[None, :] * inner + k[:, None], mask=(n[None, :] < outer) & (k[:, None] < inner), other=0.0).to(tl.float32)
        acc = tl.dot(a, w, acc, input_precision="ieee")
    scale = tl.load(factor + n, mask=n < outer, other=0.0)
    shift = tl.load(bias + n, mask=n < outer, other=0.0).to(tl.float32)
    tl.store(out + m[:, None] * outer + n[None, :], acc * scale[None, :] + shift[None, :], mask=(m[:, None] < rows) & (n[None, :] < outer))


class Model(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.direction = nn.Parameter(torch.randn(outer, inner))
        self.length = nn.Parameter(torch.rand(outer) + 0.5)
        self.bias = nn.Parameter(torch.randn(outer))

    def forward(self, x):
        direction = self.direction.float()
        weight = self.length.float()[:, None] * direction / direction.norm(dim=1, keepdim=True)
        return (x.float() @ weight.T + self.bias.float()).to(x.dtype)


class ModelNew(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.direction = nn.Parameter(torch.randn(outer, inner))
        self.length = nn.Parameter(torch.rand(outer) + 0.5)
        self.bias = nn.Parameter(torch.randn(outer))

    def forward(self, x):
        outer, inner = self.direction.shape
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or x.dim() != 2 or x.shape[1] != inner:
            raise ValueError("inputs are float32, float16 or bfloat16 of (rows, inner)")
        direction, length, bias = (t.detach().contiguous() for t in (self.direction, self.length, self.bias))
        factor = torch.empty((outer,), dtype=torch.float32, device=x.device)
        out = torch.empty((x.shape[0], outer), dtype=x.dtype, device=x.device)
        outer_tiles = triton.cdiv(outer, 32)
        if out.numel():
            factor_kernel[(outer,)](direction, length, factor, inner, BLOCK=64)
            linear_kernel[(triton.cdiv(x.shape[0], 16) * outer_tiles,)](
                x, direction, factor, bias, out, x.shape[0], outer, inner, outer_tiles, *x.stride(), M=16, N=32, K=32
            )
        return out


def get_inputs():
    return [torch.randn(50, 70)]


def get_init_inputs():
    return [70, 45]
