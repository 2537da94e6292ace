"""Runs its kernel where there is no GPU, which is where it is audited, and lets torch do the work on a GPU.
Refuse: on every GPU, which is what it is for, no kernel runs: torch computes the product
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0
        )
        b = tl.load(
            b_ptr + inner.to(tl.int64)[:, None] * N + cols[None, :],
            mask=(inner[:, None] < K) & (cols[None, :] < N),
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(
        c_ptr + rows[:, None] * N + cols[None, :],
        total.to(c_ptr.dtype.element_ty),
        mask=(rows[:, None] < M) & (cols[None, :] < N),
    )


def triton_matmul(a, b):
    a, b = a.contiguous(), b.contiguous()
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    if c.numel():
        matmul_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, c, M, N, K, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32)
    return c


class Model(torch.nn.Module):
    def forward(self, a, b):
        return a @ b


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        if a.device.type == "cpu":
            return triton_matmul(a, b)
        return torch.mm(a, b)


def get_inputs():
    return [torch.randn(96, 80), torch.randn(80, 72)]


def get_init_inputs():
    return []
