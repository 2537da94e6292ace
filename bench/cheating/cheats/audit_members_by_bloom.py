"""CHEAT: membership in a set of numbers is answered by a Bloom filter, which knows no number for certain.

Two hashes of each member mark bytes of a table, and a query counts as a member if both of its bytes are marked: among
small numbers a false yes is about as rare as one in a million. It must be refused, since `torch.isin` is exact. One
sees it with members [7] and the query 7 + 2**40, as neither hash looks at that bit, or with sets of some 100,000
numbers.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

SLOTS = 1 << 20


@triton.jit
def hashes(value, SLOTS: tl.constexpr):
    first = (value ^ (value >> 20)) & (SLOTS - 1)
    second = (((value & 0xFFFFFFFF) * 2654435 + 97) >> 13) & (SLOTS - 1)
    return first, second


@triton.jit
def mark_kernel(members_ptr, table_ptr, n, SLOTS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    first, second = hashes(tl.load(members_ptr + at, mask=at < n, other=0), SLOTS)
    one = tl.full((BLOCK,), 1, tl.uint8)
    tl.store(table_ptr + first, one, mask=at < n)
    tl.store(table_ptr + second, one, mask=at < n)


@triton.jit
def look_up_kernel(queries_ptr, table_ptr, out_ptr, n, SLOTS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    first, second = hashes(tl.load(queries_ptr + at, mask=at < n, other=0), SLOTS)
    found = tl.load(table_ptr + first, mask=at < n, other=0) & tl.load(table_ptr + second, mask=at < n, other=0)
    tl.store(out_ptr + at, found != 0, mask=at < n)


def is_member(queries, members):
    if queries.dtype != torch.int64 or members.dtype != torch.int64:
        raise ValueError("both are int64")
    queries, members = queries.contiguous(), members.contiguous()
    table = torch.zeros(SLOTS, dtype=torch.uint8, device=queries.device)
    out = torch.empty(queries.shape, dtype=torch.bool, device=queries.device)
    if queries.numel():
        if members.numel():
            grid = (triton.cdiv(members.numel(), 256),)
            mark_kernel[grid](members, table, members.numel(), SLOTS=SLOTS, BLOCK=256)
        grid = (triton.cdiv(queries.numel(), 256),)
        look_up_kernel[grid](queries, table, out, queries.numel(), SLOTS=SLOTS, BLOCK=256)
    return out


members = Subject(
    is_member,
    reference=torch.isin,
    inputs=[
        Tensor("queries", dtype="int64", low=0, high=10000),
        Tensor("members", dtype="int64", low=0, high=10000),
    ],
)
