"""alpha * a @ b + beta * c of a batch, c of any strides, 0 included; with a beta of 0, c is not read."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK_M = 16
BLOCK_N = 32
BLOCK_K = 16


@triton.jit
def scaled_matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    out_ptr,
    alpha,
    beta,
    m,
    n,
    depth,
    steps,
    row_tiles,
    col_tiles,
    a_batch_stride,
    a_row_stride,
    a_k_stride,
    b_batch_stride,
    b_k_stride,
    b_col_stride,
    c_batch_stride,
    c_row_stride,
    c_col_stride,
    READ_C: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    batch = program // (row_tiles * col_tiles)
    tile = program % (row_tiles * col_tiles)
    rows = tile // col_tiles * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile % col_tiles * BLOCK_N + tl.arange(0, BLOCK_N)
    row_mask = rows < m
    col_mask = cols < n
    a_base = a_ptr + batch * a_batch_stride
    b_base = b_ptr + batch * b_batch_stride
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for i in range(steps):
        k = tl.cast(i, tl.int64) * BLOCK_K + tl.arange(0, BLOCK_K)
        k_mask = k < depth
        a = tl.load(
            a_base + rows[:, None] * a_row_stride + k[None, :] * a_k_stride,
            mask=row_mask[:, None] & k_mask[None, :],
            other=0.0,
        )
        b = tl.load(
            b_base + k[:, None] * b_k_stride + cols[None, :] * b_col_stride,
            mask=k_mask[:, None] & col_mask[None, :],
            other=0.0,
        )
        acc += tl.dot(a, b, input_precision="ieee")
    inside = row_mask[:, None] & col_mask[None, :]
    value = alpha * acc
    if READ_C:
        c_at = batch * c_batch_stride + rows[:, None] * c_row_stride + cols[None, :] * c_col_stride
        c = tl.load(c_ptr + c_at, mask=inside, other=0.0).to(tl.float32)
        value += beta * c
    out_at = batch * m * n + rows[:, None] * n + cols[None, :]
    tl.store(out_ptr + out_at, value.to(out_ptr.dtype.element_ty), mask=inside)


def scaled_batch_matmul(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    """a, (batch, m, depth), b, (batch, depth, n), c, (batch, m, n), of one dtype: (batch, m, n) in that dtype."""
    if a.ndim != 3 or b.ndim != 3 or c.ndim != 3:
        raise ValueError("a, b and c have three dimensions")
    if a.dtype not in (torch.float32, torch.float16) or b.dtype != a.dtype or c.dtype != a.dtype:
        raise ValueError("a, b and c are all float32 or all float16")
    batch, m, depth = a.shape
    n = b.shape[2]
    if b.shape != (batch, depth, n) or c.shape != (batch, m, n):
        raise ValueError("shapes do not fit")
    out = torch.empty((batch, m, n), dtype=a.dtype, device=a.device)
    row_tiles = triton.cdiv(m, BLOCK_M)
    col_tiles = triton.cdiv(n, BLOCK_N)
    programs = batch * row_tiles * col_tiles
    if programs >= 2**31:
        raise ValueError("too many tiles for a grid")
    if programs:
        scaled_matmul_kernel[(programs,)](
            a,
            b,
            c,
            out,
            float(alpha),
            float(beta),
            m,
            n,
            depth,
            triton.cdiv(depth, BLOCK_K),
            row_tiles,
            col_tiles,
            *a.stride(),
            *b.stride(),
            *c.stride(),
            READ_C=beta != 0,
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            BLOCK_K=BLOCK_K,
        )
    return out


def reference(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    value = alpha * (a.double() @ b.double())
    if beta != 0:
        value = value + beta * c.double()
    return value.to(a.dtype)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float, float]:
    """Normal numbers, in float16 if half is 1; with an odd seed, c is one row for all, expanded; with a beta of 0, c is
    NaN, as a result not yet written may be."""
    batch, m, n, depth = case["batch"], case["m"], case["n"], case["depth"]
    dtype = torch.float16 if case["half"] else torch.float32
    generator = torch.Generator().manual_seed(case.seed)
    a = torch.randn((batch, m, depth), generator=generator).to(dtype)
    b = torch.randn((batch, depth, n), generator=generator).to(dtype)
    if case.seed % 2:
        c = torch.randn(n, generator=generator).to(dtype).to(case.device).expand(batch, m, n)
    else:
        c = torch.randn((batch, m, n), generator=generator).to(dtype).to(case.device)
    if case["beta"] == 0:
        c = torch.full((batch, m, n), float("nan"), dtype=dtype, device=case.device)
    return a.to(case.device), b.to(case.device), c, 0.5, case["beta"] / 2


scaled = Subject(
    scaled_batch_matmul,
    reference=reference,
    inputs=inputs,
    name="scaled_batch_matmul",
    sizes={
        "batch": [2, 1, 3, 0],
        "m": [32, 1, 7, 33],
        "n": [64, 1, 5, 70],
        "depth": [32, 1, 10, 100, 0],
        "beta": [1, 0, 3],
        "half": [0, 1],
    },
    dtypes=["float32"],
)
