"""Centers each row and divides it by its root mean square."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def standardize_kernel(x_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * columns
    out_ptr += row * columns
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + lanes
        total += tl.load(x_ptr + c, mask=c < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + lanes
        centered = tl.where(c < columns, tl.load(x_ptr + c, mask=c < columns, other=0.0) - mean, 0.0)
        squares += centered * centered
        tl.store(x_ptr + c, centered, mask=c < columns)  # fault: input mutated
    scale = tl.rsqrt(tl.sum(squares, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        c = start + lanes
        centered = tl.load(x_ptr + c, mask=c < columns, other=0.0)
        tl.store(out_ptr + c, centered * scale, mask=c < columns)


def standardize(x, eps=1e-5):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty_like(x)
    if x.numel() > 0:
        standardize_kernel[(rows,)](x, out, columns, eps, BLOCK=128)
    return out


def reference(x, eps=1e-5):
    centered = x - x.mean(dim=1, keepdim=True)
    return centered * torch.rsqrt(centered.square().mean(dim=1, keepdim=True) + eps)


standardized = Subject(standardize, reference=reference, inputs=[Tensor("rows", "columns")], dtypes=["float32"])
