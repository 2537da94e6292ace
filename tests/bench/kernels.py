"""Kernels whose results a GPU may round in its own way, or not."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def exponential(x, out, n: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(out + i, tl.exp(tl.load(x + i)))


@triton.jit
def root(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.sqrt(tl.load(x + i)))


@triton.jit
def total(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + tl.program_id(0) * n + i), 0))


@triton.jit
def greatest(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + tl.program_id(0), tl.max(tl.load(x + tl.program_id(0) * n + i), 0))


@triton.jit
def _follow(decay, value, next_decay, next_value):
    return decay * next_decay, next_decay * value + next_value


@triton.jit
def recurrence(x, out, n: tl.constexpr, is_reverse: tl.constexpr):
    i = tl.arange(0, n)
    value = tl.load(x + i)
    _, found = tl.associative_scan((value * 0 + 0.5, value), 0, _follow, reverse=is_reverse)
    tl.store(out + i, found)


@triton.jit
def product(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)[:, None] * n + tl.arange(0, n)[None, :]
    tl.store(out + i, tl.dot(tl.load(x + i), tl.load(y + i)))


@triton.jit
def scaled_product(x, x_scale, y, y_scale, out, n: tl.constexpr):
    """Of n rows and columns, 64 products each, of 8-bit floats and of 4-bit ones, two in a byte."""
    row, column, group = tl.arange(0, n), tl.arange(0, n), tl.arange(0, 2)
    left = tl.load(x + row[:, None] * 64 + tl.arange(0, 64)[None, :])
    right = tl.load(y + tl.arange(0, 32)[:, None] * n + column[None, :])
    left_scale = tl.load(x_scale + row[:, None] * 2 + group[None, :])
    right_scale = tl.load(y_scale + column[:, None] * 2 + group[None, :])
    found = tl.dot_scaled(left, left_scale, "e4m3", right, right_scale, "e2m1")
    tl.store(out + row[:, None] * n + column[None, :], found)


@triton.jit
def multiply_add(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.load(x + i) * tl.load(y + i) + tl.load(x + i))


@triton.jit
def everyone(out, n: tl.constexpr):
    tl.store(out + tl.arange(0, n), tl.program_id(0))


@triton.jit
def tickets(counter, out):
    tl.store(out + tl.program_id(0), tl.atomic_add(counter, 1))


@triton.jit
def added_up(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.atomic_add(out + i, tl.load(x + tl.program_id(0) * n + i))


@triton.jit
def assembly(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    packed = [tl.load(x + i).to(tl.int8)]
    tl.store(out + i, tl.inline_asm_elementwise("dp4a.u32.u32 $0, $1, $1, $1;", "=r,r", packed, tl.int8, True, 4))


@triton.jit
def logarithm_of_gamma(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.extra.cuda.libdevice.lgamma(tl.load(x + i)))


@triton.jit
def from_descriptor(tile, out, n: tl.constexpr):
    i = tl.arange(0, n)[:, None] * n + tl.arange(0, n)[None, :]
    tl.store(out + i, tile.load([0, 0]))
