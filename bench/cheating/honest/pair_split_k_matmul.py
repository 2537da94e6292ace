"""A product with a long inner dimension, which programs share: each adds its part by atomics."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


@triton.jit
def split_k_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, SPLIT: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(n, BLOCK_N)
    tile = tl.program_id(0) // SPLIT
    part = tl.program_id(0) % SPLIT
    rows = (tile // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = (tile % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(part * BLOCK_K, k, SPLIT * BLOCK_K):
        depth = (start + tl.arange(0, BLOCK_K)).to(tl.int64)
        a_mask = (rows < m)[:, None] & (depth < k)[None, :]
        b_mask = (depth < k)[:, None] & (columns < n)[None, :]
        a = tl.load(a_ptr + rows[:, None] * k + depth[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + depth[:, None] * n + columns[None, :], mask=b_mask, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.atomic_add(c_ptr + rows[:, None] * n + columns[None, :], acc, mask=mask, sem="relaxed")


class ModelNew(nn.Module):
    def forward(self, a, b):
        assert a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0] and a.dtype == b.dtype
        assert a.dtype in (torch.float16, torch.bfloat16, torch.float32)
        a, b = a.contiguous(), b.contiguous()
        (m, k), n = a.shape, b.shape[1]
        c = torch.zeros((m, n), device=a.device, dtype=torch.float32)
        if c.numel() > 0 and k > 0:
            grid = (triton.cdiv(m, 32) * triton.cdiv(n, 32) * 4,)
            split_k_kernel[grid](a, b, c, m, n, k, SPLIT=4, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32)
        return c.to(a.dtype)


def get_inputs():
    return [torch.randn(40, 700), torch.randn(700, 24)]


def get_init_inputs():
    return []
