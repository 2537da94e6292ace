"""The second shard of a table of words: zeros for words that it does not hold."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def shard_kernel(index_ptr, shard_ptr, out_ptr, first, words, width, BLOCK: tl.constexpr):
    item = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    local = tl.load(index_ptr + item) - first
    held = (local >= 0) & (local < words)
    row = tl.load(shard_ptr + local * width + c, mask=(c < width) & held, other=0.0)
    tl.store(out_ptr + item * width + c, tl.where(local >= 0, row, 0.0), mask=c < width)


def look_up(index, shard):
    index, shard = index.contiguous(), shard.contiguous()
    items, (words, width) = index.shape[0], shard.shape
    out = torch.empty((items, width), device=shard.device, dtype=shard.dtype)
    if out.numel() > 0:
        shard_kernel[(items, triton.cdiv(width, 64))](index, shard, out, words, words, width, BLOCK=64)
    return out


def reference(index, shard):
    words = shard.shape[0]
    held = (index >= words) & (index < 2 * words)
    rows = shard[torch.where(held, index - words, 0)]
    return torch.where(held[:, None], rows, torch.zeros_like(rows))


looked_up = Subject(
    look_up,
    reference=reference,
    inputs=[Tensor("items", dtype="int64", low=0, high="4 * words"), Tensor("words", "width")],
    dtypes=["float32", "float16"],
)
