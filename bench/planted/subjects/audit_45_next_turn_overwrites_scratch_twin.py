"""Turns each block of 128 elements of a row by one to the left, by way of a scratch buffer."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def turn_kernel(x_ptr, scratch_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    scratch_ptr += row * BLOCK
    for start in range(0, columns, BLOCK):
        size = tl.minimum(columns - start, BLOCK)
        places = row * columns + start + lanes
        x = tl.load(x_ptr + places, mask=lanes < size, other=0.0)
        tl.store(scratch_ptr + lanes, x, mask=lanes < size)
        tl.debug_barrier()
        y = tl.load(scratch_ptr + (lanes + 1) % size, mask=lanes < size, other=0.0)
        tl.store(out_ptr + places, y, mask=lanes < size)
        tl.debug_barrier()


def turn(x):
    x = x.contiguous()
    rows, columns = x.shape
    scratch = torch.empty((rows, 128), device=x.device, dtype=x.dtype)
    out = torch.empty_like(x)
    if x.numel() > 0:
        turn_kernel[(rows,)](x, scratch, out, columns, BLOCK=128)
    return out


def reference(x):
    return torch.cat([part.roll(-1, 1) for part in x.split(128, dim=1)], dim=1)


turned = Subject(turn, reference=reference, inputs=[Tensor("rows", "columns")], dtypes=["float32", "float16"])
