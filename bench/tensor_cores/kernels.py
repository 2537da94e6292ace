"""Kernels in each of which one program multiplies blocks of its own, and adds what it finds in `c`."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def plain(
    a_ptr, b_ptr, c_ptr, d_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr,
    PRECISION: tl.constexpr, STEP: tl.constexpr, LONGEST: tl.constexpr,
):  # fmt: skip
    p = tl.program_id(0)
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    total = tl.load(c_ptr + p * M * N + m * N + n)
    for start in range(0, K, STEP):
        k = tl.arange(0, STEP) + start
        a = tl.load(a_ptr + p * M * K + m * K + k[None, :])
        b = tl.load(b_ptr + p * K * N + k[:, None] * N + n)
        total = tl.dot(a, b, total, input_precision=PRECISION, max_num_imprecise_acc=LONGEST, out_dtype=ACC)
    tl.store(d_ptr + p * M * N + m * N + n, total)


@triton.jit
def converted(
    a_ptr, b_ptr, c_ptr, d_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TO: tl.constexpr,
    PRECISION: tl.constexpr, BOTH: tl.constexpr,
):  # fmt: skip
    """One operand, or both, are of a narrower type in memory."""
    p = tl.program_id(0)
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    total = tl.load(c_ptr + p * M * N + m * N + n)
    a = tl.load(a_ptr + p * M * K + m * K + k[None, :]).to(TO)
    b = tl.load(b_ptr + p * K * N + k[:, None] * N + n)
    if BOTH:
        b = b.to(TO)
    tl.store(d_ptr + p * M * N + m * N + n, tl.dot(a, b, total, input_precision=PRECISION))


@triton.jit
def turned(
    a_ptr, b_ptr, c_ptr, d_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Both operands lie the other way in memory."""
    p = tl.program_id(0)
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.load(c_ptr + p * M * N + m[:, None] * N + n[None, :])
    a = tl.load(a_ptr + p * M * K + k[:, None] * M + m[None, :])
    b = tl.load(b_ptr + p * K * N + n[:, None] * K + k[None, :])
    total = tl.dot(tl.trans(a), tl.trans(b), total, input_precision=PRECISION)
    tl.store(d_ptr + p * M * N + m[:, None] * N + n[None, :], total)


@triton.jit
def batched(
    a_ptr, b_ptr, c_ptr, d_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    p = tl.program_id(0) * 2 + tl.arange(0, 2)[:, None, None]
    m, n, k = tl.arange(0, M)[None, :, None], tl.arange(0, N)[None, None, :], tl.arange(0, K)
    total = tl.load(c_ptr + p * M * N + m * N + n)
    a = tl.load(a_ptr + p * M * K + m * K + k[None, None, :])
    b = tl.load(b_ptr + p * K * N + k[None, :, None] * N + n)
    tl.store(d_ptr + p * M * N + m * N + n, tl.dot(a, b, total, input_precision=PRECISION))


@triton.jit
def chained(
    a_ptr, b_ptr, c_ptr, d_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The first product is the left operand of a second one, as in attention."""
    p = tl.program_id(0)
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    total = tl.load(c_ptr + p * M * N + m * N + n)
    a = tl.load(a_ptr + p * M * K + m * K + k[None, :])
    b = tl.load(b_ptr + p * K * N + k[:, None] * N + n)
    first = tl.dot(a, b, input_precision=PRECISION).to(a.dtype)
    second = tl.load(b_ptr + p * K * N + n.trans() * K + k[None, :])
    second = tl.dot(first, second, input_precision=PRECISION).to(a.dtype)
    tl.store(d_ptr + p * M * N + m * N + n, tl.dot(second, b, total, input_precision=PRECISION))


@triton.jit
def scaled(
    a_ptr, b_ptr, c_ptr, d_ptr, a_scale, b_scale, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    LEFT: tl.constexpr, RIGHT: tl.constexpr,
):  # fmt: skip
    p = tl.program_id(0)
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    total = tl.load(c_ptr + p * M * N + m * N + n)
    IN_A: tl.constexpr = K // 2 if LEFT == "e2m1" else K
    IN_B: tl.constexpr = K // 2 if RIGHT == "e2m1" else K
    a = tl.load(a_ptr + p * M * IN_A + m * IN_A + tl.arange(0, IN_A)[None, :])
    b = tl.load(b_ptr + p * IN_B * N + tl.arange(0, IN_B)[:, None] * N + n)
    groups = tl.arange(0, K // 32)[None, :]
    of_a = tl.load(a_scale + p * M * (K // 32) + m * (K // 32) + groups)
    of_b = tl.load(b_scale + p * N * (K // 32) + tl.arange(0, N)[:, None] * (K // 32) + groups)
    tl.store(d_ptr + p * M * N + m * N + n, tl.dot_scaled(a, of_a, LEFT, b, of_b, RIGHT, total))
