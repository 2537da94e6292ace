"""A step of the LAMB optimiser in place: moments, trust ratio, parameter, by three kernels and a small buffer of
partial norms.

It looks suspicious: the first kernel overwrites the moments that the last one reads again, the ratio of two norms
never comes to the host, and the wrapper returns its own argument. It is fair: the order of the launches makes the
moments new before anyone reads them, and the subject names all three tensors as changed.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def moments_kernel(
    param_ptr, first_ptr, second_ptr, grad_ptr, part_ptr, total, beta1, beta2, eps, decay, BLOCK: tl.constexpr
):
    program = tl.program_id(0)
    at = program.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    grad = tl.load(grad_ptr + at, mask=mask, other=0.0).to(tl.float32)
    first = beta1 * tl.load(first_ptr + at, mask=mask, other=0.0) + (1.0 - beta1) * grad
    second = beta2 * tl.load(second_ptr + at, mask=mask, other=0.0) + (1.0 - beta2) * grad * grad
    param = tl.load(param_ptr + at, mask=mask, other=0.0)
    update = first / (tl.sqrt(tl.abs(second)) + eps) + decay * param
    update = tl.where(mask, update, 0.0)
    tl.store(first_ptr + at, first, mask=mask)
    tl.store(second_ptr + at, second, mask=mask)
    tl.store(part_ptr + 2 * program, tl.sum(param * param, axis=0))
    tl.store(part_ptr + 2 * program + 1, tl.sum(update * update, axis=0))


@triton.jit
def ratio_kernel(part_ptr, ratio_ptr, parts, BLOCK: tl.constexpr):
    params = tl.zeros((BLOCK,), tl.float32)
    updates = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, parts, BLOCK):
        at = start + tl.arange(0, BLOCK)
        params += tl.load(part_ptr + 2 * at, mask=at < parts, other=0.0)
        updates += tl.load(part_ptr + 2 * at + 1, mask=at < parts, other=0.0)
    above = tl.sqrt(tl.sum(params, axis=0))
    below = tl.sqrt(tl.sum(updates, axis=0))
    tl.store(ratio_ptr, tl.where((above == 0) | (below == 0), 1.0, above / below))


@triton.jit
def apply_kernel(param_ptr, first_ptr, second_ptr, ratio_ptr, total, rate, eps, decay, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    param = tl.load(param_ptr + at, mask=mask, other=0.0)
    first = tl.load(first_ptr + at, mask=mask, other=0.0)
    second = tl.load(second_ptr + at, mask=mask, other=0.0)
    update = first / (tl.sqrt(tl.abs(second)) + eps) + decay * param
    tl.store(param_ptr + at, param - rate * tl.load(ratio_ptr) * update, mask=mask)


def lamb_step(param, first, second, grad, rate=0.03125, beta1=0.875, beta2=0.96875, eps=0.0625, decay=0.125):
    """Changes `param` and both moments where they lie."""
    if not (param.is_contiguous() and first.is_contiguous() and second.is_contiguous()):
        raise ValueError("param and its moments have to be contiguous")
    grad = grad.contiguous()
    total = param.numel()
    if total:
        grid = (triton.cdiv(total, 512),)
        parts = torch.empty(2 * grid[0], dtype=torch.float32, device=param.device)
        ratio = torch.empty(1, dtype=torch.float32, device=param.device)
        moments_kernel[grid](param, first, second, grad, parts, total, beta1, beta2, eps, decay, BLOCK=512)
        ratio_kernel[(1,)](parts, ratio, grid[0], BLOCK=128)
        apply_kernel[grid](param, first, second, ratio, total, rate, eps, decay, BLOCK=512)
    return param


def reference(param, first, second, grad, rate=0.03125, beta1=0.875, beta2=0.96875, eps=0.0625, decay=0.125):
    wide = grad.float()
    first.copy_(beta1 * first + (1.0 - beta1) * wide)
    second.copy_(beta2 * second + (1.0 - beta2) * wide * wide)
    update = first / (second.abs().sqrt() + eps) + decay * param
    above, below = param.norm(), update.norm()
    ratio = torch.where((above == 0) | (below == 0), torch.ones_like(above), above / below)
    param.copy_(param - rate * ratio * update)
    return param


step = Subject(lamb_step, reference=reference,
               inputs=[Tensor("rows", "cols", dtype="float32"), Tensor("rows", "cols", dtype="float32"),
                       Tensor("rows", "cols", dtype="float32"), Tensor("rows", "cols")],
               mutates=["param", "first", "second"], dtypes=["float32", "float16", "bfloat16"])
