"""The entropy of the softmax of every row of logits, in nats, in one pass with a running maximum.

A logit of -inf contributes nothing, as 0 log 0 is 0; a row of nothing but -inf, or with a NaN or +inf, gives NaN; a row
without columns gives 0. Sums are in float32, logits may have any layout.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

ROWS = 4
BLOCK = 256


@triton.jit
def entropy_kernel(logits, out, rows, cols, blocks, sr, sc, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = row < rows
    column = tl.arange(0, BLOCK).to(tl.int64)
    top = tl.full([ROWS], float("-inf"), tl.float32)
    mass = tl.zeros([ROWS], dtype=tl.float32)
    moment = tl.zeros([ROWS], dtype=tl.float32)
    for _ in range(blocks):
        keep = live[:, None] & (column < cols)[None, :]
        x = tl.load(logits + row[:, None] * sr + column[None, :] * sc, mask=keep, other=float("-inf")).to(tl.float32)
        new_top = tl.maximum(top, tl.max(x, axis=1))
        shift = tl.where(new_top == float("-inf"), 0.0, new_top)
        step = tl.where(top == float("-inf"), 0.0, top - shift)
        fade = tl.where(top == float("-inf"), 0.0, tl.exp(step))
        distance = x - shift[:, None]
        weight = tl.exp(distance)
        product = tl.where(x == float("-inf"), 0.0, weight * distance)
        moment = fade * (moment + mass * step) + tl.sum(product, axis=1)
        mass = fade * mass + tl.sum(weight, axis=1)
        top = new_top
        column += BLOCK
    entropy = tl.log(mass) - moment / mass
    tl.store(out + row, entropy, mask=live)


def softmax_entropy(logits):
    if logits.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("softmax_entropy takes float32, float16 or bfloat16")
    if logits.dim() != 2:
        raise ValueError("softmax_entropy takes logits of (rows, cols)")
    rows, cols = logits.shape
    if cols == 0:
        return torch.zeros(rows, dtype=logits.dtype, device=logits.device)
    out = torch.empty(rows, dtype=logits.dtype, device=logits.device)
    if rows:
        grid = (triton.cdiv(rows, ROWS),)
        blocks = triton.cdiv(cols, BLOCK)
        entropy_kernel[grid](logits, out, rows, cols, blocks, *logits.stride(), ROWS=ROWS, BLOCK=BLOCK, num_warps=4)
    return out


def reference(logits):
    share = torch.softmax(logits.float(), dim=1)
    return torch.special.entr(share).sum(dim=1).to(logits.dtype)


entropy = Subject(softmax_entropy, reference=reference, inputs=[Tensor("rows", "cols")])
