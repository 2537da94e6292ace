"""Soft thresholding as in sparse coding, with learned thresholds: x - t above t, x + t below -t, and zero between (and for NaN).

Looks suspicious: most outputs and gradients are exactly zero, the thresholds' gradient is summed by atomics in a float32
workspace that is then cast, and NaN inputs give zero.
It is fair: this is the definition, the reference has the same comparisons, and a NaN compares as false in both.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

ROWS = 16
COLS = 32


@triton.jit
def shrink_kernel(x, t, out, rows, cols, col_tiles, xr, xc, ts, ROWS: tl.constexpr, COLS: tl.constexpr):
    program = tl.program_id(0)
    r = (program // col_tiles).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    c = (program % col_tiles).to(tl.int64) * COLS + tl.arange(0, COLS)[None, :]
    keep = (r < rows) & (c < cols)
    value = tl.load(x + r * xr + c * xc, mask=keep, other=0.0).to(tl.float32)
    edge = tl.load(t + c * ts, mask=c < cols, other=0.0).to(tl.float32)
    kept = tl.where(value > edge, value - edge, tl.where(value < -edge, value + edge, 0.0))
    tl.store(out + r * cols + c, kept, mask=keep)


@triton.jit
def shrink_gradient_kernel(x, t, g, dx, dt, rows, cols, col_tiles, xr, xc, ts, gr, gc, ROWS: tl.constexpr, COLS: tl.constexpr):
    program = tl.program_id(0)
    r = (program // col_tiles).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    c = (program % col_tiles).to(tl.int64) * COLS + tl.arange(0, COLS)[None, :]
    keep = (r < rows) & (c < cols)
    value = tl.load(x + r * xr + c * xc, mask=keep, other=0.0).to(tl.float32)
    edge = tl.load(t + c * ts, mask=c < cols, other=0.0).to(tl.float32)
    grad = tl.load(g + r * gr + c * gc, mask=keep, other=0.0).to(tl.float32)
    above = value > edge
    below = (value < -edge) & (value <= edge)
    tl.store(dx + r * cols + c, tl.where(above | below, grad, 0.0), mask=keep)
    moved = tl.sum(tl.where(below, grad, tl.where(above, -grad, 0.0)), axis=0)
    lanes = (program % col_tiles).to(tl.int64) * COLS + tl.arange(0, COLS)
    tl.atomic_add(dt + lanes, moved, mask=lanes < cols)


class SoftThreshold(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, t):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        rows, cols = x.shape
        col_tiles = triton.cdiv(cols, COLS)
        if out.numel():
            grid = (triton.cdiv(rows, ROWS) * col_tiles,)
            shrink_kernel[grid](x, t, out, rows, cols, col_tiles, *x.stride(), t.stride(0), ROWS=ROWS, COLS=COLS)
        ctx.save_for_backward(x, t)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, t = ctx.saved_tensors
        rows, cols = x.shape
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        dt = torch.zeros((cols,), dtype=torch.float32, device=x.device)
        col_tiles = triton.cdiv(cols, COLS)
        if dx.numel():
            grid = (triton.cdiv(rows, ROWS) * col_tiles,)
            shrink_gradient_kernel[grid](
                x, t, grad, dx, dt, rows, cols, col_tiles, *x.stride(), t.stride(0), *grad.stride(), ROWS=ROWS, COLS=COLS
            )
        return dx, dt.to(t.dtype)


def soft_threshold(x, t):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or t.dtype != x.dtype:
        raise ValueError("soft_threshold takes two tensors of float32, float16 or bfloat16")
    if x.dim() != 2 or t.shape != x.shape[1:] or x.device != t.device:
        raise ValueError("soft_threshold takes (rows, cols) and (cols,) on one device")
    return SoftThreshold.apply(x, t)


def reference(x, t):
    value, edge = x.float(), t.float()
    return torch.where(value > edge, value - edge, torch.where(value < -edge, value + edge, 0.0)).to(x.dtype)


shrunk = Subject(soft_threshold, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("cols")], gradients=True)
