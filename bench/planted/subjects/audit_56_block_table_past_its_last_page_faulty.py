"""The sum of the values of each sequence in a paged cache of 16 tokens a page, by a table of pages."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def paged_sum_kernel(
    cache_ptr, table_ptr, lengths_ptr, out_ptr, most_pages, width, PAGE: tl.constexpr, BLOCK: tl.constexpr
):
    sequence = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    slot = tl.arange(0, PAGE)
    length = tl.minimum(tl.load(lengths_ptr + sequence), most_pages * PAGE)
    pages = length // PAGE + 1
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(pages):
        page = tl.load(table_ptr + sequence * most_pages + i)  # fault: load out of bounds: the table of pages is read past a full sequence's last
        mask = (i * PAGE + slot < length)[:, None] & (c < width)[None, :]
        x = tl.load(cache_ptr + (page * PAGE + slot)[:, None] * width + c[None, :], mask=mask, other=0.0)
        acc += tl.sum(x, axis=0)
    tl.store(out_ptr + sequence * width + c, acc, mask=c < width)


def paged_sum(cache, table, lengths):
    cache, table, lengths = cache.contiguous(), table.contiguous(), lengths.contiguous()
    (sequences, most_pages), width = table.shape, cache.shape[2]
    out = torch.zeros((sequences, width), device=cache.device, dtype=torch.float32)
    if out.numel() > 0 and most_pages > 0:
        paged_sum_kernel[(sequences, triton.cdiv(width, 32))](
            cache, table, lengths, out, most_pages, width, PAGE=16, BLOCK=32
        )
    return out


def reference(cache, table, lengths):
    sequences, most_pages = table.shape
    rows = cache[table].reshape(sequences, 16 * most_pages, cache.shape[2])
    held = torch.arange(16 * most_pages, device=cache.device) < lengths[:, None]
    return torch.where(held[:, :, None], rows, torch.zeros_like(rows)).sum(dim=1)


sums = Subject(
    paged_sum,
    reference=reference,
    inputs=[
        Tensor("pages", 16, "width"),
        Tensor("sequences", "most_pages", dtype="int64", low=0, high="pages"),
        Tensor("sequences", dtype="int32", low=0, high="32 * most_pages"),
    ],
    sizes={"pages": [1, 2, 7], "width": [1, 16, 33, 64], "sequences": [1, 2, 5], "most_pages": [1, 2, 3]},
    dtypes=["float32"],
)
