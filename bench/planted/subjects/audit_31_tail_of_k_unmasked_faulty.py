"""The product of two matrices with whatever strides, over blocks of the inner dimension."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    m,
    n,
    k,
    a_row,
    a_column,
    b_row,
    b_column,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    r = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    c = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        i = start + tl.arange(0, BLOCK_K).to(tl.int64)
        a_mask = (r < m)[:, None]
        b_mask = (i < k)[:, None] & (c < n)[None, :]
        a = tl.load(a_ptr + r[:, None] * a_row + i[None, :] * a_column, mask=a_mask, other=0.0)  # fault: load out of bounds: the tail of the loop over K is not masked
        b = tl.load(b_ptr + i[:, None] * b_row + c[None, :] * b_column, mask=b_mask, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (r < m)[:, None] & (c < n)[None, :]
    tl.store(out_ptr + r[:, None] * n + c[None, :], acc.to(out_ptr.dtype.element_ty), mask=inside)


def matmul(a, b):
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), device=a.device, dtype=a.dtype)
    if out.numel() > 0:
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 32))
        matmul_kernel[grid](a, b, out, m, n, k, *a.stride(), *b.stride(), BLOCK_M=16, BLOCK_N=32, BLOCK_K=32)
    return out


product = Subject(
    matmul, reference=torch.matmul, inputs=[Tensor("m", "k"), Tensor("k", "n")], dtypes=["float32", "float16"]
)
