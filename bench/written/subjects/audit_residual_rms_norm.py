"""Add to the residual stream, in place, and normalise what it then holds by its root mean square.

The scale is 1 + weight, and the rounded stream is what counts, as the next layer sees nothing else."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

EPS = 1e-5
BLOCK = 128


@triton.jit
def residual_rms_norm_kernel(
    x_ptr,
    residual_ptr,
    weight_ptr,
    out_ptr,
    steps,
    dim,
    eps,
    x_batch_stride,
    x_step_stride,
    x_dim_stride,
    residual_batch_stride,
    residual_step_stride,
    residual_dim_stride,
    weight_stride,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    batch = row // steps
    step = row % steps
    x_base = x_ptr + batch * x_batch_stride + step * x_step_stride
    residual_base = residual_ptr + batch * residual_batch_stride + step * residual_step_stride

    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, dim, BLOCK):
        d = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        mask = d < dim
        x = tl.load(x_base + d * x_dim_stride, mask=mask, other=0.0).to(tl.float32)
        old = tl.load(residual_base + d * residual_dim_stride, mask=mask, other=0.0).to(tl.float32)
        new = (old + x).to(residual_ptr.dtype.element_ty)
        tl.store(residual_base + d * residual_dim_stride, new, mask=mask)
        squares += new.to(tl.float32) * new.to(tl.float32)

    mean_square = tl.sum(squares, axis=0) / dim
    rstd = 1.0 / tl.sqrt(mean_square + eps)

    # The stream is read again, perhaps by other threads than those that wrote it.
    tl.debug_barrier()
    for start in range(0, dim, BLOCK):
        d = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        mask = d < dim
        stream = tl.load(residual_base + d * residual_dim_stride, mask=mask, other=0.0).to(tl.float32)
        scale = 1.0 + tl.load(weight_ptr + d * weight_stride, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * dim + d, (stream * rstd * scale).to(out_ptr.dtype.element_ty), mask=mask)


def residual_rms_norm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Add x to residual, both (batch, steps, dim), and return what it then is, normalised, in the dtype of x."""
    if x.shape != residual.shape or weight.shape != x.shape[2:]:
        raise ValueError("shapes do not match")
    if any(stride == 0 and size > 1 for size, stride in zip(residual.shape, residual.stride(), strict=True)):
        raise ValueError("elements of what is changed overlap")
    batch, steps, dim = x.shape
    out = torch.empty((batch, steps, dim), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    residual_rms_norm_kernel[(batch * steps,)](
        x,
        residual,
        weight,
        out,
        steps,
        dim,
        EPS,
        *x.stride(),
        *residual.stride(),
        weight.stride(0),
        BLOCK=BLOCK,
    )
    return out


def reference(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    residual.copy_(residual.to(wide) + x.to(wide))
    stream = residual.to(wide)
    square = stream.square().sum(dim=2) / max(x.shape[2], 1)
    rstd = (square + EPS).rsqrt()
    return (stream * rstd[:, :, None] * (1.0 + weight.to(wide))).to(x.dtype)


norm = Subject(
    residual_rms_norm,
    reference=reference,
    inputs=[Tensor("batch", "steps", "dim"), Tensor("batch", "steps", "dim"), Tensor("dim")],
    name="residual_rms_norm",
    sizes={"batch": [2, 1, 3, 0], "steps": [16, 1, 5, 37], "dim": [128, 1, 7, 100, 256, 300]},
    mutates=[1],
)
