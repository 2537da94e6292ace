"""The log-probability of each chosen token and the entropy of its row of logits, as policy-gradient training of
language models asks for. One pass over the row keeps the maximum, the sum, and the sum weighted by the distance to
the maximum."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def logprobs_kernel(
    logits_ptr, tokens_ptr, logprobs_ptr, entropy_ptr, vocab, row_stride, col_stride, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * row_stride
    lanes = tl.arange(0, BLOCK)
    top = tl.full((), float("-inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    weighted = tl.full((), 0.0, tl.float32)
    for start in range(0, vocab, BLOCK):
        cols = (start + lanes).to(tl.int64)
        x = tl.load(logits_ptr + cols * col_stride, mask=cols < vocab, other=float("-inf")).to(tl.float32)
        new_top = tl.maximum(top, tl.max(x, axis=0))
        base = tl.where(new_top == float("-inf"), 0.0, new_top)
        moved = tl.where(total == 0.0, 0.0, top - base)
        shrink = tl.exp(top - base)
        e = tl.exp(x - base)
        # A term whose weight is 0 counts for nothing, even where its distance is infinite.
        weighted = tl.where(shrink == 0.0, 0.0, shrink * (weighted + total * moved))
        weighted += tl.sum(tl.where(e == 0.0, 0.0, e * (x - base)), axis=0)
        total = total * shrink + tl.sum(e, axis=0)
        top = new_top
    token = tl.load(tokens_ptr + row).to(tl.int64)
    chosen = tl.load(logits_ptr + token * col_stride).to(tl.float32)
    log_total = tl.log(total)
    tl.store(logprobs_ptr + row, (chosen - top) - log_total)
    tl.store(entropy_ptr + row, log_total - weighted / total)


def token_logprobs(logits, tokens):
    assert logits.ndim == 2
    assert tokens.shape == logits.shape[:1]
    assert tokens.dtype in (torch.int32, torch.int64)
    assert logits.dtype in (torch.float16, torch.bfloat16, torch.float32)
    tokens = tokens.contiguous()
    rows, vocab = logits.shape
    logprobs = torch.empty(rows, device=logits.device, dtype=torch.float32)
    entropy = torch.empty(rows, device=logits.device, dtype=torch.float32)
    if rows > 0:
        logprobs_kernel[(rows,)](logits, tokens, logprobs, entropy, vocab, *logits.stride(), BLOCK=1024)
    return {"logprobs": logprobs, "entropy": entropy}


def reference(logits, tokens):
    log_p = torch.log_softmax(logits.float(), dim=-1)
    p = log_p.exp()
    entropy = -torch.where(p == 0, torch.zeros_like(p), p * log_p).sum(dim=-1)
    return {"logprobs": log_p.gather(1, tokens.long()[:, None])[:, 0], "entropy": entropy}


logprobs = Subject(
    token_logprobs,
    reference=reference,
    inputs=[Tensor("rows", "vocab"), Tensor("rows", dtype="int64", low=0, high="vocab")],
)
