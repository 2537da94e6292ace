"""Adds up rows of integers by the group that each belongs to, under a lock for each group."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def group_rows_kernel(x_ptr, group_ptr, total_ptr, locks_ptr, columns, groups, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    group = tl.load(group_ptr + row)
    lock = locks_ptr + group
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.debug_barrier()
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0)
        places = total_ptr + group * columns + c
        tl.store(places, tl.load(places, mask=c < columns, other=0) + x, mask=c < columns)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def group_rows(x, group, like):
    x, group = x.contiguous(), group.contiguous()
    (rows, columns), groups = x.shape, like.shape[0]
    total = torch.zeros((groups, columns), device=x.device, dtype=torch.int32)
    locks = torch.zeros(groups, device=x.device, dtype=torch.int32)
    if x.numel() > 0:
        group_rows_kernel[(rows,)](x, group, total, locks, columns, groups, BLOCK=64)
    return total


def reference(x, group, like):
    total = torch.zeros((like.shape[0], x.shape[1]), device=x.device, dtype=torch.int32)
    return total.index_add(0, group, x)


totals = Subject(
    group_rows,
    reference=reference,
    inputs=[
        Tensor("rows", "columns", dtype="int32", low=-1000, high=1000),
        Tensor("rows", dtype="int64", low=0, high="groups"),
        Tensor("groups"),
    ],
    dtypes=["float32"],
)
