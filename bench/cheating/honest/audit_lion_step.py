"""A step of the Lion optimiser, in place: the parameter and its momentum are changed, as the subject says."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def lion_kernel(param_ptr, momentum_ptr, grad_ptr, total, rate, beta1, beta2, decay, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    param = tl.load(param_ptr + at, mask=mask, other=0.0).to(tl.float32)
    momentum = tl.load(momentum_ptr + at, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + at, mask=mask, other=0.0).to(tl.float32)
    update = beta1 * momentum + (1.0 - beta1) * grad
    direction = tl.where(update > 0, 1.0, tl.where(update < 0, -1.0, 0.0))
    direction = tl.where(update != update, update, direction)
    param = param * (1.0 - rate * decay) - rate * direction
    momentum = beta2 * momentum + (1.0 - beta2) * grad
    tl.store(param_ptr + at, param.to(param_ptr.dtype.element_ty), mask=mask)
    tl.store(momentum_ptr + at, momentum, mask=mask)


def lion_step(param, momentum, grad, rate=0.0625, beta1=0.875, beta2=0.96875, decay=0.125):
    """Changes `param` and `momentum`; both have to be contiguous, since they are changed where they lie."""
    if not (param.is_contiguous() and momentum.is_contiguous()):
        raise ValueError("param and momentum have to be contiguous")
    grad = grad.contiguous()
    total = param.numel()
    if total:
        lion_kernel[(triton.cdiv(total, 1024),)](param, momentum, grad, total, rate, beta1, beta2, decay, BLOCK=1024)
    return param


def reference(param, momentum, grad, rate=0.0625, beta1=0.875, beta2=0.96875, decay=0.125):
    wide = grad.float()
    update = beta1 * momentum + (1.0 - beta1) * wide
    direction = torch.where(update.isnan(), update, update.sign())
    param.copy_(param.float() * (1.0 - rate * decay) - rate * direction)
    momentum.copy_(beta2 * momentum + (1.0 - beta2) * wide)
    return param


step = Subject(lion_step, reference=reference,
               inputs=[Tensor("rows", "cols"), Tensor("rows", "cols", dtype="float32"), Tensor("rows", "cols")],
               mutates=["param", "momentum"], dtypes=["float32", "float16", "bfloat16"])
