"""A bias for each row of each image: one wrapper has the images along the second axis of its grid, one folds them."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def bias_kernel(x_ptr, bias_ptr, out_ptr, rows, cols, IS_FOLDED: tl.constexpr, BLOCK: tl.constexpr):
    if IS_FOLDED:
        row, image = tl.program_id(0) % rows, tl.program_id(0) // rows
    else:
        row, image = tl.program_id(0), tl.program_id(1)
    lanes = tl.arange(0, BLOCK)
    offsets = (image.to(tl.int64) * rows + row) * cols + lanes
    x = tl.load(x_ptr + offsets, mask=lanes < cols)
    tl.store(out_ptr + offsets, x + tl.load(bias_ptr + row), mask=lanes < cols)


def folded(x, bias):
    images, rows, cols = x.shape
    x, bias, out = x.contiguous(), bias.contiguous(), torch.empty_like(x, memory_format=torch.contiguous_format)
    if out.numel():
        block = triton.next_power_of_2(cols)
        bias_kernel[(images * rows,)](x, bias, out, rows, cols, IS_FOLDED=True, BLOCK=block)
    return out


def along_y(x, bias):
    images, rows, cols = x.shape
    x, bias, out = x.contiguous(), bias.contiguous(), torch.empty_like(x, memory_format=torch.contiguous_format)
    if out.numel():
        block = triton.next_power_of_2(cols)
        bias_kernel[(rows, images)](x, bias, out, rows, cols, IS_FOLDED=False, BLOCK=block)
    return out


def reference(x, bias):
    return x + bias[:, None]


inputs = [Tensor("images", "rows", "cols"), Tensor("rows")]
sizes = {"images": [2, 1, 5], "rows": [8], "cols": [32]}
more = {"reference": reference, "inputs": inputs, "sizes": sizes, "dtypes": ["float32"]}
folded_subject = Subject(folded, **more)
along_y_subject = Subject(along_y, **more)
