"""x times a weight of 4-bit numbers, two to a byte, with a scale and a zero point for every 32 of a row."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

GROUP = 32
BLOCK_M, BLOCK_N, BLOCK_K = 16, 32, 64


@triton.jit
def int4_matmul_kernel(
    x_ptr,
    packed_ptr,
    scales_ptr,
    zeros_ptr,
    out_ptr,
    m,
    n,
    k,
    x_m_stride,
    x_k_stride,
    packed_n_stride,
    packed_k_stride,
    scales_n_stride,
    scales_group_stride,
    zeros_n_stride,
    zeros_group_stride,
    out_m_stride,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    n_tiles = tl.cdiv(n, BLOCK_N)
    rows = (tl.program_id(0) // n_tiles).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (tl.program_id(0) % n_tiles).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_mask = rows < m
    col_mask = cols < n
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        inner = (start + tl.arange(0, BLOCK_K)).to(tl.int64)
        inner_mask = inner < k
        x = tl.load(
            x_ptr + rows[:, None] * x_m_stride + inner[None, :] * x_k_stride,
            mask=row_mask[:, None] & inner_mask[None, :],
            other=0.0,
        ).to(tl.float32)
        mask = inner_mask[:, None] & col_mask[None, :]
        packed = tl.load(
            packed_ptr + cols[None, :] * packed_n_stride + (inner // 2)[:, None] * packed_k_stride, mask=mask, other=0
        )
        group = inner // GROUP
        scale = tl.load(
            scales_ptr + cols[None, :] * scales_n_stride + group[:, None] * scales_group_stride, mask=mask, other=0.0
        )
        zero = tl.load(
            zeros_ptr + cols[None, :] * zeros_n_stride + group[:, None] * zeros_group_stride, mask=mask, other=0
        )
        shift = (inner % 2 * 4).to(tl.int32)
        digit = (packed.to(tl.int32) >> shift[:, None]) & 0xF
        weight = (digit - zero.to(tl.int32)).to(tl.float32) * scale.to(tl.float32)
        acc = tl.dot(x, weight, acc, input_precision="ieee")
    tl.store(
        out_ptr + rows[:, None] * out_m_stride + cols[None, :],
        acc.to(out_ptr.dtype.element_ty),
        mask=row_mask[:, None] & col_mask[None, :],
    )


def int4_matmul(x: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor) -> torch.Tensor:
    """x, (m, k), times packed, (n, k / 2) uint8 with the even column in the low digit, of which scales and zeros,
    (n, k / 32), say what a digit stands for: (digit - zero) * scale."""
    m, k = x.shape
    n = packed.shape[0]
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    int4_matmul_kernel[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        x,
        packed,
        scales,
        zeros,
        out,
        m,
        n,
        k,
        *x.stride(),
        *packed.stride(),
        *scales.stride(),
        *zeros.stride(),
        out.stride(0),
        GROUP,
        BLOCK_M,
        BLOCK_N,
        BLOCK_K,
    )
    return out


def reference(x: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor) -> torch.Tensor:
    digits = torch.stack((packed & 0xF, packed >> 4), dim=-1).reshape(packed.shape[0], x.shape[1])
    wide = torch.promote_types(x.dtype, torch.float32)
    spread_scales, spread_zeros = (one.to(wide).repeat_interleave(GROUP, dim=1) for one in (scales, zeros))
    weight = (digits.to(wide) - spread_zeros) * spread_scales
    return (x.to(wide) @ weight.T).to(x.dtype)


product = Subject(
    int4_matmul,
    reference=reference,
    inputs=[
        Tensor("m", "32 * groups"),
        Tensor("n", "16 * groups", dtype="uint8", low=0, high=256),
        Tensor("n", "groups"),
        Tensor("n", "groups", dtype="uint8", low=0, high=16),
    ],
    name="int4_matmul",
    sizes={"m": [32, 1, 17, 100, 0], "groups": [2, 1, 3, 4, 9, 0], "n": [64, 1, 33, 100, 32, 0]},
)
