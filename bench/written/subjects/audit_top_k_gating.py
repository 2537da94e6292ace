"""The gate of a mixture of experts: the largest logits of each token, softmax over these, and each expert's load.

Of equal logits the expert with the lower number comes first; NaN is larger than anything, as when sorting."""

from typing import Any

import torch
import triton
import triton.language as tl

from tritonaudit import Size, Subject, Tensor

MOST_EXPERTS = 4096
BLOCK_T = 4


@triton.jit
def top_k_kernel(
    logits_ptr,
    weights_ptr,
    chosen_ptr,
    load_ptr,
    tokens,
    experts,
    logits_token_stride,
    logits_expert_stride,
    CHOICES: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    expert = tl.arange(0, BLOCK_E)
    wide_expert = expert.to(tl.int64)
    token_mask = token < tokens
    mask = token_mask[:, None] & (expert < experts)[None, :]
    logits_offsets = token[:, None] * logits_token_stride + wide_expert[None, :] * logits_expert_stride
    logits = tl.load(logits_ptr + logits_offsets, mask=mask, other=0.0).to(tl.float32)

    # Integers that are ordered as the logits are; what is not there, or has been taken, is below all of them.
    bits = logits.to(tl.int32, bitcast=True)
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    order = tl.where(logits == 0.0, 0, order)
    order = tl.where(logits != logits, 0x7FFFFFFF, order)
    order = tl.where(mask, order, -0x80000000)

    choice = tl.arange(0, BLOCK_K)
    picked = tl.zeros((BLOCK_T, BLOCK_K), tl.int32)
    values = tl.full((BLOCK_T, BLOCK_K), float("-inf"), tl.float32)
    for i in tl.static_range(CHOICES):
        largest = tl.max(order, axis=1)
        best = tl.min(tl.where(order == largest[:, None], expert[None, :], BLOCK_E), axis=1)
        here = expert[None, :] == best[:, None]
        value = tl.sum(tl.where(here, logits, 0.0), axis=1)
        picked = tl.where(choice[None, :] == i, best[:, None], picked)
        values = tl.where(choice[None, :] == i, value[:, None], values)
        order = tl.where(here, -0x80000000, order)

    values = values - tl.max(values, axis=1)[:, None]
    shares = tl.exp(values)
    weights = shares / tl.sum(shares, axis=1)[:, None]
    out_offsets = token[:, None] * CHOICES + choice[None, :]
    out_mask = token_mask[:, None] & (choice < CHOICES)[None, :]
    tl.store(weights_ptr + out_offsets, weights, mask=out_mask)
    tl.store(chosen_ptr + out_offsets, picked.to(tl.int64), mask=out_mask)
    tl.atomic_add(load_ptr + picked, 1, mask=out_mask)


@triton.jit
def top_k_backward_kernel(
    grad_ptr,
    weights_ptr,
    chosen_ptr,
    logits_grad_ptr,
    tokens,
    experts,
    grad_token_stride,
    grad_choice_stride,
    CHOICES: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_T: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64) * BLOCK_T + tl.arange(0, BLOCK_T)
    choice = tl.arange(0, BLOCK_K).to(tl.int64)
    mask = (token < tokens)[:, None] & (choice < CHOICES)[None, :]
    offsets = token[:, None] * CHOICES + choice[None, :]
    grad_offsets = token[:, None] * grad_token_stride + choice[None, :] * grad_choice_stride
    grad = tl.load(grad_ptr + grad_offsets, mask=mask, other=0.0)
    weights = tl.load(weights_ptr + offsets, mask=mask, other=0.0)
    chosen = tl.load(chosen_ptr + offsets, mask=mask, other=0)
    inner = tl.sum(grad * weights, axis=1)
    logits_grad = weights * (grad - inner[:, None])
    tl.store(
        logits_grad_ptr + token[:, None] * experts + chosen,
        logits_grad.to(logits_grad_ptr.dtype.element_ty),
        mask=mask,
    )


class TopKGating(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, choices: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        tokens, experts = logits.shape
        weights = torch.empty((tokens, choices), dtype=torch.float32, device=logits.device)
        chosen = torch.empty((tokens, choices), dtype=torch.int64, device=logits.device)
        load = torch.zeros(experts, dtype=torch.int32, device=logits.device)
        if tokens > 0:
            top_k_kernel[(triton.cdiv(tokens, BLOCK_T),)](
                logits,
                weights,
                chosen,
                load,
                tokens,
                experts,
                logits.stride(0),
                logits.stride(1),
                CHOICES=choices,
                BLOCK_K=triton.next_power_of_2(choices),
                BLOCK_T=BLOCK_T,
                BLOCK_E=triton.next_power_of_2(experts),
            )
        ctx.save_for_backward(weights, chosen)
        ctx.experts, ctx.dtype = experts, logits.dtype
        ctx.mark_non_differentiable(chosen, load)
        return weights, chosen, load

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        weights, chosen = ctx.saved_tensors
        grad = grads[0]
        tokens, choices = weights.shape
        logits_grad = torch.zeros((tokens, ctx.experts), dtype=ctx.dtype, device=grad.device)
        if tokens > 0:
            top_k_backward_kernel[(triton.cdiv(tokens, BLOCK_T),)](
                grad,
                weights,
                chosen,
                logits_grad,
                tokens,
                ctx.experts,
                grad.stride(0),
                grad.stride(1),
                CHOICES=choices,
                BLOCK_K=triton.next_power_of_2(choices),
                BLOCK_T=BLOCK_T,
            )
        return logits_grad, None


def top_k_gating(logits: torch.Tensor, choices: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """From logits, (tokens, experts): weights in float32 and experts, both (tokens, choices), and loads, (experts)."""
    if logits.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("wants float32, float16 or bfloat16")
    if not 1 <= choices <= min(logits.shape[1], 16) or logits.shape[1] > MOST_EXPERTS:
        raise ValueError("wants 1 to 16 choices, as many experts at least, and not too many of these")
    return TopKGating.apply(logits, choices)


def reference(logits: torch.Tensor, choices: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    chosen = torch.sort(wide.detach(), dim=1, descending=True, stable=True).indices[:, :choices]
    weights = torch.softmax(wide.gather(1, chosen), dim=1)
    load = torch.bincount(chosen.reshape(-1), minlength=logits.shape[1]).to(torch.int32)
    return weights, chosen, load


gating = Subject(
    top_k_gating,
    reference=reference,
    inputs=[Tensor("tokens", "experts"), Size("choices")],
    name="top_k_gating",
    sizes={"tokens": [32, 1, 7, 101, 0], "experts": [16, 8, 9, 60, 160], "choices": [2, 1, 3, 8]},
    gradients=True,
)
