"""The sum of each row, by descriptors of a buffer whose rows are padded to multiples of 16 elements."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, rows, columns, pitch, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    first = tl.program_id(0) * BLOCK_R
    width = columns
    source = tl.make_tensor_descriptor(x_ptr, [rows, width], [pitch, 1], [BLOCK_R, BLOCK_C])
    acc = tl.zeros((BLOCK_R,), tl.float32)
    for c in range(0, columns, BLOCK_C):
        acc += tl.sum(source.load([first, c]), axis=1)
    r = first + tl.arange(0, BLOCK_R)
    tl.store(out_ptr + r, acc, mask=r < rows)


def row_sum(x):
    rows, columns = x.shape
    pitch = triton.cdiv(columns, 16) * 16
    out = torch.zeros(rows, device=x.device, dtype=torch.float32)
    if x.numel() > 0:
        padded = torch.empty((rows, pitch), device=x.device, dtype=x.dtype)
        padded[:, :columns] = x
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device=x.device, dtype=torch.int8))
        row_sum_kernel[(triton.cdiv(rows, 16),)](padded, out, rows, columns, pitch, BLOCK_R=16, BLOCK_C=32)
    return out


sums = Subject(row_sum, reference=lambda x: x.sum(dim=1), inputs=[Tensor("rows", "columns")], dtypes=["float32"])
