"""Rows of bytes hold integers of variable length, 7 bits a byte, lowest first; they are decoded to int64.

It looks suspicious: each byte is added with an atomic operation at a place that depends on all bytes before it, into
memory that torch has zeroed, shifts run past 64 bits, and the input is read twice. It is fair: the place is a running
count of the ends, no two bytes of a number have a bit in common so that the order of the additions does not matter,
what lies beyond bit 63 is dropped by contract, and a number without an end is left out because the first pass finds
the last end.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def decode_kernel(x_ptr, out_ptr, count_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = x_ptr + row * row_stride
    last = tl.full((), -1, tl.int64)
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        byte = tl.load(at + col * col_stride, mask=col < cols, other=128)
        last = tl.maximum(last, tl.max(tl.where(byte < 128, col, -1), axis=0))
    numbers = tl.full((), 0, tl.int64)
    begun = tl.full((), 0, tl.int64)
    for start in range(0, cols, BLOCK):
        col = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        byte = tl.load(at + col * col_stride, mask=col < cols, other=128)
        before = tl.load(at + (col - 1) * col_stride, mask=(col > 0) & (col < cols), other=128)
        ends = (byte < 128).to(tl.int64)
        which = numbers + tl.cumsum(ends, axis=0) - ends
        first = tl.associative_scan(tl.where(before < 128, col, 0), 0, larger)
        first = tl.maximum(first, begun)
        shift = 7 * (col - first)
        part = (byte & 127).to(tl.int64) << tl.minimum(shift, 63)
        tl.atomic_add(out_ptr + row * cols + which, part, mask=(col <= last) & (shift < 64))
        numbers += tl.sum(ends, axis=0)
        begun = tl.max(first, axis=0)
    tl.store(count_ptr + row, numbers)


def decode(x):
    """x, (rows, cols), uint8: the numbers of each row, (rows, cols), int64, zeros behind them, and their count, (rows).

    A byte from 128 on is followed by more of its number; what is not ended at the end of the row is no number. Bits
    from 64 on are dropped."""
    if x.ndim != 2 or x.dtype != torch.uint8:
        raise ValueError("x is (rows, cols), uint8")
    rows, cols = x.shape
    out = torch.zeros((rows, cols), dtype=torch.int64, device=x.device)
    count = torch.empty(rows, dtype=torch.int64, device=x.device)
    if rows:
        decode_kernel[(rows,)](x, out, count, cols, *x.stride(), BLOCK=128)
    return out, count


def reference(x):
    rows, cols = x.shape
    out = torch.zeros((rows, cols + 1), dtype=torch.int64, device=x.device)
    count = torch.zeros(rows, dtype=torch.int64, device=x.device)
    value, shift = torch.zeros_like(count), torch.zeros_like(count)
    for col in range(cols):
        byte = x[:, col].long()
        value = value + torch.where(shift < 64, (byte & 127) << shift.clamp(max=63), 0)
        ends = byte < 128
        place = torch.where(ends, count, cols)
        out.scatter_(1, place[:, None], torch.where(ends, value, 0)[:, None])
        count = count + ends
        value, shift = torch.where(ends, 0, value), torch.where(ends, 0, shift + 7)
    return out[:, :cols].contiguous(), count


numbers = Subject(
    decode,
    reference=reference,
    inputs=[Tensor("rows", "cols", dtype="uint8", low=0, high=256)],
    sizes={"rows": [8, 1, 5, 0], "cols": [128, 1, 20, 300]},
)
