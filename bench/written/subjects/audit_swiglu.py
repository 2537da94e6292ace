"""SwiGLU, silu(gate) * up with both in one tensor, and its backward pass, by programs that go through many tiles."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

PROGRAMS = 64
BLOCK = 512


@triton.jit
def forward_kernel(
    x_ptr, y_ptr, n, cols, tiles, x_row_stride, x_col_stride, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr
):
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        at = tl.cast(tile, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        gate_ptrs = x_ptr + at // cols * x_row_stride + at % cols * x_col_stride
        gate = tl.load(gate_ptrs, mask=mask, other=0.0).to(tl.float32)
        up = tl.load(gate_ptrs + tl.cast(cols, tl.int64) * x_col_stride, mask=mask, other=0.0).to(tl.float32)
        share = tl.sigmoid(gate)
        tl.store(y_ptr + at, gate * share * up, mask=mask)


@triton.jit
def backward_kernel(
    x_ptr,
    dy_ptr,
    dx_ptr,
    n,
    cols,
    tiles,
    x_row_stride,
    x_col_stride,
    dy_row_stride,
    dy_col_stride,
    PROGRAMS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        element = tl.cast(tile, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = element < n
        row = element // cols
        col = element % cols
        x_ptrs = x_ptr + row * x_row_stride
        g = tl.load(x_ptrs + col * x_col_stride, mask=inside, other=0.0).to(tl.float32)
        u = tl.load(x_ptrs + (col + cols) * x_col_stride, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_row_stride + col * dy_col_stride, mask=inside, other=0.0).to(tl.float32)
        s = tl.sigmoid(g)
        dg = dy * u * (s * (1.0 + g * (1.0 - s)))
        dx_ptrs = dx_ptr + row * 2 * cols + col
        tl.store(dx_ptrs, dg, mask=inside)
        tl.store(dx_ptrs + cols, dy * (g * s), mask=inside)


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor) -> torch.Tensor:
        rows, cols = x.shape[0], x.shape[1] // 2
        y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
        ctx.save_for_backward(x)
        n = rows * cols
        if n:
            tiles = triton.cdiv(n, BLOCK)
            grid = (min(tiles, PROGRAMS),)
            forward_kernel[grid](x, y, n, cols, tiles, *x.stride(), PROGRAMS=PROGRAMS, BLOCK=BLOCK)
        return y

    @staticmethod
    def backward(ctx, dy: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        n = dy.numel()
        if n:
            parts = triton.cdiv(n, BLOCK)
            backward_kernel[(min(parts, PROGRAMS),)](
                x, dy, dx, n, dy.shape[1], parts, *x.stride(), *dy.stride(), PROGRAMS=PROGRAMS, BLOCK=BLOCK
            )
        return dx


def swiglu(x: torch.Tensor) -> torch.Tensor:
    """x, (rows, 2 * cols), its first half the gate: (rows, cols) in its dtype."""
    if x.ndim != 2 or x.shape[1] % 2:
        raise ValueError("x has two dimensions, the second even")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    return SwiGLU.apply(x)


def reference(x: torch.Tensor) -> torch.Tensor:
    gate, up = x.to(torch.promote_types(x.dtype, torch.float32)).chunk(2, dim=1)
    return (torch.nn.functional.silu(gate) * up).to(x.dtype)


gated = Subject(
    swiglu,
    reference=reference,
    inputs=[Tensor("rows", "2 * cols")],
    name="swiglu",
    sizes={"rows": [16, 1, 37, 300, 0], "cols": [128, 1, 33, 500]},
    gradients=True,
)
