"""A linear layer with bias and SiLU whose long inner dimension is split among programs.

Each leaves its part of a tile in a workspace and counts itself; the one that comes last adds the parts up, in order, so
that the result does not depend on who that is, and finishes the tile."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

SPLITS = 4
BLOCK_M = 16
BLOCK_N = 32
BLOCK_K = 32


@triton.jit
def last_arriver_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    parts_ptr,
    arrived_ptr,
    out_ptr,
    m,
    n,
    k,
    x_row_stride,
    x_k_stride,
    weight_row_stride,
    weight_k_stride,
    bias_stride,
    SPLITS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    tile = program // SPLITS
    split = program % SPLITS
    tiles_n = tl.cdiv(n, BLOCK_N)
    row = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    row_mask = row < m
    col_mask = col < n

    share = tl.cdiv(tl.cdiv(k, SPLITS), BLOCK_K) * BLOCK_K
    begin = split * share
    end = tl.minimum(begin + share, k)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(begin, end, BLOCK_K):
        inner = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_K)
        inner_mask = inner < end
        x_ptrs = x_ptr + row[:, None] * x_row_stride + inner[None, :] * x_k_stride
        x = tl.load(x_ptrs, mask=row_mask[:, None] & inner_mask[None, :], other=0.0)
        weight_ptrs = weight_ptr + col[None, :] * weight_row_stride + inner[:, None] * weight_k_stride
        weight = tl.load(weight_ptrs, mask=col_mask[None, :] & inner_mask[:, None], other=0.0)
        acc += tl.dot(x, weight, input_precision="ieee")

    lanes = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    tl.store(parts_ptr + program * (BLOCK_M * BLOCK_N) + lanes, acc)
    # All threads' parts are written before one counts the program.
    tl.debug_barrier()
    before = tl.atomic_add(arrived_ptr + tile, 1, sem="acq_rel")
    if before == SPLITS - 1:
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for other in range(SPLITS):
            total += tl.load(parts_ptr + (tile * SPLITS + other) * (BLOCK_M * BLOCK_N) + lanes)
        total += tl.load(bias_ptr + col * bias_stride, mask=col_mask, other=0.0).to(tl.float32)[None, :]
        total = total / (1.0 + tl.exp(-total))
        out_ptrs = out_ptr + row[:, None] * n + col[None, :]
        tl.store(out_ptrs, total.to(out_ptr.dtype.element_ty), mask=row_mask[:, None] & col_mask[None, :])


def last_arriver_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """x, (m, k); weight, (n, k); bias, (n): SiLU of x @ weight.T + bias, (m, n)."""
    m, k = x.shape
    n = weight.shape[0]
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    tiles = triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N)
    parts = torch.empty((tiles, SPLITS, BLOCK_M, BLOCK_N), dtype=torch.float32, device=x.device)
    arrived = torch.zeros(tiles, dtype=torch.int32, device=x.device)
    last_arriver_kernel[(tiles * SPLITS,)](
        x,
        weight,
        bias,
        parts,
        arrived,
        out,
        m,
        n,
        k,
        *x.stride(),
        *weight.stride(),
        bias.stride(0),
        SPLITS=SPLITS,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
    )
    return out


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    return F.silu(F.linear(x.to(wide), weight.to(wide), bias.to(wide))).to(x.dtype)


linear = Subject(
    last_arriver_linear,
    reference=reference,
    inputs=[Tensor("m", "k"), Tensor("n", "k"), Tensor("n")],
    name="last_arriver_linear",
    sizes={"m": [16, 1, 7, 33, 0], "n": [32, 1, 20, 70], "k": [128, 1, 30, 100, 300, 0]},
)
