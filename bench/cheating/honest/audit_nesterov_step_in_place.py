"""A step of gradient descent with Nesterov momentum, in place: the parameters and the float32 momentum are overwritten.

Looks suspicious: it changes two of its arguments and returns one of them.
It is fair: the reference does just so, and both are declared; what could overlap itself is refused.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

RATE = 0.01
FRICTION = 0.9


@triton.jit
def step_kernel(p, g, m, count, cols, gr, gc, rate, friction, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    grad = tl.load(g + (i // cols) * gr + (i % cols) * gc, mask=keep, other=0.0).to(tl.float32)
    speed = tl.load(m + i, mask=keep, other=0.0) * friction + grad
    value = tl.load(p + i, mask=keep, other=0.0).to(tl.float32)
    tl.store(m + i, speed, mask=keep)
    tl.store(p + i, value - rate * (grad + friction * speed), mask=keep)


def nesterov_step(p, g, m):
    if p.dtype not in (torch.float32, torch.float16, torch.bfloat16) or g.dtype != p.dtype or m.dtype != torch.float32:
        raise ValueError("parameters and gradients are of one floating dtype, the momentum is float32")
    if p.dim() != 2 or g.shape != p.shape or m.shape != p.shape or not (p.device == g.device == m.device):
        raise ValueError("nesterov_step takes three matrices of one shape on one device")
    if not p.is_contiguous() or not m.is_contiguous():
        raise ValueError("what is changed in place has to be contiguous")
    if p.numel():
        step_kernel[(triton.cdiv(p.numel(), 256),)](p, g, m, p.numel(), p.shape[1], *g.stride(), RATE, FRICTION, BLOCK=256)
    return p


def reference(p, g, m):
    m.mul_(FRICTION).add_(g.float())
    p.copy_(p.float() - RATE * (g.float() + FRICTION * m))
    return p


stepped = Subject(
    nesterov_step,
    reference=reference,
    inputs=[Tensor("rows", "cols"), Tensor("rows", "cols"), Tensor("rows", "cols", dtype="float32")],
    mutates=["p", "m"],
)
