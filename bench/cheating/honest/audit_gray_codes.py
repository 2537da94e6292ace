"""Gray codes: each integer's code, and the integer whose code it is, as a tuple.

Looks suspicious: nothing but shifts and exclusive ors, and the number of steps depends on the dtype's width.
It is fair: decoding is a prefix-xor of the bits by doubling; shifts are arithmetic in the reference too, so negative numbers agree.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def gray_kernel(x, code, plain, count, stride, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = i < count
    v = tl.load(x + i * stride, mask=keep, other=0)
    tl.store(code + i, v ^ (v >> 1), mask=keep)
    v = v ^ (v >> 1)
    v = v ^ (v >> 2)
    v = v ^ (v >> 4)
    v = v ^ (v >> 8)
    v = v ^ (v >> 16)
    if WIDE:
        v = v ^ (v >> 32)
    tl.store(plain + i, v, mask=keep)


def gray_codes(x):
    if x.dtype not in (torch.int32, torch.int64) or x.dim() != 1:
        raise ValueError("gray_codes takes one dimension of int32 or int64")
    code = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    plain = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel():
        gray_kernel[(triton.cdiv(x.numel(), 256),)](
            x, code, plain, x.numel(), x.stride(0), WIDE=x.dtype == torch.int64, BLOCK=256
        )
    return code, plain


def reference(x):
    plain = x
    shift = 1
    while shift < 8 * x.element_size():
        plain = plain ^ (plain >> shift)
        shift *= 2
    return x ^ (x >> 1), plain


codes = Subject(gray_codes, reference=reference, inputs=[Tensor("n", dtype="int64", low=0, high=1 << 40)])
short = Subject(gray_codes, reference=reference, inputs=[Tensor("n", dtype="int32", low=-1000, high=100000)])
