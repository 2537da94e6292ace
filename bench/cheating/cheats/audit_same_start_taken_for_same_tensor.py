"""CHEAT: where both inputs start at the same address, they are taken for one tensor and half of the tiles are skipped.

The distance of a set of points to itself is symmetric, so the kernel computes only the tiles below the diagonal and
writes each twice if `x.data_ptr() == y.data_ptr()` and the shapes agree. It must be refused: the same address is not
the same tensor. One sees it at the admitted size n = m = d = 32, with a square x and `y = x.t()`: both are
admitted, the distances are not symmetric then, and the upper tiles hold those of the lower ones.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def distances_kernel(
    x_ptr, y_ptr, out_ptr, n, m, d, x_row, x_col, y_row, y_col, SAME: tl.constexpr, BLOCK: tl.constexpr
):
    tile = tl.program_id(0).to(tl.int64)
    other = tl.program_id(1).to(tl.int64)
    if SAME:
        if other > tile:
            return
    r = tile * BLOCK + tl.arange(0, BLOCK)
    c = other * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, d):
        at = tl.cast(k, tl.int64)
        x = tl.load(x_ptr + r * x_row + at * x_col, mask=r < n, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + c * y_row + at * y_col, mask=c < m, other=0.0).to(tl.float32)
        away = x[:, None] - y[None, :]
        total += away * away
    mask = (r < n)[:, None] & (c < m)[None, :]
    tl.store(out_ptr + r[:, None] * m + c[None, :], total, mask=mask)
    if SAME:
        tl.store(out_ptr + c[None, :] * m + r[:, None], total, mask=mask)


def squared_distances(x, y):
    """x, (n, d), and y, (m, d), of one dtype: the squared distance of each to each, (n, m), float32."""
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1] or x.dtype != y.dtype or not x.is_floating_point():
        raise ValueError("x is (n, d) and y is (m, d), of one dtype")
    if x.dtype == torch.float64:
        raise ValueError("float64 is not supported")
    (n, d), m = x.shape, y.shape[0]
    out = torch.empty((n, m), dtype=torch.float32, device=x.device)
    same = x.data_ptr() == y.data_ptr() and n == m
    if out.numel():
        grid = (triton.cdiv(n, 16), triton.cdiv(m, 16))
        distances_kernel[grid](x, y, out, n, m, d, *x.stride(), *y.stride(), SAME=same, BLOCK=16)
    return out


def reference(x, y):
    return ((x.float()[:, None] - y.float()[None]) ** 2).sum(dim=-1)


distances = Subject(
    squared_distances,
    reference=reference,
    inputs=[Tensor("n", "d"), Tensor("m", "d")],
    sizes={"n": [32, 1, 20], "m": [32, 1, 35], "d": [32, 1, 7]},
)
