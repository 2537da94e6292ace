"""Adds up the sums of rows by the group that each row belongs to."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def group_sum_kernel(x_ptr, group_ptr, total_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0).to(tl.float32)
    place = total_ptr + tl.load(group_ptr + row)
    tl.store(place, tl.load(place) + tl.sum(acc, axis=0))  # fault: race: read-modify-write without atomic


def group_sum(x, group, like):
    x, group = x.contiguous(), group.contiguous()
    rows, columns = x.shape
    total = torch.zeros(like.shape[0], device=x.device, dtype=torch.float32)
    if x.numel() > 0:
        group_sum_kernel[(rows,)](x, group, total, columns, BLOCK=64)
    return total


def reference(x, group, like):
    total = torch.zeros(like.shape[0], device=x.device, dtype=torch.float32)
    return total.index_add(0, group, x.float().sum(dim=1))


sums = Subject(
    group_sum,
    reference=reference,
    inputs=[Tensor("rows", "columns"), Tensor("rows", dtype="int64", low=0, high="groups"), Tensor("groups")],
    dtypes=["float32"],
)
