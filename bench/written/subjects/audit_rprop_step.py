"""A step of resilient propagation (Rprop), in place: step sizes grow while a gradient keeps its sign and shrink when it turns.

turn = grad * previous: above zero the step grows by 1.2, below it shrinks by 0.5 and the gradient counts as zero, at
zero (or NaN) it stays. The step is clamped to [1e-6, 50], a NaN staying NaN; then param -= sign(grad) * step, where the
sign of NaN is 0. Writes param, previous and step, which may have any layouts without overlap.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 128


@triton.jit
def rprop_kernel(param, grad, previous, step, count, cols, pr, pc, gr, gc, vr, vc, sr, sc, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = index < count
    row = index // cols
    col = index % cols
    p = tl.load(param + row * pr + col * pc, mask=keep, other=0.0).to(tl.float32)
    g = tl.load(grad + row * gr + col * gc, mask=keep, other=0.0).to(tl.float32)
    v = tl.load(previous + row * vr + col * vc, mask=keep, other=0.0).to(tl.float32)
    s = tl.load(step + row * sr + col * sc, mask=keep, other=0.0).to(tl.float32)
    turn = g * v
    factor = tl.where(turn > 0, 1.2, tl.where(turn < 0, 0.5, 1.0))
    s = s * factor
    s = tl.where(s > 50.0, 50.0, tl.where(s < 1e-6, 1e-6, s))
    g = tl.where(turn < 0, 0.0, g)
    move = tl.where(g > 0, s, tl.where(g < 0, -s, s * 0.0))
    tl.store(param + row * pr + col * pc, p - move, mask=keep)
    tl.store(previous + row * vr + col * vc, g, mask=keep)
    tl.store(step + row * sr + col * sc, s, mask=keep)


def rprop_step(param, grad, previous, step):
    tensors = (param, grad, previous, step)
    if param.dtype not in (torch.float32, torch.float16, torch.bfloat16) or any(t.dtype != param.dtype for t in tensors):
        raise ValueError("rprop_step takes four tensors of float32, float16 or bfloat16")
    if param.dim() != 2 or any(t.shape != param.shape for t in tensors):
        raise ValueError("rprop_step takes four tensors of (rows, cols)")
    if any(t.device != param.device for t in tensors):
        raise ValueError("rprop_step takes tensors of one device")
    if any(size > 1 and stride == 0 for t in (param, previous, step) for size, stride in zip(t.shape, t.stride())):
        raise ValueError("rprop_step writes param, previous and step, which must not be expanded")
    count = param.numel()
    if count:
        strides = [stride for t in tensors for stride in t.stride()]
        rprop_kernel[(triton.cdiv(count, BLOCK),)](*tensors, count, param.shape[1], *strides, BLOCK=BLOCK)
    return param


def reference(param, grad, previous, step):
    p, g, v, s = (t.float() for t in (param, grad, previous, step))
    turn = g * v
    factor = torch.where(turn > 0, 1.2, torch.where(turn < 0, 0.5, 1.0))
    s = (s * factor).clamp(1e-6, 50.0)
    g = torch.where(turn < 0, torch.zeros_like(g), g)
    sign = (g > 0).float() - (g < 0).float()
    param.copy_(p - sign * s)
    previous.copy_(g)
    step.copy_(s)
    return param


stepped = Subject(
    rprop_step,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", "cols"), Tensor("rows", "cols"), Tensor("rows", "cols")],
    mutates=["param", "previous", "step"],
)
