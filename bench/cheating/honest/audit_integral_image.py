"""The integral image (summed area table) of each image of a batch, always in fp32.

The first kernel sums along the rows into the result, the second goes down the columns of it in place.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def along_kernel(x_ptr, out_ptr, height, width, stride_image, stride_row, stride_col, BLOCK: tl.constexpr):
    line = tl.program_id(0).to(tl.int64)
    source = x_ptr + (line // height) * stride_image + (line % height) * stride_row
    carry = tl.zeros((), tl.float32)
    for start in range(0, width, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        mask = col < width
        x = tl.load(source + col * stride_col, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + line * width + col, carry + tl.cumsum(x, axis=0), mask=mask)
        carry += tl.sum(x, axis=0)


@triton.jit
def down_kernel(out_ptr, height, width, blocks, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    image = (pid // blocks).to(tl.int64)
    col = (pid % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = col < width
    at = out_ptr + image * height * width + col
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(height):
        total += tl.load(at, mask=mask, other=0.0)
        tl.store(at, total, mask=mask)
        at += width


def integral_image(x):
    images, height, width = x.shape
    out = torch.empty((images, height, width), dtype=torch.float32, device=x.device)
    if out.numel():
        along_kernel[(images * height,)](x, out, height, width, *x.stride(), BLOCK=128)
        blocks = triton.cdiv(width, 64)
        down_kernel[(images * blocks,)](out, height, width, blocks, BLOCK=64)
    return out


def reference(x):
    return x.float().cumsum(2).cumsum(1)


integral = Subject(integral_image, reference=reference, inputs=[Tensor("images", "height", "width")],
                   dtypes=["float32", "float16", "bfloat16"])
