"""Kernels on which TRITON_INTERPRET=1 and a GPU may have two opinions."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i))


@triton.jit
def multiply(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.load(x + i) * tl.load(y + i))


@triton.jit
def subtract_thrice(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)
    step = tl.load(y + i)
    tl.store(out + i, tl.load(x + i) - step - step - step)


@triton.jit
def narrow(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i))


@triton.jit
def product(x, y, out, n: tl.constexpr):
    size: tl.constexpr = 64
    i = tl.arange(0, size)[:, None] * size + tl.arange(0, size)[None, :]
    tl.store(out + i, tl.dot(tl.load(x + i), tl.load(y + i)))


@triton.jit
def both(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.where((tl.load(x + i) > 0) and (tl.load(y + i) > 0), 1, 0))


@triton.jit
def either(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.where((tl.load(x + i) > 0) or (tl.load(y + i) > 0), 1, 0))


@triton.jit
def masked_by_both(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)
    value = tl.load(x + i)
    tl.store(out + i, value, mask=(i > 8) and (value < 1))
