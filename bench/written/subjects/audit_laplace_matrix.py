"""The Laplacian kernel of two sets of points: exp(-gamma * sum |x_i - y_j|), in a persistent kernel that loops over tiles.

At most 256 programs share the 64 by 64 tiles of the result. gamma is 1 / features (1 without any feature) unless it is
given. Sums in float32; both sets may have any layout, and a NaN in a point makes its row or column NaN.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

TILE = 64
PROGRAMS = 256


@triton.jit
def laplace_kernel(x, y, out, n, m, features, gamma, tiles, xi, xf, yi, yf, PROGRAMS: tl.constexpr, TILE: tl.constexpr):
    wide = tl.cdiv(m, TILE)
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        row = (tile // wide).to(tl.int64) * TILE + tl.arange(0, TILE)
        col = (tile % wide).to(tl.int64) * TILE + tl.arange(0, TILE)
        x_at = x + row * xi
        y_at = y + col * yi
        total = tl.zeros([TILE, TILE], dtype=tl.float32)
        for _ in range(features):
            left = tl.load(x_at, mask=row < n, other=0.0).to(tl.float32)
            right = tl.load(y_at, mask=col < m, other=0.0).to(tl.float32)
            total += tl.abs(left[:, None] - right[None, :])
            x_at += xf
            y_at += yf
        value = tl.exp(-gamma * total)
        keep = (row < n)[:, None] & (col < m)[None, :]
        tl.store(out + row[:, None] * m + col[None, :], value, mask=keep)


def laplace_matrix(x, y, gamma=None):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or y.dtype != x.dtype:
        raise ValueError("laplace_matrix takes two tensors of float32, float16 or bfloat16")
    if x.dim() != 2 or y.dim() != 2 or x.shape[1] != y.shape[1] or x.device != y.device:
        raise ValueError("laplace_matrix takes (n, features) and (m, features) on one device")
    n, features = x.shape
    m = y.shape[0]
    if gamma is None:
        gamma = 1.0 / max(features, 1)
    out = torch.empty((n, m), dtype=x.dtype, device=x.device)
    if n and m:
        tiles = triton.cdiv(n, TILE) * triton.cdiv(m, TILE)
        grid = (min(tiles, PROGRAMS),)
        strides = (*x.stride(), *y.stride())
        laplace_kernel[grid](x, y, out, n, m, features, float(gamma), tiles, *strides, PROGRAMS=PROGRAMS, TILE=TILE, num_warps=8)
    return out


def reference(x, y):
    distance = torch.cdist(x.float(), y.float(), p=1.0)
    return torch.exp(distance * (-1.0 / max(x.shape[1], 1))).to(x.dtype)


kernel_matrix = Subject(laplace_matrix, reference=reference, inputs=[Tensor("n", "features"), Tensor("m", "features")])
