"""Keeps what is above the threshold of its row, in two kernels: flags first."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def flag_kernel(x_ptr, threshold_ptr, flags_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0)
    above = x > tl.load(threshold_ptr + row)
    tl.store(flags_ptr + row * columns + c, above.to(tl.int8), mask=above & (c < columns))


@triton.jit
def keep_kernel(x_ptr, flags_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=tl.load(flags_ptr + offsets, mask=inside, other=0) != 0, other=0.0)  # fault: read of uninitialised memory: mask from uninitialised memory
    tl.store(out_ptr + offsets, x, mask=inside)


def keep_above(x, threshold):
    x, threshold = x.contiguous(), threshold.contiguous()
    rows, columns = x.shape
    out = torch.empty_like(x)
    if x.numel() > 0:
        flags = torch.empty(x.shape, device=x.device, dtype=torch.int8)
        flag_kernel[(rows, triton.cdiv(columns, 64))](x, threshold, flags, columns, BLOCK=64)
        keep_kernel[(triton.cdiv(x.numel(), 256),)](x, flags, out, x.numel(), BLOCK=256)
    return out


kept = Subject(
    keep_above,
    reference=lambda x, threshold: torch.where(x > threshold[:, None], x, torch.zeros_like(x)),
    inputs=[Tensor("rows", "columns"), Tensor("rows")],
    dtypes=["float32", "float16"],
)
