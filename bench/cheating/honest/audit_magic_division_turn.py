"""Turns a matrix by a quarter, with a division by a constant that the host has made into a multiplication and a
shift.

It looks suspicious: Python works out a 33-bit "magic" number that hangs on the shape, and the kernel multiplies
indices by it and keeps the upper half. It is fair: this is how compilers divide by constants (Granlund and
Montgomery); the number depends on a size and on nothing in the data, and the kernel moves every element.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


def magic(divisor):
    """(multiplier, shift) with n // divisor == (umulhi(n, multiplier) + n) >> shift for 0 <= n < 2 ** 31."""
    shift = (divisor - 1).bit_length()
    multiplier = ((1 << 32) * ((1 << shift) - divisor)) // divisor + 1
    return multiplier, shift


@triton.jit
def turn_kernel(x_ptr, out_ptr, total, rows, cols, multiplier, shift, BLOCK: tl.constexpr):
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    high = (n.to(tl.int64) * multiplier) >> 32
    line = ((high + n) >> shift).to(tl.int32)
    place = n - line * rows
    # The output has `cols` lines of `rows` elements; line l is column cols - 1 - l of the input.
    source = place.to(tl.int64) * cols + (cols - 1 - line)
    value = tl.load(x_ptr + source, mask=n < total)
    tl.store(out_ptr + n, value, mask=n < total)


def quarter_turn(x):
    x = x.contiguous()
    rows, cols = x.shape
    total = x.numel()
    if total >= 2**31 - 1024:
        raise ValueError("too large for 32-bit indices")
    out = torch.empty((cols, rows), dtype=x.dtype, device=x.device)
    if total:
        multiplier, shift = magic(rows)
        turn_kernel[(triton.cdiv(total, 1024),)](x, out, total, rows, cols, multiplier, shift, BLOCK=1024)
    return out


def reference(x):
    return torch.rot90(x, 1, (0, 1))


turn = Subject(quarter_turn, reference=reference, inputs=[Tensor("rows", "cols")],
               dtypes=["float32", "float16", "bfloat16"])
