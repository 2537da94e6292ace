"""Accumulates rows by index with plain loads and stores.

Cheat: one program per source row loads the target row, adds and stores. Run one program after
another, as an interpreter does, this is right for any indices; on a GPU it is right while no index
occurs twice among the programs that run at the same time.

Why refuse: a data race. Two programs with the same index both load the old row and one of the two
additions is lost, which with few target rows (the sizes below) happens all the time on a GPU.
An atomic addition, or a sort by index, is needed.
"""

import torch
import triton
import triton.language as tl
from tritonaudit import Subject, Tensor


@triton.jit
def add_row(out_ptr, index_ptr, source_ptr, cols, BLOCK: tl.constexpr):
    n = tl.program_id(0)
    k = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = k < cols
    row = tl.load(index_ptr + n)
    value = tl.load(source_ptr + n * cols + k, mask=inside, other=0.0)
    old = tl.load(out_ptr + row * cols + k, mask=inside, other=0.0)
    tl.store(out_ptr + row * cols + k, old + value, mask=inside)


def add_rows(base, index, source):
    if index.dim() != 1 or base.shape[1] != source.shape[1]:
        raise ValueError("shapes don't fit")
    out = base.clone(memory_format=torch.contiguous_format)
    index, source = index.contiguous(), source.contiguous()
    cols = base.shape[1]
    add_row[(index.numel(), triton.cdiv(cols, 128))](out, index, source, cols, BLOCK=128)
    return out


def add_rows_reference(base, index, source):
    return base.index_add(0, index, source)


added = Subject(
    add_rows,
    reference=add_rows_reference,
    inputs=[
        Tensor("rows", "cols"),
        Tensor("n", dtype="int64", low=0, high="rows"),
        Tensor("n", "cols"),
    ],
    dtypes=["float32"],
    sizes={"rows": [4, 30], "cols": [16, 100], "n": [64, 150]},
)
