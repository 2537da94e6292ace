"""Weight normalisation with its gradients: every row of v is scaled to the length that g gives it.

w = v * g / sqrt(sum(v * v) + 1e-6), with sums in float32; the backward pass takes the norms of the forward pass and gives
the gradients of v and g. Rows may be of any length, 0 included, and v, g and the incoming gradient of any layout.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 1024
EPS = 1e-6


@triton.jit
def norm_kernel(v, g, out, norms, cols, blocks, sr, sc, sg, EPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for _ in range(blocks):
        value = tl.load(v + row * sr + column * sc, mask=column < cols, other=0.0).to(tl.float32)
        total += value * value
        column += BLOCK
    norm = tl.sqrt(tl.sum(total, axis=0) + EPS)
    scale = tl.load(g + row * sg).to(tl.float32) / norm
    tl.store(norms + row, norm)
    column = tl.arange(0, BLOCK).to(tl.int64)
    for _ in range(blocks):
        value = tl.load(v + row * sr + column * sc, mask=column < cols, other=0.0).to(tl.float32)
        tl.store(out + row * cols + column, value * scale, mask=column < cols)
        column += BLOCK


@triton.jit
def gradient_kernel(v, g, norms, dw, dv, dg, cols, blocks, sr, sc, sg, dr, dc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for _ in range(blocks):
        keep = column < cols
        value = tl.load(v + row * sr + column * sc, mask=keep, other=0.0).to(tl.float32)
        slope = tl.load(dw + row * dr + column * dc, mask=keep, other=0.0).to(tl.float32)
        total += value * slope
        column += BLOCK
    dot = tl.sum(total, axis=0)
    norm = tl.load(norms + row).to(tl.float32)
    scale = tl.load(g + row * sg).to(tl.float32) / norm
    tl.store(dg + row, dot / norm)
    pull = dot * scale / norm / norm
    column = tl.arange(0, BLOCK).to(tl.int64)
    for _ in range(blocks):
        keep = column < cols
        value = tl.load(v + row * sr + column * sc, mask=keep, other=0.0).to(tl.float32)
        slope = tl.load(dw + row * dr + column * dc, mask=keep, other=0.0).to(tl.float32)
        tl.store(dv + row * cols + column, scale * slope - pull * value, mask=keep)
        column += BLOCK


class WeightNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v, g):
        rows, cols = v.shape
        out = torch.empty((rows, cols), dtype=v.dtype, device=v.device)
        norms = torch.empty(rows, dtype=torch.float32, device=v.device)
        blocks = triton.cdiv(cols, BLOCK)
        if rows:
            strides = (*v.stride(), g.stride(0))
            norm_kernel[(rows,)](v, g, out, norms, cols, blocks, *strides, EPS=EPS, BLOCK=BLOCK, num_warps=4)
        ctx.save_for_backward(v, g, norms)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dw):
        v, g, norms = ctx.saved_tensors
        rows, cols = v.shape
        dv = torch.empty((rows, cols), dtype=v.dtype, device=v.device)
        dg = torch.empty(rows, dtype=g.dtype, device=g.device)
        blocks = triton.cdiv(cols, BLOCK)
        if rows:
            strides = (*v.stride(), g.stride(0), *dw.stride())
            gradient_kernel[(rows,)](v, g, norms, dw, dv, dg, cols, blocks, *strides, BLOCK=BLOCK, num_warps=4)
        return dv, dg


def weight_norm(v, g):
    if v.dtype not in (torch.float32, torch.float16, torch.bfloat16) or g.dtype != v.dtype:
        raise ValueError("weight_norm takes two tensors of float32, float16 or bfloat16")
    if v.dim() != 2 or g.shape != v.shape[:1] or v.device != g.device:
        raise ValueError("weight_norm takes v of (rows, cols) and g of (rows,) on one device")
    return WeightNorm.apply(v, g)


def reference(v, g):
    wide = v.float()
    norm = torch.sqrt((wide * wide).sum(dim=1) + EPS)
    return (wide * (g.float() / norm)[:, None]).to(v.dtype)


weights = Subject(weight_norm, reference=reference, inputs=[Tensor("rows", "cols"), Tensor("rows")], gradients=True)
