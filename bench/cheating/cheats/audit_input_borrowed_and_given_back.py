"""Uses the input as scratch memory and gives it back nearly as it was.

Cheat: the kernel adds the shift to the input in place, sums the squares from there, and takes the
shift off again before it returns. The result is right. The input has the same values up to
rounding, so comparing it with a usual tolerance shows nothing.

Why refuse: the caller's tensor is written without being declared as mutated. x + s - s isn't x:
where the shift is large the input loses its small digits, (1e-3, shift 1e5) comes back as 0, an
infinite shift turns the caller's data into NaN, and anybody who reads the input at the same time
sees shifted values. A second call gives other results.
"""

import torch
import triton
import triton.language as tl
from tritonaudit import Subject, Tensor


@triton.jit
def shifted_squares(x_ptr, shift_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    for start in range(0, cols, BLOCK):
        at = start + k
        x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0)
        s = tl.load(shift_ptr + at, mask=at < cols, other=0.0)
        tl.store(x_ptr + row * cols + at, x + s, mask=at < cols)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + k
        y = tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0)
        s = tl.load(shift_ptr + at, mask=at < cols, other=0.0)
        total += y * y
        tl.store(x_ptr + row * cols + at, y - s, mask=at < cols)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


def energy(x, shift):
    if x.dim() != 2 or not x.is_contiguous():
        raise ValueError("a contiguous matrix, please")
    shift = shift.contiguous()
    out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    shifted_squares[(x.shape[0],)](x, shift, out, x.shape[1], BLOCK=256)
    return out


def energy_reference(x, shift):
    return (x + shift).square().sum(dim=1)


energies = Subject(
    energy,
    reference=energy_reference,
    inputs=[Tensor("rows", "cols"), Tensor("cols")],
    dtypes=["float32"],
)
