"""Penalties on the logits of tokens that were there before, as samplers take them: repetition, frequency and presence;
then the temperature.

One launch counts each sequence's tokens by atomics, one changes the logits."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

PADDING = -1
BLOCK_S = 64
BLOCK_V = 256


@triton.jit
def count_kernel(
    tokens_ptr,
    counts_ptr,
    history,
    vocab,
    tokens_row_stride,
    tokens_col_stride,
    PADDING: tl.constexpr,
    BLOCK: tl.constexpr,
):
    blocks = tl.cdiv(history, BLOCK)
    program = tl.program_id(0).to(tl.int64)
    row = program // blocks
    at = program % blocks * BLOCK + tl.arange(0, BLOCK)
    ptrs = tokens_ptr + row * tokens_row_stride + at * tokens_col_stride
    token = tl.load(ptrs, mask=at < history, other=PADDING).to(tl.int64)
    tl.atomic_add(counts_ptr + row * vocab + token, 1, mask=token != PADDING, sem="relaxed")


@triton.jit
def penalties_kernel(
    logits_ptr,
    counts_ptr,
    repetition_ptr,
    frequency_ptr,
    presence_ptr,
    temperature_ptr,
    out_ptr,
    vocab,
    logits_row_stride,
    logits_col_stride,
    repetition_stride,
    frequency_stride,
    presence_stride,
    temperature_stride,
    BLOCK: tl.constexpr,
):
    blocks = tl.cdiv(vocab, BLOCK)
    program = tl.program_id(0).to(tl.int64)
    row = program // blocks
    col = program % blocks * BLOCK + tl.arange(0, BLOCK)
    mask = col < vocab
    logit = tl.load(logits_ptr + row * logits_row_stride + col * logits_col_stride, mask=mask, other=0.0)
    logit = logit.to(tl.float32)
    count = tl.load(counts_ptr + row * vocab + col, mask=mask, other=0)
    repetition = tl.load(repetition_ptr + row * repetition_stride)
    frequency = tl.load(frequency_ptr + row * frequency_stride)
    presence = tl.load(presence_ptr + row * presence_stride)
    temperature = tl.load(temperature_ptr + row * temperature_stride)

    seen = count > 0
    repeated = tl.where(logit > 0.0, logit / repetition, logit * repetition)
    logit = tl.where(seen, repeated, logit)
    logit -= frequency * count.to(tl.float32)
    logit -= tl.where(seen, presence, 0.0)
    # A temperature of 0 stands for the largest logit: the order is kept, nothing is divided.
    logit /= tl.where(temperature == 0.0, 1.0, temperature)
    tl.store(out_ptr + row * vocab + col, logit, mask=mask)


def logit_penalties(
    logits: torch.Tensor,
    tokens: torch.Tensor,
    repetition: torch.Tensor,
    frequency: torch.Tensor,
    presence: torch.Tensor,
    temperature: torch.Tensor,
) -> torch.Tensor:
    """logits, (batch, vocab), and tokens, (batch, history), -1 where there is none; the others, (batch), float32: the
    logits to sample from, float32."""
    batch, vocab = logits.shape
    history = tokens.shape[1]
    out = torch.empty((batch, vocab), dtype=torch.float32, device=logits.device)
    if out.numel() == 0:
        return out
    counts = torch.zeros((batch, vocab), dtype=torch.int32, device=logits.device)
    if history > 0:
        count_kernel[(batch * triton.cdiv(history, BLOCK_S),)](
            tokens, counts, history, vocab, *tokens.stride(), PADDING=PADDING, BLOCK=BLOCK_S
        )
    penalties_kernel[(batch * triton.cdiv(vocab, BLOCK_V),)](
        logits,
        counts,
        repetition,
        frequency,
        presence,
        temperature,
        out,
        vocab,
        *logits.stride(),
        repetition.stride(0),
        frequency.stride(0),
        presence.stride(0),
        temperature.stride(0),
        BLOCK=BLOCK_V,
    )
    return out


def reference(
    logits: torch.Tensor,
    tokens: torch.Tensor,
    repetition: torch.Tensor,
    frequency: torch.Tensor,
    presence: torch.Tensor,
    temperature: torch.Tensor,
) -> torch.Tensor:
    wide = logits.to(repetition.dtype)
    batch, vocab = wide.shape
    there = tokens != PADDING
    counts = torch.zeros((batch, vocab + 1), dtype=torch.int64, device=logits.device)
    counts.scatter_add_(1, torch.where(there, tokens.long(), vocab), torch.ones_like(tokens, dtype=torch.int64))
    counts = counts[:, :vocab]
    repetition, frequency, presence = repetition[:, None], frequency[:, None], presence[:, None]
    wide = torch.where(counts > 0, torch.where(wide > 0, wide / repetition, wide * repetition), wide)
    wide = wide - frequency * counts - torch.where(counts > 0, presence, 0.0)
    return wide / torch.where(temperature == 0, 1.0, temperature)[:, None]


def inputs(case: Case) -> tuple[torch.Tensor, ...]:
    """Histories of unequal length, filled up with -1, in which tokens come again, and settings of each request."""
    batch, vocab, history = case["batch"], case["vocab"], case["history"]
    generator = torch.Generator().manual_seed(case.seed)
    logits = 4.0 * torch.randn((batch, vocab), generator=generator)
    tokens = (torch.rand((batch, history), generator=generator).square() * vocab).long().clamp(max=vocab - 1)
    lengths = torch.randint(0, history + 1, (batch, 1), generator=generator)
    tokens = torch.where(torch.arange(history)[None, :] < lengths, tokens, PADDING)
    repetition = 1.0 + torch.rand(batch, generator=generator)
    frequency = torch.rand(batch, generator=generator)
    presence = torch.rand(batch, generator=generator)
    temperature = (2.0 * torch.rand(batch, generator=generator) - 0.5).clamp(min=0.0)
    temperature = torch.where(temperature < 0.1, 0.0, temperature)
    tensors = (logits.to(getattr(torch, case.dtype)), tokens, repetition, frequency, presence, temperature)
    return tuple(tensor.to(case.device) for tensor in tensors)


penalties = Subject(
    logit_penalties,
    reference=reference,
    inputs=inputs,
    name="logit_penalties",
    sizes={"batch": [4, 1, 3, 9, 0], "vocab": [256, 1, 100, 257, 1000], "history": [64, 1, 20, 150, 0]},
)
