"""A product of 8-bit integers, summed exactly, with a scale and a zero point for each row of x and a scale for each
column, by persistent programs that go through the tiles in groups of rows."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

MOST_PROGRAMS = 20
LONGEST = 65536
BLOCK_M, BLOCK_N, BLOCK_K = 16, 32, 64
GROUP_M = 4


@triton.jit
def int8_matmul_kernel(
    x_ptr,
    w_ptr,
    x_scale_ptr,
    x_zero_ptr,
    w_scale_ptr,
    out_ptr,
    m,
    n,
    k,
    x_m_stride,
    x_k_stride,
    w_n_stride,
    w_k_stride,
    x_scale_stride,
    x_zero_stride,
    w_scale_stride,
    out_m_stride,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    m_tiles = tl.cdiv(m, BLOCK_M)
    n_tiles = tl.cdiv(n, BLOCK_N)
    for tile in range(tl.program_id(0), m_tiles * n_tiles, tl.num_programs(0)):
        group = tile // (GROUP_M * n_tiles)
        here = tile % (GROUP_M * n_tiles)
        group_rows = tl.minimum(m_tiles - group * GROUP_M, GROUP_M)
        m_tile = group * GROUP_M + here % group_rows
        n_tile = here // group_rows
        rows = m_tile.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = n_tile.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
        row_mask = rows < m
        col_mask = cols < n

        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
        w_sum = tl.zeros((BLOCK_N,), tl.int32)
        for start in range(0, k, BLOCK_K):
            inner = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_K)
            inner_mask = inner < k
            x = tl.load(
                x_ptr + rows[:, None] * x_m_stride + inner[None, :] * x_k_stride,
                mask=row_mask[:, None] & inner_mask[None, :],
                other=0,
            )
            w = tl.load(
                w_ptr + inner[:, None] * w_k_stride + cols[None, :] * w_n_stride,
                mask=inner_mask[:, None] & col_mask[None, :],
                other=0,
            )
            acc = tl.dot(x, w, acc, out_dtype=tl.int32)
            w_sum += tl.sum(w.to(tl.int32), axis=0)

        x_scale = tl.load(x_scale_ptr + rows * x_scale_stride, mask=row_mask, other=0.0).to(tl.float32)
        x_zero = tl.load(x_zero_ptr + rows * x_zero_stride, mask=row_mask, other=0).to(tl.int32)
        w_scale = tl.load(w_scale_ptr + cols * w_scale_stride, mask=col_mask, other=0.0).to(tl.float32)
        exact = acc - x_zero[:, None] * w_sum[None, :]
        out = exact.to(tl.float32) * x_scale[:, None] * w_scale[None, :]
        tl.store(
            out_ptr + rows[:, None] * out_m_stride + cols[None, :],
            out.to(out_ptr.dtype.element_ty),
            mask=row_mask[:, None] & col_mask[None, :],
        )


def int8_matmul(
    x: torch.Tensor, w: torch.Tensor, x_scale: torch.Tensor, x_zero: torch.Tensor, w_scale: torch.Tensor
) -> torch.Tensor:
    """x, (m, k), and w, (n, k), int8; x stands for (x - x_zero) * x_scale, each (m), the zeros int8, and w for
    w * w_scale, (n). The product, (m, n), is as x_scale. More than 65,536 along k could overflow, and is refused."""
    m, k = x.shape
    n = w.shape[0]
    if any(one.dtype != torch.int8 for one in (x, w, x_zero)) or w.shape[1] != k:
        raise ValueError("wants int8 of matching shapes")
    if k > LONGEST:
        raise ValueError("k is too large for exact sums")
    out = torch.empty((m, n), dtype=x_scale.dtype, device=x.device)
    if out.numel() == 0:
        return out
    tiles = triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N)
    int8_matmul_kernel[(min(tiles, MOST_PROGRAMS),)](
        x,
        w,
        x_scale,
        x_zero,
        w_scale,
        out,
        m,
        n,
        k,
        *x.stride(),
        *w.stride(),
        x_scale.stride(0),
        x_zero.stride(0),
        w_scale.stride(0),
        out.stride(0),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        GROUP_M=GROUP_M,
    )
    return out


def reference(
    x: torch.Tensor, w: torch.Tensor, x_scale: torch.Tensor, x_zero: torch.Tensor, w_scale: torch.Tensor
) -> torch.Tensor:
    wide = torch.promote_types(x_scale.dtype, torch.float32)
    exact = (x.double() - x_zero.double()[:, None]) @ w.double().T
    return (exact.to(wide) * x_scale.to(wide)[:, None] * w_scale.to(wide)[None, :]).to(x_scale.dtype)


def inputs(case: Case) -> tuple[torch.Tensor, ...]:
    """Integers over their whole range, and small scales."""
    m, n, k = case["m"], case["n"], case["k"]
    generator = torch.Generator().manual_seed(case.seed)
    dtype = getattr(torch, case.dtype)
    x, w, x_zero = (
        torch.randint(-128, 128, shape, generator=generator).to(torch.int8) for shape in ((m, k), (n, k), (m,))
    )
    x_scale, w_scale = (0.001 + 0.002 * torch.rand(size, generator=generator) for size in (m, n))
    tensors = (x, w, x_scale.to(dtype), x_zero, w_scale.to(dtype))
    return tuple(tensor.to(case.device) for tensor in tensors)


product = Subject(
    int8_matmul,
    reference=reference,
    inputs=inputs,
    name="int8_matmul",
    sizes={"m": [64, 1, 17, 100, 200, 0], "n": [64, 1, 33, 100, 0], "k": [128, 1, 63, 100, 200, 0]},
    timed={
        "small": {"m": 256, "n": 512, "k": 512},
        "medium": {"m": 2048, "n": 4096, "k": 4096},
        "large": {"m": 8192, "n": 8192, "k": 8192},
    },
    flops=lambda case: 2 * case["m"] * case["n"] * case["k"],
)
