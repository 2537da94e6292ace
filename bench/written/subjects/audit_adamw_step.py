"""One step of AdamW, in place, with the gradient clipped by its norm. Moments are float32; all may lie as they like."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

PROGRAMS = 16
BLOCK = 256


@triton.jit
def squares_kernel(
    grad_ptr, partials_ptr, n, n_cols, grad_row_stride, grad_col_stride, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr
):
    total = tl.zeros((BLOCK,), tl.float32)
    first = tl.program_id(0).to(tl.int64) * BLOCK
    for start in range(first, n, PROGRAMS * BLOCK):
        at = start + tl.arange(0, BLOCK)
        offsets = at // n_cols * grad_row_stride + at % n_cols * grad_col_stride
        grad = tl.load(grad_ptr + offsets, mask=at < n, other=0.0).to(tl.float32)
        total += grad * grad
    tl.store(partials_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def update_kernel(
    param_ptr,
    grad_ptr,
    mean_ptr,
    square_ptr,
    partials_ptr,
    norm_ptr,
    n,
    n_cols,
    param_row_stride,
    param_col_stride,
    grad_row_stride,
    grad_col_stride,
    mean_row_stride,
    mean_col_stride,
    square_row_stride,
    square_col_stride,
    lr,
    beta1,
    beta2,
    eps,
    decay,
    correction1,
    correction2,
    max_norm,
    PROGRAMS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    norm = tl.sqrt(tl.sum(tl.load(partials_ptr + tl.arange(0, PROGRAMS)), axis=0))
    clip = max_norm / (norm + 1e-6)
    clip = tl.where(clip > 1.0, 1.0, clip)
    if tl.program_id(0) == 0:
        tl.store(norm_ptr, norm)

    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    row = at // n_cols
    col = at % n_cols
    param_ptrs = param_ptr + row * param_row_stride + col * param_col_stride
    mean_ptrs = mean_ptr + row * mean_row_stride + col * mean_col_stride
    square_ptrs = square_ptr + row * square_row_stride + col * square_col_stride

    grad = tl.load(grad_ptr + row * grad_row_stride + col * grad_col_stride, mask=mask, other=0.0).to(tl.float32) * clip
    param = tl.load(param_ptrs, mask=mask, other=0.0).to(tl.float32)
    mean = beta1 * tl.load(mean_ptrs, mask=mask, other=0.0) + (1.0 - beta1) * grad
    square = beta2 * tl.load(square_ptrs, mask=mask, other=0.0) + (1.0 - beta2) * grad * grad
    step = mean / correction1 / (tl.sqrt(square / correction2) + eps)
    param = param - lr * decay * param - lr * step

    tl.store(mean_ptrs, mean, mask=mask)
    tl.store(square_ptrs, square, mask=mask)
    tl.store(param_ptrs, param.to(param_ptr.dtype.element_ty), mask=mask)


def adamw_step(
    param: torch.Tensor,
    grad: torch.Tensor,
    mean: torch.Tensor,
    square: torch.Tensor,
    step: int,
    lr: float = 0.1,
    beta1: float = 0.9,
    beta2: float = 0.99,
    eps: float = 1e-8,
    decay: float = 0.05,
    max_norm: float = 2.0,
) -> torch.Tensor:
    """Change param and its moments, all (rows, columns); returns the norm that the gradient had, float32."""
    for changed in (param, mean, square):
        if any(stride == 0 and size > 1 for size, stride in zip(changed.shape, changed.stride(), strict=True)):
            raise ValueError("elements of what is changed overlap")
    n, n_cols = param.numel(), param.shape[1]
    norm = torch.zeros((), dtype=torch.float32, device=param.device)
    if n == 0:
        return norm
    partials = torch.empty(PROGRAMS, dtype=torch.float32, device=param.device)
    squares_kernel[(PROGRAMS,)](grad, partials, n, n_cols, grad.stride(0), grad.stride(1), PROGRAMS, BLOCK)
    update_kernel[(triton.cdiv(n, BLOCK),)](
        param,
        grad,
        mean,
        square,
        partials,
        norm,
        n,
        n_cols,
        param.stride(0),
        param.stride(1),
        grad.stride(0),
        grad.stride(1),
        mean.stride(0),
        mean.stride(1),
        square.stride(0),
        square.stride(1),
        lr,
        beta1,
        beta2,
        eps,
        decay,
        1.0 - beta1**step,
        1.0 - beta2**step,
        max_norm,
        PROGRAMS,
        BLOCK,
    )
    return norm


def reference(
    param: torch.Tensor,
    grad: torch.Tensor,
    mean: torch.Tensor,
    square: torch.Tensor,
    step: int,
    lr: float = 0.1,
    beta1: float = 0.9,
    beta2: float = 0.99,
    eps: float = 1e-8,
    decay: float = 0.05,
    max_norm: float = 2.0,
) -> torch.Tensor:
    wide = grad.to(mean.dtype)
    norm = wide.square().sum().sqrt()
    wide = wide * (max_norm / (norm + 1e-6)).clamp(max=1.0)
    mean.mul_(beta1).add_(wide, alpha=1.0 - beta1)
    square.mul_(beta2).add_(wide * wide, alpha=1.0 - beta2)
    change = mean / (1.0 - beta1**step) / ((square / (1.0 - beta2**step)).sqrt() + eps)
    old = param.to(mean.dtype)
    param.copy_(old - lr * decay * old - lr * change)
    return norm


def inputs(case: Case) -> tuple[object, ...]:
    """A parameter in the case's dtype with a gradient, and moments in float32, the second of them not negative."""
    shape = (case["rows"], case["cols"])
    generator = torch.Generator().manual_seed(case.seed)
    param, grad, mean, square = (torch.randn(shape, generator=generator) for _ in range(4))
    dtype = getattr(torch, case.dtype)
    tensors = (param.to(dtype), grad.to(dtype), 0.1 * mean, 0.01 * square * square)
    return (*(tensor.to(case.device) for tensor in tensors), 3)


step = Subject(
    adamw_step,
    reference=reference,
    inputs=inputs,
    name="adamw_step",
    sizes={"rows": [8, 1, 3, 64, 257, 0, 1000], "cols": [64, 1, 33, 100, 129, 0]},
    mutates=[0, 2, 3],
)
