"""Dropout: keeps an element where its number is above a half; what is kept stands in a buffer of bits."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def pack_kernel(u_ptr, bits_ptr, n, BLOCK: tl.constexpr):
    byte = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bit = tl.arange(0, 8)
    places = byte[:, None] * 8 + bit[None, :]
    u = tl.load(u_ptr + places, mask=places < n, other=0.0)
    kept = (u > 0.5).to(tl.int32) << bit[None, :]
    tl.store(bits_ptr + byte, tl.sum(kept, axis=1).to(tl.uint8), mask=byte * 8 < n)  # fault: store out of bounds: the buffer of the mask is rounded down


@triton.jit
def drop_kernel(x_ptr, bits_ptr, out_ptr, n, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    byte = tl.load(bits_ptr + offsets // 8, mask=mask & (offsets // 8 < size), other=0).to(tl.int32)
    kept = (byte >> (offsets % 8).to(tl.int32)) & 1
    tl.store(out_ptr + offsets, tl.where(kept != 0, x * 2.0, 0.0), mask=mask)


def dropout(x, u):
    x, u = x.contiguous(), u.contiguous()
    n = x.shape[0]
    out = torch.empty_like(x)
    if n > 0:
        bits = torch.empty(max(1, n // 8), device=x.device, dtype=torch.uint8)
        pack_kernel[(triton.cdiv(n, 512),)](u, bits, n, BLOCK=64)
        drop_kernel[(triton.cdiv(n, 512),)](x, bits, out, n, bits.shape[0], BLOCK=512)
    return out


dropped = Subject(
    dropout,
    reference=lambda x, u: torch.where(u > 0.5, x * 2.0, torch.zeros_like(x)),
    inputs=[Tensor("n"), Tensor("n")],
    dtypes=["float32"],
)
