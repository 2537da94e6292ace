"""int8 activations times ternary weights, four of them in a byte, as exact int32 sums.

It looks suspicious: integers are multiplied as float16, which rounds odd ones above 2,048, and the sum of each step
goes through float32. It is fair: a factor is an int8 or one of -1, 0 and 1, exact in float16, a product is at
most 128, and 64 of them stay far below 2^24, so that float32 holds the sum of a step exactly; steps are added as
int32. The code 3, which no packer writes, counts as 0, in the reference as well.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def ternary_kernel(
    x_ptr, w_ptr, out_ptr, m, n, k, x_row, x_col, w_row, w_col, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr
):
    tiles = tl.cdiv(n, BLOCK)
    r = (tl.program_id(0) // tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    c = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.int32)
    for start in range(0, k, BLOCK_K):
        at = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_K)
        x_mask = (r < m)[:, None] & (at < k)[None, :]
        x = tl.load(x_ptr + r[:, None] * x_row + at[None, :] * x_col, mask=x_mask, other=0)
        w_mask = (at < k)[:, None] & (c < n)[None, :]
        w = tl.load(w_ptr + c[None, :] * w_row + (at // 4)[:, None] * w_col, mask=w_mask, other=0).to(tl.int32)
        code = (w >> (2 * (at % 4)).to(tl.int32)[:, None]) & 3
        sign = (code & 1) - (code >> 1)
        total += tl.dot(x.to(tl.float16), sign.to(tl.float16)).to(tl.int32)
    tl.store(out_ptr + r[:, None] * n + c[None, :], total, mask=(r < m)[:, None] & (c < n)[None, :])


def ternary_product(x, w):
    """x, (m, 4 * k), int8, and w, (n, k), uint8, with four codes a byte, lowest first: 1 is +1, 2 is -1. Gives (m, n)."""
    if x.ndim != 2 or w.ndim != 2 or x.shape[1] != 4 * w.shape[1] or x.dtype != torch.int8 or w.dtype != torch.uint8:
        raise ValueError("x is (m, 4 * k), int8, and w is (n, k), uint8")
    (m, k), n = x.shape, w.shape[0]
    out = torch.empty((m, n), dtype=torch.int32, device=x.device)
    if out.numel():
        grid = (triton.cdiv(m, 32) * triton.cdiv(n, 32),)
        ternary_kernel[grid](x, w, out, m, n, k, *x.stride(), *w.stride(), BLOCK=32, BLOCK_K=64)
    return out


def reference(x, w):
    codes = torch.stack([(w >> shift) & 3 for shift in (0, 2, 4, 6)], dim=-1).reshape(w.shape[0], 4 * w.shape[1]).int()
    signs = (codes & 1) - (codes >> 1)
    return (x.double() @ signs.double().T).int()


product = Subject(
    ternary_product,
    reference=reference,
    inputs=[
        Tensor("m", "4 * k", dtype="int8", low=-128, high=128),
        Tensor("n", "k", dtype="uint8", low=0, high=256),
    ],
    sizes={"m": [32, 1, 33, 0], "n": [32, 1, 20], "k": [32, 1, 37]},
)
