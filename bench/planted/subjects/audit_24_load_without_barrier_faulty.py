"""Reverses each block of 128 elements of a row by way of a scratch buffer."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def reverse_blocks_kernel(x_ptr, scratch_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    first = tl.program_id(1) * BLOCK
    size = tl.minimum(columns - first, BLOCK)
    base = row * columns + first
    mask = lanes < size
    x = tl.load(x_ptr + base + lanes, mask=mask, other=0.0)
    tl.store(scratch_ptr + base + lanes, x, mask=mask)
    y = tl.load(scratch_ptr + base + size - 1 - lanes, mask=mask, other=0.0)  # fault: race: no barrier between a store and a load by other lanes
    tl.store(out_ptr + base + lanes, y, mask=mask)


def reverse_blocks(x):
    x = x.contiguous()
    rows, columns = x.shape
    scratch = torch.empty_like(x)
    out = torch.empty_like(x)
    if x.numel() > 0:
        reverse_blocks_kernel[(rows, triton.cdiv(columns, 128))](x, scratch, out, columns, BLOCK=128)
    return out


def reference(x):
    return torch.cat([part.flip(1) for part in x.split(128, dim=1)], dim=1)


reversed_blocks = Subject(
    reverse_blocks, reference=reference, inputs=[Tensor("rows", "columns")], dtypes=["float32", "float16"]
)
