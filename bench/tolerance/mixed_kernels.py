"""Kernels with narrow numbers on the way, masks and scales; which ways are right only `mixed.py` knows."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def logsumexp_of_scores_kernel(
    q_ptr, k_ptr, out_ptr, scale, length, HOW: tl.constexpr, HEAD: tl.constexpr, BLOCK: tl.constexpr
):
    """What attention stores for its backward pass: log(sum(exp(q @ k.T * scale))) of each row, in float32."""
    base = tl.program_id(1) * length
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    channel = tl.arange(0, HEAD)
    q = tl.load(q_ptr + (base + row[:, None]) * HEAD + channel[None, :], mask=row[:, None] < length, other=0.0)
    highest = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    end = length
    if HOW == "last block":
        end = length - BLOCK
    for start in range(0, end, BLOCK):
        key = start + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + (base + key[None, :]) * HEAD + channel[:, None], mask=key[None, :] < length, other=0.0)
        scores = tl.dot(q, k, input_precision="ieee") * scale
        if HOW == "scores early":
            scores = scores.to(tl.bfloat16).to(tl.float32)
        if (HOW == "base 2") | (HOW == "not converted"):
            scores = scores * 1.4426950408889634
        scores = tl.where(key[None, :] < length, scores, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        if (HOW == "base 2") | (HOW == "not converted"):
            total = total * tl.exp2(highest - higher) + tl.sum(tl.exp2(scores - higher[:, None]), axis=1)
        elif HOW == "not rescaled":
            total = total + tl.sum(tl.exp(scores - higher[:, None]), axis=1)
        else:
            total = total * tl.exp(highest - higher) + tl.sum(tl.exp(scores - higher[:, None]), axis=1)
        highest = higher
    result = highest + tl.log(total)
    if (HOW == "base 2") | (HOW == "not converted"):
        result = highest + tl.log2(total)
    if HOW == "base 2":
        result = result * 0.6931471805599453
    if HOW == "stored narrow":
        result = result.to(tl.bfloat16).to(tl.float32)
    tl.store(out_ptr + base + row, result, mask=row < length)


@triton.jit
def masked_softmax_kernel(x_ptr, seen_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """The softmax of the first `seen` numbers of each row, of some rows none."""
    row = tl.program_id(0)
    seen = tl.load(seen_ptr + row)
    if HOW == "one more":
        seen = seen + 1
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < seen, other=-float("inf")).to(tl.float32)
    highest = tl.max(x, axis=0)
    if HOW != "NaN":
        highest = tl.where(seen > 0, highest, 0.0)
    shares = tl.exp(x - highest)
    total = tl.sum(shares, axis=0)
    if (HOW == "zeros") | (HOW == "scale") | (HOW == "one more"):
        total = tl.where(seen > 0, total, 1.0)
    if HOW == "few are none":
        total = tl.where(seen > 10, total, float("inf"))
    if HOW == "NaN of few":
        total = tl.where(seen > 10, total, float("nan"))
    result = shares / total
    if HOW == "scale":
        result = result * 1.01
    tl.store(out_ptr + row * columns + column, result, mask=column < columns)


@triton.jit
def quantise_to_8_bits_kernel(x_ptr, scale_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """x / scale of each row as numbers of 8 bits."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    scale = tl.load(scale_ptr + row)
    if HOW == "scale of the first":
        scale = tl.load(scale_ptr)
    result = x / scale
    if HOW == "inverse":
        result = x * (1 / scale)
    if HOW == "twice":
        result = result / scale
    if HOW == "lost":
        result = x
    if HOW == "truncated":
        result = (result.to(tl.int32, bitcast=True) & -1048576).to(tl.float32, bitcast=True)
    tl.store(out_ptr + row * columns + column, result.to(tl.float8e4nv), mask=mask)
