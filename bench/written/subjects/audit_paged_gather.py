"""Gathers the keys of packed sequences from pages of a cache, where they lie as int8, each token and head with a scale.

Some programs share a sequence, take its pages in turn, and write its tokens side by side."""

import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Size, Subject, Tensor

SPLITS = 2


@triton.jit
def paged_gather_kernel(
    cache_ptr,
    scales_ptr,
    table_ptr,
    offsets_ptr,
    out_ptr,
    page_size,
    heads,
    dim,
    cache_page_stride,
    cache_slot_stride,
    cache_head_stride,
    cache_dim_stride,
    scales_page_stride,
    scales_slot_stride,
    scales_head_stride,
    table_row_stride,
    table_col_stride,
    SPLITS: tl.constexpr,
    BLOCK_S: tl.constexpr,
    BLOCK_W: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    sequence = program // SPLITS
    split = program % SPLITS
    begin = tl.load(offsets_ptr + sequence).to(tl.int64)
    end = tl.load(offsets_ptr + sequence + 1).to(tl.int64)
    width = heads * dim
    pages = tl.cdiv(end - begin, page_size)
    for at in range(split, pages, SPLITS):
        at = tl.cast(at, tl.int64)
        page = tl.load(table_ptr + sequence * table_row_stride + at * table_col_stride).to(tl.int64)
        cache_base = cache_ptr + page * cache_page_stride
        scales_base = scales_ptr + page * scales_page_stride
        for first_slot in range(0, page_size, BLOCK_S):
            slot = tl.cast(first_slot, tl.int64) + tl.arange(0, BLOCK_S)
            token = begin + at * page_size + slot
            slot_mask = (slot < page_size) & (token < end)
            for first_lane in range(0, width, BLOCK_W):
                lane = tl.cast(first_lane, tl.int64) + tl.arange(0, BLOCK_W)
                head = lane // dim
                d = lane % dim
                mask = slot_mask[:, None] & (lane < width)[None, :]
                value_ptrs = (
                    cache_base
                    + slot[:, None] * cache_slot_stride
                    + (head * cache_head_stride + d * cache_dim_stride)[None, :]
                )
                value = tl.load(value_ptrs, mask=mask, other=0)
                scale_ptrs = scales_base + slot[:, None] * scales_slot_stride + head[None, :] * scales_head_stride
                scale = tl.load(scale_ptrs, mask=mask, other=0.0).to(tl.float32)
                keys = value.to(tl.float32) * scale
                out_ptrs = out_ptr + token[:, None] * width + lane[None, :]
                tl.store(out_ptrs, keys.to(out_ptr.dtype.element_ty), mask=mask)


def paged_gather(
    cache: torch.Tensor, scales: torch.Tensor, table: torch.Tensor, offsets: torch.Tensor, tokens: int
) -> torch.Tensor:
    """cache, (pages, page_size, heads, dim), int8, and scales, (pages, page_size, heads); table, (sequences, width),
    the pages of each, enough for its tokens; offsets, (sequences + 1), from 0 to tokens, where these go in the
    result, (tokens, heads, dim)."""
    _, page_size, heads, dim = cache.shape
    sequences = offsets.numel() - 1
    out = torch.empty((tokens, heads, dim), dtype=scales.dtype, device=cache.device)
    if out.numel() == 0:
        return out
    paged_gather_kernel[(sequences * SPLITS,)](
        cache,
        scales,
        table,
        offsets.contiguous(),
        out,
        page_size,
        heads,
        dim,
        *cache.stride(),
        *scales.stride(),
        *table.stride(),
        SPLITS=SPLITS,
        BLOCK_S=min(triton.next_power_of_2(page_size), 16),
        BLOCK_W=64,
    )
    return out


def reference(
    cache: torch.Tensor, scales: torch.Tensor, table: torch.Tensor, offsets: torch.Tensor, tokens: int
) -> torch.Tensor:
    wide = torch.promote_types(scales.dtype, torch.float32)
    page_size = cache.shape[1]
    starts = offsets[:-1].long()
    lengths = offsets[1:].long() - starts
    sequence = torch.repeat_interleave(torch.arange(lengths.numel(), device=cache.device), lengths)
    position = torch.arange(sequence.numel(), device=cache.device) - starts[sequence]
    page = table[sequence, position // page_size].long()
    slot = position % page_size
    return (cache[page, slot].to(wide) * scales[page, slot].to(wide)[..., None]).to(scales.dtype)


gather = Subject(
    paged_gather,
    reference=reference,
    inputs=[
        Tensor("pages", "page_size", "heads", "dim", dtype="int8", low=-128, high=128),
        Tensor("pages", "page_size", "heads"),
        Tensor("sequences", "tokens", dtype="int32", low=0, high="pages"),
        Offsets("sequences", "tokens"),
        Size("tokens"),
    ],
    name="paged_gather",
    sizes={
        "pages": [12, 1, 5],
        "page_size": [16, 1, 7, 40],
        "heads": [2, 1, 3],
        "dim": [32, 1, 20, 64],
        "sequences": [3, 1, 2, 7],
        "tokens": [64, 1, 33, 150, 0],
    },
)
