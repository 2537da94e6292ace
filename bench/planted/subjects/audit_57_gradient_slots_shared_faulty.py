"""The gradient of a bias: programs add up 8 rows each into slots, and torch adds those up."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def bias_gradient_kernel(grad_ptr, slots_ptr, rows, columns, slots, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    r = pid * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    inside = (r < rows)[:, None] & (c < columns)[None, :]
    grad = tl.load(grad_ptr + r[:, None] * columns + c[None, :], mask=inside, other=0.0)
    places = slots_ptr + pid % slots * columns + c
    tl.store(places, tl.load(places, mask=c < columns, other=0.0) + tl.sum(grad, axis=0), mask=c < columns)  # fault: race: several programs accumulate into one slot


def bias_gradient(grad):
    grad = grad.contiguous()
    rows, columns = grad.shape
    programs = triton.cdiv(rows, 8)
    slots = min(programs, 4)
    sums = torch.zeros((slots, columns), device=grad.device, dtype=torch.float32)
    if grad.numel() > 0:
        bias_gradient_kernel[(programs, triton.cdiv(columns, 64))](
            grad, sums, rows, columns, slots, BLOCK_R=8, BLOCK_C=64
        )
    return sums.sum(dim=0)


gradients = Subject(
    bias_gradient, reference=lambda grad: grad.sum(dim=0), inputs=[Tensor("rows", "columns")], dtypes=["float32"]
)
