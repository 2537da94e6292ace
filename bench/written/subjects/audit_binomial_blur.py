"""Images blurred by the weights 1 4 6 4 1 along rows and then along columns; pixels beyond an edge are as the edge."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 256


@triton.jit
def along_rows_kernel(
    x_ptr, work_ptr, n, height, width, x_image_stride, x_row_stride, x_col_stride, BLOCK: tl.constexpr
):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    row = at // width
    col = at % width
    row_ptrs = x_ptr + row // height * x_image_stride + row % height * x_row_stride
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in tl.static_range(-2, 3):
        near = tl.minimum(tl.maximum(col + tap, 0), width - 1)
        x = tl.load(row_ptrs + near * x_col_stride, mask=mask, other=0.0)
        weight = 0.375 if tap == 0 else (0.25 if tap * tap == 1 else 0.0625)
        total += weight * x.to(tl.float32)
    tl.store(work_ptr + at, total, mask=mask)


@triton.jit
def along_columns_kernel(work_ptr, out_ptr, n, height, width, BLOCK: tl.constexpr):
    pixel = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = pixel < n
    line = pixel // width % height
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in tl.static_range(-2, 3):
        other_line = tl.minimum(tl.maximum(line + tap, 0), height - 1)
        value = tl.load(work_ptr + pixel + (other_line - line) * width, mask=inside, other=0.0)
        weight = 0.375 if tap == 0 else (0.25 if tap * tap == 1 else 0.0625)
        total += weight * value
    tl.store(out_ptr + pixel, total, mask=inside)


def binomial_blur(x: torch.Tensor) -> torch.Tensor:
    """x, (images, height, width): the same in its dtype, contiguous. Between the passes all is float32."""
    if x.ndim != 3:
        raise ValueError("x has three dimensions")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    _, height, width = x.shape
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = x.numel()
    if n == 0:
        return out
    work = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    along_rows_kernel[(triton.cdiv(n, BLOCK),)](x, work, n, height, width, *x.stride(), BLOCK=BLOCK)
    blocks = triton.cdiv(n, BLOCK)
    along_columns_kernel[(blocks,)](work, out, n, height, width, BLOCK=BLOCK)
    return out


def blurred(x: torch.Tensor, dim: int) -> torch.Tensor:
    size = x.shape[dim]
    total = torch.zeros_like(x)
    for tap, weight in zip(range(-2, 3), (0.0625, 0.25, 0.375, 0.25, 0.0625), strict=True):
        near = (torch.arange(size, device=x.device) + tap).clamp(0, size - 1)
        total = total + weight * x.index_select(dim, near)
    return total


def reference(x: torch.Tensor) -> torch.Tensor:
    if x.numel() == 0:
        return torch.empty_like(x)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return blurred(blurred(wide, 2), 1).to(x.dtype)


blur = Subject(
    binomial_blur,
    reference=reference,
    inputs=[Tensor("images", "height", "width")],
    name="binomial_blur",
    sizes={"images": [2, 1, 3, 0], "height": [32, 1, 2, 45], "width": [64, 1, 3, 77]},
)
