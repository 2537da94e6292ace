"""A token for each row by min-p sampling: of those likely enough, the one with the largest logit plus noise."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

PARTS = 4


@triton.jit
def known(x):
    return tl.where(x == x, x, float("-inf"))


@triton.jit
def largest_kernel(
    logits_ptr, largest_ptr, vocab, each, row_stride, col_stride, PARTS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1).to(tl.int64)
    end = tl.minimum((part + 1) * each, vocab)
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(part * each, end, BLOCK):
        col = start + tl.arange(0, BLOCK)
        logit = tl.load(logits_ptr + row * row_stride + col * col_stride, mask=col < end, other=float("-inf"))
        largest = tl.maximum(largest, known(logit.to(tl.float32)))
    tl.store(largest_ptr + row * PARTS + part, tl.max(largest, axis=0))


@triton.jit
def choose_kernel(
    logits_ptr,
    noise_ptr,
    margin_ptr,
    largest_ptr,
    score_ptr,
    token_ptr,
    count_ptr,
    vocab,
    each,
    row_stride,
    col_stride,
    noise_row_stride,
    noise_col_stride,
    margin_stride,
    PARTS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1).to(tl.int64)
    largest = tl.max(tl.load(largest_ptr + row * PARTS + tl.arange(0, PARTS)), axis=0)
    least = largest - tl.load(margin_ptr + row * margin_stride)
    end = tl.minimum((part + 1) * each, vocab)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    token = tl.zeros((BLOCK,), tl.int64) + vocab
    count = tl.zeros((BLOCK,), tl.int32)
    for start in range(part * each, end, BLOCK):
        col = start + tl.arange(0, BLOCK)
        mask = col < end
        logit = tl.load(logits_ptr + row * row_stride + col * col_stride, mask=mask, other=0.0).to(tl.float32)
        noise = tl.load(noise_ptr + row * noise_row_stride + col * noise_col_stride, mask=mask, other=0.0)
        kept = mask & (logit >= least)
        score = tl.where(kept, known(logit + noise), float("-inf"))
        better = kept & ((score > best) | (token == vocab))
        best = tl.where(better, score, best)
        token = tl.where(better, col, token)
        count += kept.to(tl.int32)
    top = tl.max(best, axis=0)
    at = row * PARTS + part
    tl.store(score_ptr + at, top)
    tl.store(token_ptr + at, tl.min(tl.where(best == top, token, vocab), axis=0))
    tl.store(count_ptr + at, tl.sum(count, axis=0))


@triton.jit
def finish_kernel(score_ptr, token_ptr, count_ptr, out_ptr, kept_ptr, vocab, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = row * PARTS + tl.arange(0, PARTS)
    score = tl.load(score_ptr + at)
    token = tl.load(token_ptr + at)
    best = tl.max(score, axis=0)
    # Of equal ones, the first.
    chosen = tl.min(tl.where(score == best, token, vocab), axis=0)
    tl.store(out_ptr + row, tl.where(chosen < vocab, chosen, -1))
    tl.store(kept_ptr + row, tl.sum(tl.load(count_ptr + at), axis=0))


def min_p_sample(logits: torch.Tensor, noise: torch.Tensor, margin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """logits, (rows, vocab), noise, (rows, vocab), float32, Gumbel noise as a rule, margin, (rows), float32, the
    logarithm of 1 / min-p. Kept are the logits that are not below the row's largest less its margin.

    Gives the number of the kept token with the largest logit + noise, (rows), int64, of equal ones the first, and -1
    where none is kept; and how many are kept, (rows), int32. A logit that is NaN is not kept, and is not the largest; a
    sum that is NaN counts as -inf. All in float32."""
    if logits.ndim != 2 or noise.shape != logits.shape or margin.shape != logits.shape[:1] or logits.shape[1] < 1:
        raise ValueError("logits and noise are (rows, vocab), with a token or more, and margin is (rows)")
    if logits.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("logits is float32, float16 or bfloat16")
    if noise.dtype != torch.float32 or margin.dtype != torch.float32:
        raise ValueError("noise and margin are float32")
    if logits.device != noise.device or logits.device != margin.device or max(logits.shape) >= 2**31:
        raise ValueError("all lie on one device, with fewer than 2^31 rows and tokens")
    rows, vocab = logits.shape
    largest, score = torch.empty((2, rows, PARTS), dtype=torch.float32, device=logits.device).unbind()
    token = torch.empty((rows, PARTS), dtype=torch.int64, device=logits.device)
    count = torch.empty((rows, PARTS), dtype=torch.int32, device=logits.device)
    out = torch.empty(rows, dtype=torch.int64, device=logits.device)
    kept = torch.empty(rows, dtype=torch.int32, device=logits.device)
    if rows:
        each = triton.cdiv(vocab, PARTS)
        largest_kernel[(rows, PARTS)](logits, largest, vocab, each, *logits.stride(), PARTS=PARTS, BLOCK=64)
        choose_kernel[(rows, PARTS)](
            logits,
            noise,
            margin,
            largest,
            score,
            token,
            count,
            vocab,
            each,
            *logits.stride(),
            *noise.stride(),
            margin.stride(0),
            PARTS=PARTS,
            BLOCK=64,
        )
        finish_kernel[(rows,)](score, token, count, out, kept, vocab, PARTS=PARTS)
    return out, kept


def reference(logits: torch.Tensor, noise: torch.Tensor, margin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    _, vocab = logits.shape
    wide = logits.to(torch.float32)
    largest = torch.where(wide == wide, wide, float("-inf")).amax(dim=1)
    kept = wide >= (largest - margin)[:, None]
    score = wide + noise
    score = torch.where(kept & (score == score), score, float("-inf"))
    first = kept & (score == score.amax(dim=1, keepdim=True))
    token = torch.where(first, torch.arange(vocab, device=logits.device), vocab).amin(dim=1)
    return torch.where(token < vocab, token, -1), kept.sum(dim=1).to(torch.int32)


sampled = Subject(
    min_p_sample,
    reference=reference,
    inputs=[
        Tensor("rows", "vocab"),
        Tensor("rows", "vocab", dtype="float32"),
        Tensor("rows", dtype="float32"),
    ],
    name="min_p_sample",
    sizes={"rows": [16, 1, 5, 0], "vocab": [512, 1, 37, 700]},
)
