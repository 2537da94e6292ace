"""Kernels that the compiler rejects, each in its own way, for the tests of this folder."""

import triton
import triton.language as tl

SIZE = 8


def host(x):
    return x


@triton.jit
def odd_range(src, dst, BLOCK: tl.constexpr):
    tl.store(dst + tl.arange(0, 96), 1.0)


@triton.jit
def odd_shape(src, dst, BLOCK: tl.constexpr):
    tl.store(dst, tl.sum(tl.zeros((12,), tl.float32), 0))


@triton.jit
def runtime_range(src, dst, n, BLOCK: tl.constexpr):
    tl.store(dst + tl.arange(0, n), 1.0)


@triton.jit
def huge_block(src, dst, BLOCK: tl.constexpr):
    tl.store(dst + tl.arange(0, 2097152), 1.0)


@triton.jit
def shapes_that_differ(src, dst, BLOCK: tl.constexpr):
    tl.store(dst + tl.arange(0, 16), tl.load(src + tl.arange(0, 32)) + tl.load(src + tl.arange(0, 16)))


@triton.jit
def dot_of_two_types(src, dst, BLOCK: tl.constexpr):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a = tl.load(src + at)
    tl.store(dst + at, tl.dot(a, a.to(tl.float32)))


@triton.jit
def dot_too_small(src, dst, BLOCK: tl.constexpr):
    a = tl.load(src + tl.arange(0, 16)[:, None] * 4 + tl.arange(0, 4)[None, :])
    tl.store(dst + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], tl.dot(a, tl.trans(a)))


@triton.jit
def carried_type(src, dst, n, BLOCK: tl.constexpr):
    total = 0
    for i in range(n):
        total += tl.load(src + i).to(tl.float32)
    tl.store(dst, total)


@triton.jit
def branch_types(src, dst, n, BLOCK: tl.constexpr):
    if n > 2:  # noqa: SIM108  the complaint is about the two branches
        y = 1.0
    else:
        y = 1
    tl.store(dst, y)


@triton.jit
def plain_global(src, dst, BLOCK: tl.constexpr):
    tl.store(dst, SIZE)


@triton.jit
def half_exponential(src, dst, BLOCK: tl.constexpr):
    tl.store(dst, tl.exp(tl.load(src)))


@triton.jit
def loop_with_break(src, dst, n, BLOCK: tl.constexpr):
    for i in range(n):
        tl.store(dst + i, 1.0)
        break


@triton.jit
def stored_item(src, dst, BLOCK: tl.constexpr):
    x = tl.load(src + tl.arange(0, 16))
    x[0] = 1.0
    tl.store(dst + tl.arange(0, 16), x)


@triton.jit
def truth_of_a_block(src, dst, BLOCK: tl.constexpr):
    if tl.load(src + tl.arange(0, 16)) > 0:
        tl.store(dst, 1.0)


@triton.jit
def invented_name(src, dst, BLOCK: tl.constexpr):
    tl.store(dst, tl.gelu(tl.load(src)))


@triton.jit
def host_function(src, dst, BLOCK: tl.constexpr):
    tl.store(dst, host(tl.load(src)))


@triton.jit
def eight_bits(src, dst, BLOCK: tl.constexpr):
    tl.store(dst, tl.load(src).to(tl.float8e4nv).to(tl.float32))


@triton.jit
def failed_assertion(src, dst, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 1024, "the tile is too small")
    tl.store(dst, 1.0)
