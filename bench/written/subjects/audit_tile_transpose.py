"""A batch of matrices transposed into contiguous memory, by programs that go through tiles in groups of rows."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

PROGRAMS = 48
BLOCK = 32
GROUP = 4


@triton.jit
def transpose_kernel(
    x_ptr,
    out_ptr,
    m,
    n,
    tiles_m,
    tiles_n,
    total,
    x_batch_stride,
    x_row_stride,
    x_col_stride,
    PROGRAMS: tl.constexpr,
    BLOCK: tl.constexpr,
    GROUP: tl.constexpr,
):
    for step in range(tl.program_id(0), total, PROGRAMS):
        tile = tl.cast(step, tl.int64)
        batch = tile // (tiles_m * tiles_n)
        place = tile % (tiles_m * tiles_n)
        # Tiles of up to GROUP rows come one below the other before those of the next column.
        first = place // (GROUP * tiles_n) * GROUP
        height = tl.minimum(tiles_m - first, GROUP)
        within = place % (GROUP * tiles_n)
        rows = (first + within % height) * BLOCK + tl.arange(0, BLOCK)
        cols = within // height * BLOCK + tl.arange(0, BLOCK)
        x_base = x_ptr + batch * x_batch_stride
        value = tl.load(
            x_base + rows[:, None] * x_row_stride + cols[None, :] * x_col_stride,
            mask=(rows[:, None] < m) & (cols[None, :] < n),
        )
        out_base = out_ptr + batch * m * n
        tl.store(
            out_base + cols[:, None] * m + rows[None, :],
            tl.trans(value),
            mask=(cols[:, None] < n) & (rows[None, :] < m),
        )


def tile_transpose(x: torch.Tensor) -> torch.Tensor:
    """x, (batch, m, n): (batch, n, m), contiguous, with the same bits."""
    if x.ndim != 3:
        raise ValueError("x has three dimensions")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    batch, m, n = x.shape
    out = torch.empty((batch, n, m), dtype=x.dtype, device=x.device)
    tiles_m = triton.cdiv(m, BLOCK)
    tiles_n = triton.cdiv(n, BLOCK)
    total = batch * tiles_m * tiles_n
    if total >= 2**31:
        raise ValueError("too many tiles")
    if total:
        transpose_kernel[(min(total, PROGRAMS),)](
            x, out, m, n, tiles_m, tiles_n, total, *x.stride(), PROGRAMS=PROGRAMS, BLOCK=BLOCK, GROUP=GROUP
        )
    return out


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(1, 2).contiguous()


transposed = Subject(
    tile_transpose,
    reference=reference,
    inputs=[Tensor("batch", "m", "n")],
    name="tile_transpose",
    sizes={"batch": [4, 1, 3, 0], "m": [128, 1, 33, 200], "n": [64, 1, 65, 300]},
)
