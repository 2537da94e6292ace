"""Interleaves the bits of two whole numbers into one code (Morton order) and takes them apart again, as a check.

It looks suspicious: constants like 0x5555 turn up, one output is all but the input, and signs come out of shifts. It is
fair: the constants are masks of the classical bit spreading, and the second output is what the kernel reads back out
of its own code (the low sixteen bits of both numbers), which the subject wants to see.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def spread(v):
    v = (v | (v << 8)) & 0x00FF00FF
    v = (v | (v << 4)) & 0x0F0F0F0F
    v = (v | (v << 2)) & 0x33333333
    return (v | (v << 1)) & 0x55555555


@triton.jit
def gather_bits(v):
    v = v & 0x55555555
    v = (v | (v >> 1)) & 0x33333333
    v = (v | (v >> 2)) & 0x0F0F0F0F
    v = (v | (v >> 4)) & 0x00FF00FF
    return (v | (v >> 8)) & 0x0000FFFF


@triton.jit
def morton_kernel(x_ptr, y_ptr, code_ptr, back_ptr, total, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < total
    x = tl.load(x_ptr + at, mask=mask, other=0).to(tl.int64) & 0xFFFF
    y = tl.load(y_ptr + at, mask=mask, other=0).to(tl.int64) & 0xFFFF
    code = spread(x) | (spread(y) << 1)
    tl.store(code_ptr + at, code, mask=mask)
    tl.store(back_ptr + 2 * at, gather_bits(code), mask=mask)
    tl.store(back_ptr + 2 * at + 1, gather_bits(code >> 1), mask=mask)


def morton(x, y):
    x, y = x.contiguous(), y.contiguous()
    code = torch.empty(x.shape, dtype=torch.int64, device=x.device)
    back = torch.empty((*x.shape, 2), dtype=torch.int64, device=x.device)
    total = x.numel()
    if total:
        morton_kernel[(triton.cdiv(total, 512),)](x, y, code, back, total, BLOCK=512)
    return code, back


def reference(x, y):
    code = torch.zeros(x.shape, dtype=torch.int64, device=x.device)
    for bit in range(16):
        code |= ((x >> bit) & 1) << (2 * bit)
        code |= ((y >> bit) & 1) << (2 * bit + 1)
    return code, torch.stack([x & 0xFFFF, y & 0xFFFF], dim=-1)


codes = Subject(morton, reference=reference,
                inputs=[Tensor("rows", "cols", dtype="int64"), Tensor("rows", "cols", dtype="int64")])
