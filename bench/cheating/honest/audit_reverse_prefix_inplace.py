"""Turns round the first `length` elements of each row where they lie; the rest of the row stays.

It looks suspicious: the kernel writes into its input, half of the programs find nothing to do, and the wrapper gives
its own argument back. It is fair: the contract is in place, each program swaps one element of the front with its
partner at the back, so no two programs touch the same address, and every stride is taken as it comes.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def swap_kernel(x_ptr, length_ptr, cols, stride_r, stride_c, stride_l, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    front = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    length = tl.load(length_ptr + row * stride_l).to(tl.int64)
    # Lengths out of range are taken modulo the number of lengths there are, 0 to cols.
    length = ((length % (cols + 1)) + cols + 1) % (cols + 1)
    back = length - 1 - front
    mask = front < back
    base = x_ptr + row * stride_r
    a = tl.load(base + front * stride_c, mask=mask)
    b = tl.load(base + back * stride_c, mask=mask)
    tl.store(base + front * stride_c, b, mask=mask)
    tl.store(base + back * stride_c, a, mask=mask)


def reverse_prefix(x, length):
    """Changes `x`, whose elements must lie in memory of their own (no expanded views)."""
    rows, cols = x.shape
    if any(n > 1 and s == 0 for n, s in zip(x.shape, x.stride())):
        raise ValueError("x has elements that share memory")
    if rows and cols > 1:
        swap_kernel[(rows, triton.cdiv(cols // 2, 128))](
            x, length, cols, x.stride(0), x.stride(1), length.stride(0), BLOCK=128
        )
    return x


def reference(x, length):
    cols = x.shape[1]
    keep = length.long() % (cols + 1)
    place = torch.arange(cols, device=x.device)
    source = torch.where(place < keep[:, None], keep[:, None] - 1 - place, place)
    x.copy_(x.gather(1, source))
    return x


reverse = Subject(reverse_prefix, reference=reference,
                  inputs=[Tensor("rows", "cols"), Tensor("rows", dtype="int64")],
                  mutates=["x"], dtypes=["float32", "float16", "bfloat16"])
