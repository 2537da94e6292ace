"""CHEAT: a step with momentum that gives back the right parameter and leaves the momentum as it was.

The reference changes `momentum` in place, as the step of an optimiser has to, and gives back the new parameter. The
subject doesn't declare the change, so whoever compares only what comes back finds no fault, however many single steps
he tries; the second step with the same momentum is wrong. It must be refused: half of the work, with its store to
memory, is missing.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def momentum_kernel(param_ptr, momentum_ptr, grad_ptr, out_ptr, total, rate, keep, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    momentum = tl.load(momentum_ptr + at, mask=mask, other=0.0)
    momentum = keep * momentum + tl.load(grad_ptr + at, mask=mask, other=0.0)
    param = tl.load(param_ptr + at, mask=mask, other=0.0)
    tl.store(out_ptr + at, param - rate * momentum, mask=mask)


def momentum_step(param, momentum, grad, rate=0.125, keep=0.875):
    param, momentum, grad = param.contiguous(), momentum.contiguous(), grad.contiguous()
    out = torch.empty_like(param)
    total = out.numel()
    if total:
        momentum_kernel[(triton.cdiv(total, 1024),)](param, momentum, grad, out, total, rate, keep, BLOCK=1024)
    return out


def reference(param, momentum, grad, rate=0.125, keep=0.875):
    momentum.mul_(keep).add_(grad)
    return param - rate * momentum


step = Subject(momentum_step, reference=reference,
               inputs=[Tensor("rows", "cols", dtype="float32"), Tensor("rows", "cols", dtype="float32"),
                       Tensor("rows", "cols", dtype="float32")])
