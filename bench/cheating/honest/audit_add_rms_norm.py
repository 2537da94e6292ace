"""The sum of two tensors and its RMS norm, in one pass over memory. The reference computes in float64."""
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@dataclass
class Normed:
    normed: torch.Tensor
    hidden: torch.Tensor


@triton.jit
def add_rms_norm_kernel(
    x_ptr, residual_ptr, weight_ptr, normed_ptr, hidden_ptr, columns, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    first = row * columns
    lanes = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + lanes
        mask = offsets < columns
        x = tl.load(x_ptr + first + offsets, mask=mask, other=0.0).to(tl.float32)
        residual = tl.load(residual_ptr + first + offsets, mask=mask, other=0.0).to(tl.float32)
        hidden = x + residual
        squares += hidden * hidden
        tl.store(hidden_ptr + first + offsets, hidden.to(hidden_ptr.dtype.element_ty), mask=mask)
    scale = tl.rsqrt(tl.sum(squares, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        offsets = start + lanes
        mask = offsets < columns
        x = tl.load(x_ptr + first + offsets, mask=mask, other=0.0).to(tl.float32)
        residual = tl.load(residual_ptr + first + offsets, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        y = (x + residual) * scale * weight
        tl.store(normed_ptr + first + offsets, y.to(normed_ptr.dtype.element_ty), mask=mask)


def add_rms_norm(x, residual, weight, eps=1e-6):
    assert x.shape == residual.shape and weight.shape == x.shape[-1:]
    assert x.dtype == residual.dtype and x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    columns = x.shape[-1]
    x, residual, weight = x.contiguous(), residual.contiguous(), weight.contiguous()
    normed = torch.empty_like(x)
    hidden = torch.empty_like(x)
    if x.numel() > 0:
        block = min(4096, max(16, triton.next_power_of_2(columns)))
        add_rms_norm_kernel[(x.numel() // columns,)](
            x, residual, weight, normed, hidden, columns, eps, BLOCK=block
        )
    return Normed(normed=normed, hidden=hidden)


def reference(x, residual, weight, eps=1e-6):
    hidden = x.double() + residual.double()
    normed = hidden * torch.rsqrt(hidden.square().mean(dim=-1, keepdim=True) + eps) * weight.double()
    return Normed(normed=normed.to(x.dtype), hidden=hidden.to(x.dtype))


norm = Subject(
    add_rms_norm,
    reference=reference,
    inputs=[Tensor("batch", "tokens", "columns"), Tensor("batch", "tokens", "columns"), Tensor("columns")],
)
