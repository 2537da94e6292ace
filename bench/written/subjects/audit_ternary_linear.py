"""A product with weights of -1, 0 and 1, four of them in each byte, with a scale for each output."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

SPLITS = 4
GROUP = 4


@triton.jit
def ternary_kernel(
    x_ptr,
    packed_ptr,
    scale_ptr,
    out_ptr,
    m,
    n,
    k,
    x_row_stride,
    x_col_stride,
    packed_row_stride,
    packed_col_stride,
    scale_stride,
    each,
    SPLIT: tl.constexpr,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    # Tiles go by groups of rows, so that neighbours share what they read.
    tile = tl.program_id(0)
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    group = tile // (GROUP * tiles_n)
    first_m = group * GROUP
    group_rows = tl.minimum(tiles_m - first_m, GROUP)
    within = tile % (GROUP * tiles_n)
    row = (first_m + within % group_rows).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    col = (within // group_rows).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(1).to(tl.int64)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(part * each, tl.minimum((part + 1) * each, k), BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K)
        x_mask = (row < m)[:, None] & (depth < k)[None, :]
        x = tl.load(x_ptr + row[:, None] * x_row_stride + depth[None, :] * x_col_stride, mask=x_mask, other=0.0)
        packed_mask = (depth < k)[:, None] & (col < n)[None, :]
        packed_at = col[None, :] * packed_row_stride + (depth // 4)[:, None] * packed_col_stride
        packed = tl.load(packed_ptr + packed_at, mask=packed_mask, other=0).to(tl.int32)
        code = (packed >> ((depth % 4) * 2).to(tl.int32)[:, None]) & 3
        weight = tl.where(code == 3, 0, code - 1)
        total = tl.dot(x.to(tl.float32), weight.to(tl.float32), total, input_precision="ieee")
    mask = (row < m)[:, None] & (col < n)[None, :]
    at = row[:, None] * n + col[None, :]
    if SPLIT:
        tl.store(out_ptr + part * m * n + at, total, mask=mask)
    else:
        scale = tl.load(scale_ptr + col * scale_stride, mask=col < n, other=0.0).to(tl.float32)
        tl.store(out_ptr + at, (total * scale[None, :]).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def finish_kernel(parts_ptr, scale_ptr, out_ptr, m, n, scale_stride, SPLITS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    size = tl.cast(m, tl.int64) * n
    total = tl.zeros((BLOCK,), tl.float32)
    for part in tl.static_range(SPLITS):
        total += tl.load(parts_ptr + part * size + at, mask=at < size, other=0.0)
    scale = tl.load(scale_ptr + (at % n) * scale_stride, mask=at < size, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, (total * scale).to(out_ptr.dtype.element_ty), mask=at < size)


def ternary_linear(x: torch.Tensor, packed: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """x, (m, k), packed, (n, k / 4), uint8, scale, (n), float32: (m, n) in x's dtype, the sum over k of x[m, k] times
    weight[n, k], times scale[n]. Weight 4 * b + i is in bits 2 * i and 2 * i + 1 of byte b: 0 is -1, 1 is 0, 2 is 1,
    and 3, which is not used, is 0. Sums are float32."""
    if x.ndim != 2 or packed.ndim != 2 or x.shape[1] != 4 * packed.shape[1] or scale.shape != packed.shape[:1]:
        raise ValueError("x is (m, k), packed is (n, k / 4), and scale is (n)")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    if packed.dtype != torch.uint8 or scale.dtype != torch.float32:
        raise ValueError("packed is uint8, and scale is float32")
    if x.device != packed.device or x.device != scale.device or max(*x.shape, packed.shape[0]) >= 2**30:
        raise ValueError("all lie on one device, with sizes below 2^30")
    (m, k), n = x.shape, packed.shape[0]
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if not out.numel():
        return out
    strides = (*x.stride(), *packed.stride(), scale.stride(0))
    if m <= 16:
        # Few rows: several programs share the depth, in whole blocks of it.
        each = triton.cdiv(k, SPLITS * 64) * 64
        parts = torch.empty((SPLITS, m, n), dtype=torch.float32, device=x.device)
        ternary_kernel[(triton.cdiv(n, 32), SPLITS)](
            x, packed, scale, parts, m, n, k, *strides, each, True, GROUP, BLOCK_M=16, BLOCK_N=32, BLOCK_K=64
        )
        grid = (triton.cdiv(m * n, 256),)
        finish_kernel[grid](parts, scale, out, m, n, scale.stride(0), SPLITS=SPLITS, BLOCK=256)
    else:
        grid = (triton.cdiv(m, 32) * triton.cdiv(n, 32), 1)
        ternary_kernel[grid](
            x, packed, scale, out, m, n, k, *strides, k, False, GROUP, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32
        )
    return out


def reference(x: torch.Tensor, packed: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    shift = torch.arange(0, 8, 2, device=x.device)
    code = (packed.to(torch.int32)[:, :, None] >> shift) & 3
    weight = torch.where(code == 3, 0, code - 1).reshape(packed.shape[0], x.shape[1])
    return ((x.to(torch.float32) @ weight.to(torch.float32).t()) * scale).to(x.dtype)


linear = Subject(
    ternary_linear,
    reference=reference,
    inputs=[
        Tensor("m", "4 * bytes"),
        Tensor("n", "bytes", dtype="uint8", low=0, high=256),
        Tensor("n", dtype="float32"),
    ],
    name="ternary_linear",
    sizes={"m": [64, 1, 17, 170, 0], "n": [64, 1, 37, 100], "bytes": [32, 1, 9, 75]},
)
