"""A product of 8-bit floats, scaled by blocks: x has a scale for each row and 32 along k, w for each 32 by 32."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

GROUP = 32
BLOCK_M, BLOCK_N = 32, 16


@triton.jit
def fp8_block_matmul_kernel(
    x_ptr,
    w_ptr,
    x_scale_ptr,
    w_scale_ptr,
    out_ptr,
    m,
    n,
    k,
    x_m_stride,
    x_k_stride,
    w_n_stride,
    w_k_stride,
    x_scale_m_stride,
    x_scale_k_stride,
    w_scale_n_stride,
    w_scale_k_stride,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_mask = rows < m
    col_mask = cols < n
    x_scale_ptrs = x_scale_ptr + rows * x_scale_m_stride
    w_scale_ptrs = w_scale_ptr + cols // GROUP * w_scale_n_stride
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for group in range(0, tl.cdiv(k, GROUP)):  # noqa: PIE808
        inner = tl.cast(group, tl.int64) * GROUP + tl.arange(0, GROUP)
        inner_mask = inner < k
        x = tl.load(
            x_ptr + rows[:, None] * x_m_stride + inner[None, :] * x_k_stride,
            mask=row_mask[:, None] & inner_mask[None, :],
            other=0.0,
        )
        w = tl.load(
            w_ptr + inner[:, None] * w_k_stride + cols[None, :] * w_n_stride,
            mask=inner_mask[:, None] & col_mask[None, :],
            other=0.0,
        )
        x_scale = tl.load(x_scale_ptrs + group * x_scale_k_stride, mask=row_mask, other=0.0)
        w_scale = tl.load(w_scale_ptrs + group * w_scale_k_stride, mask=col_mask, other=0.0)
        # All 8-bit floats are float16 as well, and their products are exact in the sums' float32.
        part = tl.dot(x.to(tl.float16), w.to(tl.float16), out_dtype=tl.float32)
        acc += part * x_scale[:, None] * w_scale[None, :]
    out_ptrs = out_ptr + rows[:, None] * n + cols[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=row_mask[:, None] & col_mask[None, :])


def fp8_block_matmul(
    x: torch.Tensor, w: torch.Tensor, x_scale: torch.Tensor, w_scale: torch.Tensor, half: bool
) -> torch.Tensor:
    """x, (m, k), and w, (n, k), float8_e4m3fn without NaN, with float32 scales, (m, k / 32) and (n / 32, k / 32),
    rounded up: the product of x and the transposed w, each block times its scales, (m, n), float32 or, with half,
    float16."""
    m, k = x.shape
    n = w.shape[0]
    groups = triton.cdiv(k, GROUP)
    if x.dtype != torch.float8_e4m3fn or w.dtype != torch.float8_e4m3fn:
        raise ValueError("x and w are float8_e4m3fn")
    if x_scale.dtype != torch.float32 or w_scale.dtype != torch.float32:
        raise ValueError("scales are float32")
    if w.shape[1] != k or x_scale.shape != (m, groups) or w_scale.shape != (triton.cdiv(n, GROUP), groups):
        raise ValueError("shapes do not fit")
    out = torch.empty((m, n), dtype=torch.float16 if half else torch.float32, device=x.device)
    if out.numel():
        grid = (triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N))
        fp8_block_matmul_kernel[grid](
            x,
            w,
            x_scale,
            w_scale,
            out,
            m,
            n,
            k,
            *x.stride(),
            *w.stride(),
            *x_scale.stride(),
            *w_scale.stride(),
            GROUP=GROUP,
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
        )
    return out


def reference(
    x: torch.Tensor, w: torch.Tensor, x_scale: torch.Tensor, w_scale: torch.Tensor, half: bool
) -> torch.Tensor:
    total = torch.zeros((x.shape[0], w.shape[0]), dtype=torch.float64, device=x.device)
    by_row = w_scale.double().repeat_interleave(GROUP, dim=0)[: w.shape[0]]
    for group in range(x_scale.shape[1]):
        inner = slice(group * GROUP, (group + 1) * GROUP)
        part = x.double()[:, inner] @ w.double()[:, inner].T
        total += part * x_scale.double()[:, group, None] * by_row[:, group]
    return total.to(torch.float16 if half else torch.float32)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, bool]:
    """Numbers up to 448, with scales so that results are about 1, and of different sizes for different blocks."""
    m, n, k = case["m"], case["n"], case["k"]
    generator = torch.Generator().manual_seed(case.seed)
    groups = triton.cdiv(k, GROUP)
    x, w = (
        (100 * torch.randn(shape, generator=generator)).clamp(-448, 448).to(torch.float8_e4m3fn)
        for shape in ((m, k), (n, k))
    )
    x_scale, w_scale = (
        (0.5 + torch.rand(shape, generator=generator)) / (100 * max(k, 1) ** 0.25)
        for shape in ((m, groups), (triton.cdiv(n, GROUP), groups))
    )
    tensors = tuple(tensor.to(case.device) for tensor in (x, w, x_scale, w_scale))
    return *tensors, bool(case["half"])


multiplied = Subject(
    fp8_block_matmul,
    reference=reference,
    inputs=inputs,
    name="fp8_block_matmul",
    sizes={
        "m": [32, 1, 17, 70, 0],
        "n": [16, 1, 50, 80, 0],
        "k": [32, 1, 47, 128, 0],
        "half": [0, 1],
    },
    dtypes=["float32"],
)
