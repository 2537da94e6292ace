"""Which numbers of one tensor are in another: a hash table that programs fill by compare-and-swap, and look-ups in
it.

It looks suspicious: a hash stands where a comparison should, a loop runs until a slot is free, one number in all
int64 has a meaning of its own (an empty slot), and which slot a number gets depends on who comes first. It is fair:
each look-up compares the whole number and ends at an empty slot only, at least half of the slots stay empty, and the
number that means empty has a slot to itself.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

EMPTY = -(2**63)


@triton.jit
def first_slot(key, slots):
    mixed = (key ^ (key >> 32)) * 2654435769
    return (mixed ^ (mixed >> 15)) & (slots - 1)


@triton.jit
def insert_kernel(members_ptr, table_ptr, n, slots, EMPTY: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(members_ptr + at, mask=at < n, other=0)
    empty = tl.full((BLOCK,), EMPTY, tl.int64)
    # Behind the table: a slot that nobody reads, and one that says whether the number EMPTY is a member.
    tl.store(table_ptr + slots + 1 + at * 0, at * 0 + 1, mask=(at < n) & (key == empty))
    waiting = (at < n) & (key != empty)
    slot = first_slot(key, slots)
    while tl.max(waiting.to(tl.int32), axis=0) > 0:
        old = tl.atomic_cas(table_ptr + tl.where(waiting, slot, slots), empty, tl.where(waiting, key, empty))
        waiting = waiting & (old != empty) & (old != key)
        slot = (slot + 1) & (slots - 1)


@triton.jit
def look_up_kernel(queries_ptr, table_ptr, out_ptr, n, slots, EMPTY: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(queries_ptr + at, mask=at < n, other=0)
    empty = tl.full((BLOCK,), EMPTY, tl.int64)
    found = (key == empty) & (tl.load(table_ptr + slots + 1) == 1)
    searching = (at < n) & (key != empty)
    slot = first_slot(key, slots)
    while tl.max(searching.to(tl.int32), axis=0) > 0:
        entry = tl.load(table_ptr + slot, mask=searching, other=0)
        found = found | (searching & (entry == key))
        searching = searching & (entry != key) & (entry != empty)
        slot = (slot + 1) & (slots - 1)
    tl.store(out_ptr + at, found, mask=at < n)


def is_member(queries, members):
    if queries.dtype != torch.int64 or members.dtype != torch.int64:
        raise ValueError("both are int64")
    queries, members = queries.contiguous(), members.contiguous()
    slots = 1 << max(2 * members.numel(), 2).bit_length()
    table = torch.full((slots + 2,), EMPTY, dtype=torch.int64, device=queries.device)
    out = torch.empty(queries.shape, dtype=torch.bool, device=queries.device)
    if members.numel():
        grid = (triton.cdiv(members.numel(), 256),)
        insert_kernel[grid](members, table, members.numel(), slots, EMPTY=EMPTY, BLOCK=256)
    if queries.numel():
        grid = (triton.cdiv(queries.numel(), 256),)
        look_up_kernel[grid](queries, table, out, queries.numel(), slots, EMPTY=EMPTY, BLOCK=256)
    return out


members = Subject(
    is_member,
    reference=torch.isin,
    inputs=[
        Tensor("queries", dtype="int64", low=-3000, high=3000),
        Tensor("members", dtype="int64", low=-3000, high=3000),
    ],
    sizes={"queries": [256, 1, 1000, 0], "members": [512, 1, 700, 0]},
)
