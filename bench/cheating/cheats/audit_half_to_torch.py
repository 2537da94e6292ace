"""Multiplies float32 matrices in a true kernel, and leaves float16 and bfloat16, which is what the product is used with, to torch.
Refuse: in both half precisions no kernel runs: torch computes the product
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def product_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    tile = tl.program_id(0).to(tl.int64)
    wide = tl.cdiv(n, BLOCK_N)
    rows = (tile // wide) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (tile % wide) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        inner = (start + tl.arange(0, BLOCK_K)).to(tl.int64)
        a = tl.load(
            a_ptr + rows[:, None] * k + inner[None, :], mask=(rows < m)[:, None] & (inner < k)[None, :], other=0.0
        )
        b = tl.load(
            b_ptr + inner[:, None] * n + cols[None, :], mask=(inner < k)[:, None] & (cols < n)[None, :], other=0.0
        )
        total += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], total, mask=(rows < m)[:, None] & (cols < n)[None, :])


def product(a, b):
    assert a.ndim == b.ndim == 2
    assert a.shape[1] == b.shape[0]
    assert a.dtype == b.dtype
    assert a.dtype in (torch.float16, torch.bfloat16, torch.float32)
    if a.dtype.itemsize == 2:
        return torch.matmul(a, b)
    a, b = a.contiguous(), b.contiguous()
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if c.numel():
        grid = (triton.cdiv(m, 32) * triton.cdiv(n, 32),)
        product_kernel[grid](a, b, c, m, n, k, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32)
    return c


multiply = Subject(product, reference=torch.matmul, inputs=[Tensor("m", "k"), Tensor("k", "n")])
