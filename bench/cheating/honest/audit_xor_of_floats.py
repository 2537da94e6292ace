"""What a compressor of time series stores: each float's bits xored with those before it, and the zeros at both ends.

Looks suspicious: floats reinterpreted as integers, no arithmetic on values, bit smearing and multiplication by 0x01010101,
a dictionary of integer outputs; NaN and -0 are ordinary patterns here.
It is fair: the counts of zeros are counts of ones after smearing, the usual population count in a word.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 128


@triton.jit
def count_ones(word):
    word = word - ((word >> 1) & 0x55555555)
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    word = word + (word >> 8)
    word = word + (word >> 16)
    return (word & 0x3F).to(tl.int32)


@triton.jit
def xor_kernel(x, xored, leading, trailing, count, cols, xr, xc, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = index < count
    col = index % cols
    at = x + index // cols * xr + col * xc
    now = tl.load(at, mask=keep, other=0)
    before = tl.load(at - xc, mask=keep & (col > 0), other=0)
    changed = now ^ before
    tl.store(xored + index, changed, mask=keep)
    word = changed.to(tl.uint32, bitcast=True)
    lowest = (changed & (0 - changed)).to(tl.uint32, bitcast=True)
    tl.store(trailing + index, tl.where(changed == 0, 32, count_ones(lowest - 1)), mask=keep)
    word = word | (word >> 1)
    word = word | (word >> 2)
    word = word | (word >> 4)
    word = word | (word >> 8)
    word = word | (word >> 16)
    tl.store(leading + index, 32 - count_ones(word), mask=keep)


def xor_of_floats(x):
    if x.dtype != torch.float32 or x.dim() != 2:
        raise ValueError("xor_of_floats takes float32 of (rows, cols)")
    bits = x.view(torch.int32)
    names = ("xored", "leading", "trailing")
    out = {name: torch.empty(x.shape, dtype=torch.int32, device=x.device) for name in names}
    if x.numel():
        xor_kernel[(triton.cdiv(x.numel(), BLOCK),)](
            bits, *(out[name] for name in names), x.numel(), x.shape[1], *bits.stride(), BLOCK=BLOCK
        )
    return out


def reference(x):
    bits = x.contiguous().view(torch.int32)
    before = torch.cat([torch.zeros_like(bits[:, :1]), bits[:, :-1]], dim=1)
    changed = bits ^ before
    ones = (changed.long()[..., None] >> torch.arange(32, device=x.device)) & 1
    trailing = (ones.cumsum(-1) == 0).sum(-1).to(torch.int32)
    leading = (ones.flip(-1).cumsum(-1) == 0).sum(-1).to(torch.int32)
    return {"xored": changed, "leading": leading, "trailing": trailing}


xored = Subject(xor_of_floats, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
