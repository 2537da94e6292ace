"""The sum of each row up to its length; what stands behind is padding."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def length_sum_kernel(x_ptr, lengths_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths_ptr + row)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0)
        acc += tl.where(c < length, x, 0.0)
        tl.store(x_ptr + row * columns + c, 0.0, mask=(c >= length) & (c < columns))  # fault: input mutated: padding is zeroed in the input itself
    tl.store(out_ptr + row, tl.sum(acc, axis=0))


def length_sum(x, lengths):
    x, lengths = x.contiguous(), lengths.contiguous()
    rows, columns = x.shape
    out = torch.zeros(rows, device=x.device, dtype=torch.float32)
    if x.numel() > 0:
        length_sum_kernel[(rows,)](x, lengths, out, columns, BLOCK=128)
    return out


def reference(x, lengths):
    kept = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
    return torch.where(kept, x, torch.zeros_like(x)).sum(dim=1)


sums = Subject(
    length_sum,
    reference=reference,
    inputs=[Tensor("rows", "columns"), Tensor("rows", dtype="int64", low=0, high="columns")],
    dtypes=["float32"],
)
