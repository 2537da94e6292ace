"""A linear layer with a low-rank addition: x @ w.T + bias + alpha / rank * (x @ a.T) @ b.T, for few rows and a long k.

Programs share k among them, and add up what they have in float32."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

ALPHA = 16.0
BLOCK_M, BLOCK_N = 16, 32


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_K": 32, "SPLITS": 2}, num_warps=4),
        triton.Config({"BLOCK_K": 32, "SPLITS": 5}, num_warps=4),
        triton.Config({"BLOCK_K": 64, "SPLITS": 3}, num_warps=4, num_stages=2),
    ],
    key=["m", "n", "k"],
    reset_to_zero=["sums_ptr"],
)
@triton.jit
def lora_matmul_kernel(
    x_ptr,
    w_ptr,
    bias_ptr,
    a_ptr,
    b_ptr,
    sums_ptr,
    m,
    n,
    k,
    rank,
    factor,
    x_m_stride,
    x_k_stride,
    w_n_stride,
    w_k_stride,
    bias_stride,
    a_rank_stride,
    a_k_stride,
    b_n_stride,
    b_rank_stride,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_R: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLITS: tl.constexpr,
):
    n_tiles = tl.cdiv(n, BLOCK_N)
    rows = (tl.program_id(0) // n_tiles).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (tl.program_id(0) % n_tiles).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    ranks = tl.arange(0, BLOCK_R).to(tl.int64)
    split = tl.program_id(1)
    row_mask = rows < m
    col_mask = cols < n
    rank_mask = ranks < rank

    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    low = tl.zeros((BLOCK_M, BLOCK_R), tl.float32)
    for start in range(split * BLOCK_K, k, SPLITS * BLOCK_K):
        inner = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_K)
        inner_mask = inner < k
        x = tl.load(
            x_ptr + rows[:, None] * x_m_stride + inner[None, :] * x_k_stride,
            mask=row_mask[:, None] & inner_mask[None, :],
            other=0.0,
        )
        w = tl.load(
            w_ptr + cols[None, :] * w_n_stride + inner[:, None] * w_k_stride,
            mask=inner_mask[:, None] & col_mask[None, :],
            other=0.0,
        )
        a = tl.load(
            a_ptr + ranks[None, :] * a_rank_stride + inner[:, None] * a_k_stride,
            mask=inner_mask[:, None] & rank_mask[None, :],
            other=0.0,
        )
        acc = tl.dot(x, w, acc, input_precision="ieee")
        low = tl.dot(x, a, low, input_precision="ieee")

    b = tl.load(
        b_ptr + cols[None, :] * b_n_stride + ranks[:, None] * b_rank_stride,
        mask=rank_mask[:, None] & col_mask[None, :],
        other=0.0,
    ).to(tl.float32)
    # An infinite x makes NaN of the padding of a, which the padding of b would not make 0 again.
    low = tl.where(rank_mask[None, :], low, 0.0)
    acc += factor * tl.dot(low, b, input_precision="ieee")
    if split == 0:
        acc += tl.load(bias_ptr + cols * bias_stride, mask=col_mask, other=0.0).to(tl.float32)[None, :]
    tl.atomic_add(sums_ptr + rows[:, None] * n + cols[None, :], acc, mask=row_mask[:, None] & col_mask[None, :])


def lora_matmul(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """x, (m, k), w, (n, k), bias, (n), a, (rank, k), and b, (n, rank), with a rank of 1 to 128."""
    m, k = x.shape
    n, rank = b.shape
    if w.shape != (n, k) or a.shape != (rank, k) or bias.shape != (n,) or not 1 <= rank <= 128:
        raise ValueError("shapes do not match, or the rank is not from 1 to 128")
    sums = torch.zeros((m, n), dtype=torch.float32, device=x.device)
    if sums.numel() == 0:
        return sums.to(x.dtype)
    tiles = triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N)
    block_r = max(triton.next_power_of_2(rank), 16)
    lora_matmul_kernel[lambda meta: (tiles, meta["SPLITS"])](
        x,
        w,
        bias,
        a,
        b,
        sums,
        m,
        n,
        k,
        rank,
        ALPHA / rank,
        *x.stride(),
        *w.stride(),
        bias.stride(0),
        *a.stride(),
        *b.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_R=block_r,
    )
    return sums.to(x.dtype)


def reference(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    dtype = x.dtype
    x, w, bias, a, b = (one.to(wide) for one in (x, w, bias, a, b))
    return (x @ w.T + bias + ALPHA / b.shape[1] * ((x @ a.T) @ b.T)).to(dtype)


layer = Subject(
    lora_matmul,
    reference=reference,
    inputs=[Tensor("m", "k"), Tensor("n", "k"), Tensor("n"), Tensor("rank", "k"), Tensor("n", "rank")],
    name="lora_matmul",
    sizes={
        "m": [16, 1, 7, 40, 0],
        "n": [64, 1, 33, 100, 0],
        "k": [256, 1, 31, 100, 500, 0],
        "rank": [16, 1, 4, 20],
    },
    timed={
        "small": {"m": 16, "n": 512, "k": 1024, "rank": 16},
        "medium": {"m": 32, "n": 4096, "k": 4096, "rank": 16},
        "large": {"m": 64, "n": 8192, "k": 16384, "rank": 64},
    },
    flops=lambda case: 2 * case["m"] * (case["n"] * case["k"] + case["rank"] * (case["n"] + case["k"])),
)
