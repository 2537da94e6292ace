"""Tokens put in order of their experts, each expert's padded to whole blocks, as grouped products want it."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK_SIZE = 16


@triton.jit
def experts_of(chosen_ptr, map_ptr, entry, entries, topk, experts, token_stride, choice_stride, map_stride):
    """The local expert of each entry, and `experts` for an entry that has none here."""
    mask = entry < entries
    at = (entry // topk) * token_stride + (entry % topk) * choice_stride
    chosen = tl.load(chosen_ptr + at, mask=mask, other=-1).to(tl.int64)
    known = (chosen >= 0) & (chosen < experts)
    local = tl.load(map_ptr + chosen * map_stride, mask=known, other=-1).to(tl.int64)
    return tl.where((local >= 0) & (local < experts), local, experts).to(tl.int32)


@triton.jit
def count_kernel(
    chosen_ptr,
    map_ptr,
    counts_ptr,
    entries,
    topk,
    experts,
    token_stride,
    choice_stride,
    map_stride,
    BLOCK: tl.constexpr,
    BLOCK_EXPERTS: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    entry = program * BLOCK + tl.arange(0, BLOCK)
    expert = experts_of(chosen_ptr, map_ptr, entry, entries, topk, experts, token_stride, choice_stride, map_stride)
    counts = tl.histogram(expert, BLOCK_EXPERTS)
    number = tl.arange(0, BLOCK_EXPERTS)
    tl.store(counts_ptr + program * experts + number, counts, mask=number < experts)


@triton.jit
def offsets_kernel(
    counts_ptr, starts_ptr, total_ptr, programs, experts, SIZE: tl.constexpr, BLOCK_EXPERTS: tl.constexpr
):
    number = tl.arange(0, BLOCK_EXPERTS)
    mask = number < experts
    before = tl.zeros((BLOCK_EXPERTS,), tl.int32)
    for program in range(programs):
        at = counts_ptr + tl.cast(program, tl.int64) * experts + number
        here = tl.load(at, mask=mask, other=0)
        tl.store(at, before, mask=mask)
        before += here
    padded = tl.cdiv(before, SIZE) * SIZE
    tl.store(starts_ptr + number, tl.cumsum(padded, axis=0) - padded, mask=mask)
    total = tl.sum(padded, axis=0)
    tl.store(starts_ptr + experts, total)
    tl.store(total_ptr, total)


@triton.jit
def blocks_kernel(
    starts_ptr, order_ptr, block_ptr, blocks, entries, experts, SIZE: tl.constexpr, BLOCK_EXPERTS: tl.constexpr
):
    block = tl.program_id(0)
    number = tl.arange(0, BLOCK_EXPERTS)
    ends = tl.load(starts_ptr + 1 + number, mask=number < experts, other=2147483647)
    total = tl.load(starts_ptr + experts)
    expert = tl.sum((ends <= block * SIZE).to(tl.int32), axis=0)
    tl.store(block_ptr + block, tl.where(block * SIZE < total, expert, -1))
    place = tl.arange(0, SIZE)
    tl.store(order_ptr + tl.cast(block, tl.int64) * SIZE + place, tl.zeros((SIZE,), tl.int32) + entries)


@triton.jit
def order_kernel(
    chosen_ptr,
    map_ptr,
    counts_ptr,
    starts_ptr,
    order_ptr,
    entries,
    topk,
    experts,
    token_stride,
    choice_stride,
    map_stride,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    entry = program * BLOCK + lane
    expert = experts_of(chosen_ptr, map_ptr, entry, entries, topk, experts, token_stride, choice_stride, map_stride)
    kept = (entry < entries) & (expert < experts)
    # How many of the same expert stand before it in this block.
    earlier = (expert[:, None] == expert[None, :]) & (lane[None, :] < lane[:, None])
    rank = tl.sum(earlier.to(tl.int32), axis=1)
    start = tl.load(starts_ptr + expert, mask=kept, other=0)
    before = tl.load(counts_ptr + program * experts + expert, mask=kept, other=0)
    tl.store(order_ptr + (start + before + rank).to(tl.int64), entry.to(tl.int32), mask=kept)


def moe_align(chosen: torch.Tensor, expert_map: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """chosen, (tokens, topk), the number of an expert each; expert_map, (experts), which of the local experts that is,
    -1 for none. Entry t * topk + c goes to the local expert expert_map[chosen[t, c]]; numbers outside of 0 to experts
    - 1 drop it.

    Gives, all int32: the entries by local expert, in their own order, each expert's padded with tokens * topk to a
    multiple of 16, and so to the end; the local expert of each block of 16, -1 behind the last; and the number of
    places that are used, (1)."""
    if chosen.ndim != 2 or chosen.shape[1] < 1 or expert_map.ndim != 1 or not 1 <= expert_map.shape[0] <= 1024:
        raise ValueError("chosen is (tokens, topk), with a topk of 1 or more, and expert_map is (1 to 1,024 experts)")
    if chosen.dtype not in (torch.int32, torch.int64) or expert_map.dtype not in (torch.int32, torch.int64):
        raise ValueError("both are int32 or int64")
    if chosen.device != expert_map.device or chosen.numel() > 2**30:
        raise ValueError("both lie on one device, with at most 2^30 entries")
    entries, topk, experts = chosen.numel(), chosen.shape[1], expert_map.shape[0]
    blocks = triton.cdiv(entries + experts * (BLOCK_SIZE - 1), BLOCK_SIZE)
    programs = triton.cdiv(entries, 64)
    order = torch.empty(blocks * BLOCK_SIZE, dtype=torch.int32, device=chosen.device)
    block = torch.empty(blocks, dtype=torch.int32, device=chosen.device)
    total = torch.empty(1, dtype=torch.int32, device=chosen.device)
    counts = torch.empty((programs, experts), dtype=torch.int32, device=chosen.device)
    starts = torch.empty(experts + 1, dtype=torch.int32, device=chosen.device)
    lanes = max(2, triton.next_power_of_2(experts + 1))
    strides = (*chosen.stride(), expert_map.stride(0))
    if programs:
        count_kernel[(programs,)](
            chosen, expert_map, counts, entries, topk, experts, *strides, BLOCK=64, BLOCK_EXPERTS=lanes
        )
    offsets_kernel[(1,)](counts, starts, total, programs, experts, SIZE=BLOCK_SIZE, BLOCK_EXPERTS=lanes)
    blocks_kernel[(blocks,)](starts, order, block, blocks, entries, experts, SIZE=BLOCK_SIZE, BLOCK_EXPERTS=lanes)
    if programs:
        order_kernel[(programs,)](chosen, expert_map, counts, starts, order, entries, topk, experts, *strides, BLOCK=64)
    return order, block, total


def reference(chosen: torch.Tensor, expert_map: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    entries, experts = chosen.numel(), expert_map.shape[0]
    flat = chosen.reshape(-1)
    known = (flat >= 0) & (flat < experts)
    local = torch.where(known, expert_map[torch.where(known, flat, 0).long()], -1)
    blocks = (entries + experts * (BLOCK_SIZE - 1) + BLOCK_SIZE - 1) // BLOCK_SIZE
    order = torch.full((blocks * BLOCK_SIZE,), entries, dtype=torch.int32, device=chosen.device)
    block = torch.full((blocks,), -1, dtype=torch.int32, device=chosen.device)
    used = 0
    for expert in range(experts):
        mine = (local == expert).nonzero()[:, 0].to(torch.int32)
        end = used + -(-mine.numel() // BLOCK_SIZE) * BLOCK_SIZE
        order[used : used + mine.numel()] = mine
        block[used // BLOCK_SIZE : end // BLOCK_SIZE] = expert
        used = end
    return order, block, torch.tensor([used], dtype=torch.int32, device=chosen.device)


aligned = Subject(
    moe_align,
    reference=reference,
    inputs=[
        Tensor("tokens", "topk", dtype="int64", low=-1, high="experts"),
        Tensor("experts", dtype="int64", low=-1, high="experts"),
    ],
    name="moe_align",
    sizes={"tokens": [64, 1, 37, 150, 0], "topk": [8, 1, 3], "experts": [16, 1, 5, 200]},
)
