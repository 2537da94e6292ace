"""The sum of squares, by partial sums that torch adds up."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def square_sum_kernel(x_ptr, parts_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    tl.store(parts_ptr + pid, tl.sum(x * x, axis=0))  # fault: store out of bounds: workspace too small


def square_sum(x):
    x = x.contiguous()
    n = x.numel()
    parts = torch.zeros(max(1, n // 256), device=x.device, dtype=torch.float32)
    if n > 0:
        square_sum_kernel[(triton.cdiv(n, 256),)](x, parts, n, BLOCK=256)
    return parts.sum()


squares = Subject(
    square_sum, reference=lambda x: x.float().square().sum(), inputs=[Tensor("rows", "columns")], dtypes=["float32"]
)
