"""Small lower triangular systems solved by forward substitution, a batch of them with several right sides each."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 16
LARGEST = 128


@triton.jit
def solve_kernel(
    l_ptr,
    b_ptr,
    x_ptr,
    n,
    cols,
    col_blocks,
    l_batch_stride,
    l_row_stride,
    l_col_stride,
    b_batch_stride,
    b_row_stride,
    b_col_stride,
    N: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    batch = program // col_blocks
    col = program % col_blocks * BLOCK + tl.arange(0, BLOCK)
    j = tl.arange(0, N).to(tl.int64)
    l_base = l_ptr + batch * l_batch_stride
    mask = (j[:, None] < n) & (col[None, :] < cols)
    b = tl.load(
        b_ptr + batch * b_batch_stride + j[:, None] * b_row_stride + col[None, :] * b_col_stride,
        mask=mask,
        other=0.0,
    ).to(tl.float32)
    x = tl.zeros((N, BLOCK), tl.float32)
    for row in range(n):
        i = tl.cast(row, tl.int64)
        left = tl.load(l_base + i * l_row_stride + j * l_col_stride, mask=j < i, other=0.0).to(tl.float32)
        diagonal = tl.load(l_base + i * l_row_stride + i * l_col_stride).to(tl.float32)
        known = tl.sum(left[:, None] * x, axis=0)
        right = tl.sum(tl.where(j[:, None] == i, b, 0.0), axis=0)
        solved = (right - known) / diagonal
        x = tl.where(j[:, None] == i, solved[None, :], x)
    x_base = x_ptr + batch * n * cols
    tl.store(x_base + j[:, None] * cols + col[None, :], x, mask=mask)


def small_trsm(lower: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """lower, (batch, n, n), with n up to 128, and b, (batch, n, cols): the x, (batch, n, cols), for which lower @ x
    is b. What lies above the diagonal of lower may be anything, it is not read."""
    if lower.ndim != 3 or b.ndim != 3 or lower.shape != (b.shape[0], b.shape[1], b.shape[1]):
        raise ValueError("lower is (batch, n, n) and b (batch, n, cols)")
    if lower.dtype != b.dtype or b.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("both are float32, float16 or bfloat16")
    batch, n, cols = b.shape
    if n > LARGEST:
        raise ValueError("n is at most 128")
    x = torch.empty((batch, n, cols), dtype=b.dtype, device=b.device)
    if x.numel() == 0:
        return x
    col_blocks = triton.cdiv(cols, BLOCK)
    programs = batch * col_blocks
    if programs >= 2**31:
        raise ValueError("too many blocks for a grid")
    N = max(triton.next_power_of_2(n), 16)
    solve_kernel[(programs,)](
        lower, b, x, n, cols, col_blocks, *lower.stride(), *b.stride(), N=N, BLOCK=BLOCK, num_warps=4
    )
    return x


def reference(lower: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(b.dtype, torch.float32)
    left, right = lower.to(wide), b.to(wide)
    rows: list[torch.Tensor] = []
    for i in range(b.shape[1]):
        value = right[:, i]
        if rows:
            value = value - (left[:, i, :i, None] * torch.stack(rows, dim=1)).sum(dim=1)
        rows.append(value / left[:, i, i, None])
    return torch.stack(rows, dim=1).to(b.dtype) if rows else torch.empty_like(b)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """Diagonals of 1 to 2 and what is left of them small enough for a solution that does not grow; NaN above."""
    batch, n, cols = case["batch"], case["n"], case["cols"]
    generator = torch.Generator().manual_seed(case.seed)
    lower = torch.randn((batch, n, n), generator=generator).tril(-1) / max(n, 1) ** 0.5
    lower += torch.diag_embed(1.0 + torch.rand((batch, n), generator=generator))
    above = torch.ones((n, n), dtype=torch.bool).triu(1)
    lower = lower.masked_fill(above, float("nan"))
    b = torch.randn((batch, n, cols), generator=generator)
    dtype = getattr(torch, case.dtype)
    return lower.to(dtype).to(case.device), b.to(dtype).to(case.device)


solve = Subject(
    small_trsm,
    reference=reference,
    inputs=inputs,
    name="small_trsm",
    sizes={"batch": [3, 1, 40, 0], "n": [32, 1, 5, 48, 100], "cols": [16, 1, 7, 50]},
)
