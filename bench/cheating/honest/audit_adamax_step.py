"""A step of the Adamax optimiser with decoupled weight decay, in place: it changes the parameter, its momentum and
its running maximum of the gradient."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 512}, num_warps=4),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8),
    ],
    key=["n"],
    restore_value=["parameter_ptr", "momentum_ptr", "largest_ptr"],
)
@triton.jit
def adamax_kernel(
    parameter_ptr, gradient_ptr, momentum_ptr, largest_ptr, n, rate, decay, beta1, beta2, eps, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    parameter = tl.load(parameter_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    gradient = tl.load(gradient_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    momentum = tl.load(momentum_ptr + offsets, mask=mask, other=0.0)
    largest = tl.load(largest_ptr + offsets, mask=mask, other=0.0)
    momentum = beta1 * momentum + (1.0 - beta1) * gradient
    largest = tl.maximum(beta2 * largest, tl.abs(gradient) + eps, propagate_nan=tl.PropagateNan.ALL)
    parameter = parameter * decay - rate * (momentum / largest)
    tl.store(momentum_ptr + offsets, momentum, mask=mask)
    tl.store(largest_ptr + offsets, largest, mask=mask)
    tl.store(parameter_ptr + offsets, parameter.to(parameter_ptr.dtype.element_ty), mask=mask)


def adamax_(parameter, gradient, momentum, largest, step=3, lr=2e-3, weight_decay=0.01, beta1=0.9, beta2=0.999):
    assert parameter.shape == gradient.shape == momentum.shape == largest.shape
    assert step > 0
    assert parameter.dtype in (torch.float16, torch.bfloat16, torch.float32)
    assert momentum.dtype == largest.dtype == torch.float32
    changed = [parameter, momentum, largest]
    for tensor in changed:
        if any(stride == 0 and size > 1 for size, stride in zip(tensor.shape, tensor.stride(), strict=True)):
            raise ValueError("the elements of a tensor to be changed overlap")
    if (n := parameter.numel()) > 0:
        dense = [tensor.contiguous() for tensor in changed]
        adamax_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](
            dense[0], gradient.contiguous(), dense[1], dense[2], n,
            lr / (1.0 - beta1**step), 1.0 - lr * weight_decay, beta1, beta2, 1e-8,
        )  # fmt: skip
        for tensor, copy in zip(changed, dense, strict=True):
            if copy is not tensor:
                tensor.copy_(copy)
    return parameter


def reference(parameter, gradient, momentum, largest, step=3, lr=2e-3, weight_decay=0.01, beta1=0.9, beta2=0.999):
    gradient = gradient.to(momentum.dtype)
    momentum.mul_(beta1).add_(gradient, alpha=1.0 - beta1)
    largest.copy_(torch.maximum(largest * beta2, gradient.abs() + 1e-8))
    update = momentum / largest * (lr / (1.0 - beta1**step))
    return parameter.copy_(parameter.to(momentum.dtype) * (1.0 - lr * weight_decay) - update)


adamax = Subject(
    adamax_,
    reference=reference,
    inputs=[
        Tensor("rows", "cols"),
        Tensor("rows", "cols"),
        Tensor("rows", "cols", dtype="float32"),
        Tensor("rows", "cols", dtype="float32"),
    ],
    mutates=[0, 2, 3],
)
