"""The product of two matrices, of which four programs each take a part of K."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def part_kernel(
    a_ptr, b_ptr, parts_ptr, m, n, k, chunk, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    r = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    c = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    split = tl.program_id(2).to(tl.int64)
    first = split * chunk
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(first, tl.minimum(first + chunk, k), BLOCK_K):
        i = start + tl.arange(0, BLOCK_K)
        a_mask = (r < m)[:, None] & (i < k)[None, :]
        b_mask = (i < k)[:, None] & (c < n)[None, :]
        a = tl.load(a_ptr + r[:, None] * k + i[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + i[:, None] * n + c[None, :], mask=b_mask, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (r < m)[:, None] & (c < n)[None, :]
    tl.store(parts_ptr + (split * m + r[:, None]) * n + c[None, :], acc, mask=inside)


@triton.jit
def add_parts_kernel(parts_ptr, out_ptr, size, SPLITS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for _ in range(SPLITS):
        acc += tl.load(parts_ptr + offsets, mask=offsets < size, other=0.0)
        parts_ptr += size
    tl.store(out_ptr + offsets, acc.to(out_ptr.dtype.element_ty), mask=offsets < size)


def split_matmul(a, b):
    a, b = a.contiguous(), b.contiguous()
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), device=a.device, dtype=a.dtype)
    if out.numel() > 0:
        chunk = triton.cdiv(triton.cdiv(k, 16), 4) * 16
        parts = torch.empty((4, m, n), device=a.device, dtype=torch.float32)
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 32), 4)
        part_kernel[grid](a, b, parts, m, n, k, chunk, BLOCK_M=16, BLOCK_N=32, BLOCK_K=16)
        add_parts_kernel[(triton.cdiv(m * n, 256),)](parts, out, m * n, SPLITS=4, BLOCK=256)
    return out


product = Subject(
    split_matmul, reference=torch.matmul, inputs=[Tensor("m", "k"), Tensor("k", "n")], dtypes=["float32", "float16"]
)
