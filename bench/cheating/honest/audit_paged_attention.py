"""One step of decoding with grouped heads over a cache of keys and values in pages. The keys of a sequence are split
among programs, and a second kernel merges their parts. A sequence of length 0 gives zeros."""

import math

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

PAGE = 16
GROUP = 4


@triton.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, parts_ptr, top_ptr, total_ptr,
    kv_heads, dim, table_width, split_pages, scale,
    PAGE: tl.constexpr, GROUP: tl.constexpr, BLOCK_G: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    sequence = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1).to(tl.int64)
    split = tl.program_id(2)
    splits = tl.num_programs(2)
    g = tl.arange(0, BLOCK_G)
    d = tl.arange(0, BLOCK_D)
    heads = head * GROUP + g
    q_mask = (g < GROUP)[:, None] & (d < dim)[None, :]
    q_rows = sequence * kv_heads * GROUP + heads
    q = tl.load(q_ptr + q_rows[:, None] * dim + d[None, :], mask=q_mask, other=0.0)
    length = tl.load(lengths_ptr + sequence)
    first_page = split * split_pages
    last_page = tl.minimum(first_page + split_pages, tl.cdiv(length, PAGE))

    top = tl.full((BLOCK_G,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_G,), tl.float32)
    acc = tl.zeros((BLOCK_G, BLOCK_D), tl.float32)
    for page in range(first_page, last_page):
        place = tl.load(table_ptr + sequence * table_width + page).to(tl.int64)
        inside = tl.arange(0, PAGE)
        seen = page * PAGE + inside < length
        offsets = ((place * PAGE + inside) * kv_heads + head)[:, None] * dim + d[None, :]
        mask = seen[:, None] & (d < dim)[None, :]
        k = tl.load(k_ptr + offsets, mask=mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(seen[None, :], scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        base = tl.where(new_top == float("-inf"), 0.0, new_top)
        p = tl.exp(scores - base[:, None])
        shrink = tl.exp(top - base)
        total = total * shrink + tl.sum(p, axis=1)
        v = tl.load(v_ptr + offsets, mask=mask, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None], input_precision="ieee")
        top = new_top
    rows = q_rows * splits + split
    tl.store(top_ptr + rows, top, mask=g < GROUP)
    tl.store(total_ptr + rows, total, mask=g < GROUP)
    tl.store(parts_ptr + rows[:, None] * dim + d[None, :], acc, mask=q_mask)


@triton.jit
def merge_kernel(parts_ptr, top_ptr, total_ptr, lengths_ptr, out_ptr, heads, dim, splits, BLOCK_D: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    d = tl.arange(0, BLOCK_D)
    top = tl.full((), float("-inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    acc = tl.zeros((BLOCK_D,), tl.float32)
    for split in range(splits):
        part_top = tl.load(top_ptr + row * splits + split)
        new_top = tl.maximum(top, part_top)
        base = tl.where(new_top == float("-inf"), 0.0, new_top)
        shrink = tl.exp(top - base)
        weight = tl.exp(part_top - base)
        total = total * shrink + tl.load(total_ptr + row * splits + split) * weight
        part = tl.load(parts_ptr + (row * splits + split) * dim + d, mask=d < dim, other=0.0)
        acc = acc * shrink + part * weight
        top = new_top
    empty = tl.load(lengths_ptr + row // heads) == 0
    out = tl.where(empty, 0.0, acc / tl.where(empty, 1.0, total))
    tl.store(out_ptr + row * dim + d, out.to(out_ptr.dtype.element_ty), mask=d < dim)


def paged_attention(q, k_pages, v_pages, table, lengths):
    assert q.dtype == k_pages.dtype == v_pages.dtype
    assert q.dtype in (torch.float16, torch.bfloat16, torch.float32)
    assert q.shape[2] <= 128
    assert k_pages.shape == v_pages.shape
    assert k_pages.shape[1] == PAGE
    assert q.shape[1] == GROUP * k_pages.shape[2]
    assert table.shape[0] == lengths.shape[0] == q.shape[0]
    q, k_pages, v_pages = q.contiguous(), k_pages.contiguous(), v_pages.contiguous()
    table, lengths = table.contiguous(), lengths.contiguous()
    batch, heads, dim = q.shape
    out = torch.empty_like(q)
    if out.numel() > 0:
        splits = max(1, min(4, table.shape[1]))
        rows = batch * heads
        parts = torch.empty((rows, splits, dim), device=q.device, dtype=torch.float32)
        top = torch.empty((rows, splits), device=q.device, dtype=torch.float32)
        total = torch.empty((rows, splits), device=q.device, dtype=torch.float32)
        block_d = max(16, triton.next_power_of_2(dim))
        part_kernel[(batch, heads // GROUP, splits)](
            q, k_pages, v_pages, table, lengths, parts, top, total,
            heads // GROUP, dim, table.shape[1], triton.cdiv(table.shape[1], splits), 1.0 / math.sqrt(dim),
            PAGE=PAGE, GROUP=GROUP, BLOCK_G=16, BLOCK_D=block_d,
        )  # fmt: skip
        merge_kernel[(rows,)](parts, top, total, lengths, out, heads, dim, splits, BLOCK_D=block_d)
    return out


def reference(q, k_pages, v_pages, table, lengths):
    out = torch.zeros_like(q)
    scale = 1.0 / math.sqrt(max(q.shape[2], 1))
    for sequence, length in enumerate(lengths.tolist()):
        if length == 0:
            continue
        pages = table[sequence, : (length + PAGE - 1) // PAGE].long()
        k = k_pages[pages].flatten(0, 1)[:length].float().repeat_interleave(GROUP, dim=1)
        v = v_pages[pages].flatten(0, 1)[:length].float().repeat_interleave(GROUP, dim=1)
        scores = torch.einsum("hd,khd->hk", q[sequence].float(), k) * scale
        out[sequence] = torch.einsum("hk,khd->hd", torch.softmax(scores, dim=-1), v).to(q.dtype)
    return out


attention = Subject(
    paged_attention,
    reference=reference,
    inputs=[
        Tensor("batch", f"{GROUP} * kv_heads", "dim"),
        Tensor("pages", PAGE, "kv_heads", "dim"),
        Tensor("pages", PAGE, "kv_heads", "dim"),
        Tensor("batch", "width", dtype="int32", low=0, high="pages"),
        Tensor("batch", dtype="int32", low=0, high=f"{PAGE} * width"),
    ],
    sizes={"dim": [16, 40, 64], "kv_heads": [1, 2], "pages": [1, 5, 9], "width": [1, 3, 6]},
)
