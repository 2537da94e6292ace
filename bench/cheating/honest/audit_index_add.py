"""Adds rows to the rows of another tensor that an index names, by atomics in float32."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def index_add_kernel(
    out_ptr, index_ptr, source_ptr, items, rows, columns, BLOCK_I: tl.constexpr, BLOCK_C: tl.constexpr
):
    column_tiles = tl.cdiv(columns, BLOCK_C)
    i = (tl.program_id(0) // column_tiles).to(tl.int64) * BLOCK_I + tl.arange(0, BLOCK_I)
    c = (tl.program_id(0) % column_tiles) * BLOCK_C + tl.arange(0, BLOCK_C)
    row = tl.load(index_ptr + i, mask=i < items, other=-1)
    mask = ((row >= 0) & (row < rows))[:, None] & (c < columns)[None, :]
    values = tl.load(source_ptr + i[:, None] * columns + c[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(out_ptr + row[:, None] * columns + c[None, :], values, mask=mask, sem="relaxed")


def index_add(base, index, source):
    assert base.ndim == source.ndim == 2 and base.shape[1] == source.shape[1]
    assert index.dtype == torch.int64 and index.shape == source.shape[:1]
    assert base.dtype == source.dtype and base.dtype in (torch.float16, torch.bfloat16, torch.float32)
    rows, columns = base.shape
    out = base.to(torch.float32, copy=True, memory_format=torch.contiguous_format)
    if source.numel() > 0:
        tiles = triton.cdiv(source.shape[0], 16) * triton.cdiv(columns, 64)
        index_add_kernel[(tiles,)](
            out, index.contiguous(), source.contiguous(), source.shape[0], rows, columns, BLOCK_I=16, BLOCK_C=64
        )
    return out.to(base.dtype)


def reference(base, index, source):
    return base.float().index_add(0, index, source.float()).to(base.dtype)


add = Subject(
    index_add,
    reference=reference,
    inputs=[
        Tensor("rows", "columns"),
        Tensor("items", dtype="int64", low=0, high="rows"),
        Tensor("items", "columns"),
    ],
)
