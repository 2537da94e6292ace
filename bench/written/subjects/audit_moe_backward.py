"""The backward pass of a mixture's combination: out[t] is the sum over choices c of weights[t, c] * y[slots[t, c]].

A slot may be chosen more than once; one below 0 is dropped."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 64


@triton.jit
def moe_backward_kernel(
    grad_ptr,
    y_ptr,
    slots_ptr,
    weights_ptr,
    y_grad_ptr,
    weights_grad_ptr,
    counts_ptr,
    choices,
    dim,
    grad_token_stride,
    grad_dim_stride,
    y_slot_stride,
    y_dim_stride,
    slots_token_stride,
    slots_choice_stride,
    weights_token_stride,
    weights_choice_stride,
    y_grad_slot_stride,
    BLOCK: tl.constexpr,
):
    pair = tl.program_id(0).to(tl.int64)
    token = pair // choices
    choice = pair % choices
    slot = tl.load(slots_ptr + token * slots_token_stride + choice * slots_choice_stride).to(tl.int64)
    if slot >= 0:
        weight = tl.load(weights_ptr + token * weights_token_stride + choice * weights_choice_stride).to(tl.float32)
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, dim, BLOCK):
            d = (start + tl.arange(0, BLOCK)).to(tl.int64)
            mask = d < dim
            grad = tl.load(grad_ptr + token * grad_token_stride + d * grad_dim_stride, mask=mask, other=0.0)
            y = tl.load(y_ptr + slot * y_slot_stride + d * y_dim_stride, mask=mask, other=0.0)
            total += grad.to(tl.float32) * y.to(tl.float32)
            tl.atomic_add(y_grad_ptr + slot * y_grad_slot_stride + d, weight * grad.to(tl.float32), mask=mask)
        weight_grad = tl.sum(total, axis=0)
        tl.store(weights_grad_ptr + pair, weight_grad.to(weights_grad_ptr.dtype.element_ty))
        tl.atomic_add(counts_ptr + slot, 1)
    else:
        tl.store(weights_grad_ptr + pair, 0.0)


def moe_backward(
    grad: torch.Tensor, y: torch.Tensor, slots: torch.Tensor, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """From grad, (tokens, dim): the gradients of y, (slots, dim), float32, and weights, (tokens, choices), and how
    often each slot was chosen."""
    n_slots, dim = y.shape
    tokens, choices = slots.shape
    y_grad = torch.zeros((n_slots, dim), dtype=torch.float32, device=y.device)
    weights_grad = torch.empty((tokens, choices), dtype=weights.dtype, device=y.device)
    counts = torch.zeros(n_slots, dtype=torch.int32, device=y.device)
    if weights_grad.numel() > 0:
        moe_backward_kernel[(tokens * choices,)](
            grad,
            y,
            slots,
            weights,
            y_grad,
            weights_grad,
            counts,
            choices,
            dim,
            *grad.stride(),
            *y.stride(),
            *slots.stride(),
            *weights.stride(),
            y_grad.stride(0),
            BLOCK,
        )
    return y_grad, weights_grad, counts


def reference(
    grad: torch.Tensor, y: torch.Tensor, slots: torch.Tensor, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    wide = torch.promote_types(y.dtype, torch.float32)
    flat = slots.reshape(-1).long()
    kept = flat >= 0
    token = torch.arange(flat.numel(), device=y.device) // max(slots.shape[1], 1)
    flat, token = flat[kept], token[kept]
    parts = grad.to(wide)[token]
    y_grad = torch.zeros(y.shape, dtype=wide, device=y.device)
    y_grad.index_add_(0, flat, parts * weights.to(wide).reshape(-1)[kept][:, None])
    weights_grad = torch.zeros(kept.numel(), dtype=wide, device=y.device)
    weights_grad[kept] = (parts * y.to(wide)[flat]).sum(dim=1)
    counts = torch.bincount(flat, minlength=y.shape[0]).to(torch.int32)
    return y_grad, weights_grad.reshape(slots.shape).to(weights.dtype), counts


backward = Subject(
    moe_backward,
    reference=reference,
    inputs=[
        Tensor("tokens", "dim"),
        Tensor("slots", "dim"),
        Tensor("tokens", "choices", dtype="int32", low=-1, high="slots"),
        Tensor("tokens", "choices"),
    ],
    name="moe_backward",
    sizes={
        "tokens": [64, 1, 37, 200, 0],
        "dim": [64, 1, 33, 100, 256, 0],
        "slots": [50, 1, 7, 130, 33000],
        "choices": [2, 1, 3],
    },
)
