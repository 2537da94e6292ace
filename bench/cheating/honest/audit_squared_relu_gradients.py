"""Squared ReLU with a learned scale per column, and its gradients: w * max(x, 0)^2.

Looks suspicious: half of the outputs and gradients are zero, and the scale's gradient is summed by atomics in a float32 workspace.
It is fair: that is what the function does, and the order of a float32 sum is all that differs.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def forward_kernel(x, w, out, rows, cols, tiles, xr, xc, ws, ROWS: tl.constexpr, COLS: tl.constexpr):
    program = tl.program_id(0)
    r = (program // tiles).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    c = (program % tiles).to(tl.int64) * COLS + tl.arange(0, COLS)[None, :]
    keep = (r < rows) & (c < cols)
    value = tl.load(x + r * xr + c * xc, mask=keep, other=0.0).to(tl.float32)
    scale = tl.load(w + c * ws, mask=c < cols, other=0.0).to(tl.float32)
    kept = tl.where(value <= 0, 0.0, value)
    tl.store(out + r * cols + c, kept * kept * scale, mask=keep)


@triton.jit
def backward_kernel(x, w, g, dx, dw, rows, cols, tiles, xr, xc, ws, gr, gc, ROWS: tl.constexpr, COLS: tl.constexpr):
    program = tl.program_id(0)
    r = (program // tiles).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    c = (program % tiles).to(tl.int64) * COLS + tl.arange(0, COLS)[None, :]
    keep = (r < rows) & (c < cols)
    value = tl.load(x + r * xr + c * xc, mask=keep, other=0.0).to(tl.float32)
    scale = tl.load(w + c * ws, mask=c < cols, other=0.0).to(tl.float32)
    grad = tl.load(g + r * gr + c * gc, mask=keep, other=0.0).to(tl.float32)
    kept = tl.where(value <= 0, 0.0, value)
    tl.store(dx + r * cols + c, tl.where(value <= 0, 0.0, 2.0 * kept * scale * grad), mask=keep)
    part = tl.sum(kept * kept * grad, axis=0)
    lanes = (program % tiles).to(tl.int64) * COLS + tl.arange(0, COLS)
    tl.atomic_add(dw + lanes, part, mask=lanes < cols)


class SquaredRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        rows, cols = x.shape
        tiles = triton.cdiv(cols, 64)
        if out.numel():
            forward_kernel[(triton.cdiv(rows, 8) * tiles,)](x, w, out, rows, cols, tiles, *x.stride(), w.stride(0), ROWS=8, COLS=64)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        rows, cols = x.shape
        dx = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        dw = torch.zeros(w.shape, dtype=torch.float32, device=x.device)
        tiles = triton.cdiv(cols, 64)
        if dx.numel():
            backward_kernel[(triton.cdiv(rows, 8) * tiles,)](
                x, w, grad, dx, dw, rows, cols, tiles, *x.stride(), w.stride(0), *grad.stride(), ROWS=8, COLS=64
            )
        return dx, dw.to(w.dtype)


def squared_relu(x, w):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or w.dtype != x.dtype:
        raise ValueError("squared_relu takes two tensors of float32, float16 or bfloat16")
    if x.dim() != 2 or w.shape != x.shape[1:] or x.device != w.device:
        raise ValueError("squared_relu takes (rows, cols) and (cols,) on one device")
    return SquaredRelu.apply(x, w)


def reference(x, w):
    return (torch.relu(x.float()).square() * w.float()).to(x.dtype)


activated = Subject(squared_relu, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("cols")], gradients=True)
