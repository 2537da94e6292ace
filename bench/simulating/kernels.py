"""What is timed: kernels as they are commonly written, each with a launch of it. Needs torch and triton alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl


@dataclass(frozen=True, eq=False)
class Launch:
    """`kernel[grid](*arguments, **constants)` on CPU tensors; it should leave in `result` what `expected` gives."""

    kernel: Any
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    constants: Mapping[str, Any]
    result: torch.Tensor
    expected: Callable[[], torch.Tensor]

    def deviation(self) -> float:
        """The greatest difference of the result, relative to the greatest value that is expected."""
        expected = self.expected()
        return float((self.result - expected).abs().max() / expected.abs().max())


@dataclass(frozen=True)
class Case:
    """A launch under a title that tells its sizes."""

    title: str
    launch: Callable[[], Launch]


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * stride + column, mask=mask, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + column, numerator / tl.sum(numerator, axis=0), mask=mask)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + inner
        a = tl.load(a_ptr + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + column[None, :], mask=(k[:, None] < K) & (column[None, :] < N), other=0.0)
        accumulator = tl.dot(a, b, accumulator)
    c_mask = (row[:, None] < M) & (column[None, :] < N)
    tl.store(c_ptr + row[:, None] * N + column[None, :], accumulator, mask=c_mask)


@triton.jit
def layer_norm_backward_kernel(
    dx_ptr, dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dw_ptr, db_ptr, rows, columns,
    ROWS_EACH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    weight = tl.load(weight_ptr + column, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(program * ROWS_EACH, min((program + 1) * ROWS_EACH, rows)):
        x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * columns + column, mask=mask, other=0.0)
        mean = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        normal = tl.where(mask, (x - mean) * rstd, 0.0)
        weighted = tl.where(mask, weight * dy, 0.0)
        c1 = tl.sum(normal * weighted, axis=0) / columns
        c2 = tl.sum(weighted, axis=0) / columns
        tl.store(dx_ptr + row * columns + column, (weighted - (normal * c1 + c2)) * rstd, mask=mask)
        dw += dy * normal
        db += dy
    tl.store(dw_ptr + program * columns + column, dw, mask=mask)
    tl.store(db_ptr + program * columns + column, db, mask=mask)


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, length,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(1) * length * HEAD
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.arange(0, BLOCK_N)
    channel = tl.arange(0, HEAD)
    q = tl.load(q_ptr + start + row[:, None] * HEAD + channel[None, :], mask=row[:, None] < length, other=0.0)
    highest = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    accumulator = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    for first in range(0, length, BLOCK_N):
        key = first + column
        k = tl.load(k_ptr + start + key[None, :] * HEAD + channel[:, None], mask=key[None, :] < length, other=0.0)
        scores = tl.dot(q, k) * scale
        scores = tl.where(key[None, :] < length, scores, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        p = tl.exp(scores - higher[:, None])
        shrink = tl.exp(highest - higher)
        total = total * shrink + tl.sum(p, axis=1)
        v = tl.load(v_ptr + start + key[:, None] * HEAD + channel[None, :], mask=key[:, None] < length, other=0.0)
        accumulator = tl.dot(p, v, accumulator * shrink[:, None])
        highest = higher
    out = accumulator / total[:, None]
    tl.store(out_ptr + start + row[:, None] * HEAD + channel[None, :], out, mask=row[:, None] < length)


def add(n: int = 1_000_000, block: int = 256) -> Launch:
    x, y = torch.randn(n), torch.randn(n)
    out = torch.full((n,), math.nan)
    return Launch(add_kernel, (triton.cdiv(n, block),), (x, y, out, n), {"BLOCK": block}, out, lambda: x + y)


def softmax(rows: int = 4096, columns: int = 1000) -> Launch:
    x = torch.randn(rows, columns)
    out = torch.full_like(x, math.nan)
    constants = {"BLOCK": triton.next_power_of_2(columns)}
    return Launch(softmax_kernel, (rows,), (x, out, columns, columns), constants, out, lambda: x.softmax(1))


def matmul(rows: int = 512, columns: int = 512, inner: int = 512, block: int = 32) -> Launch:
    a, b = torch.randn(rows, inner), torch.randn(inner, columns)
    c = torch.full((rows, columns), math.nan)
    grid = (triton.cdiv(rows, block), triton.cdiv(columns, block))
    constants = {"BLOCK_M": block, "BLOCK_N": block, "BLOCK_K": block}
    return Launch(matmul_kernel, grid, (a, b, c, rows, columns, inner), constants, c, lambda: a @ b)


def layer_norm_backward(rows: int = 1024, columns: int = 1000, each: int = 16) -> Launch:
    x, dy, weight = torch.randn(rows, columns), torch.randn(rows, columns), torch.randn(columns)
    mean, rstd = x.mean(1), (x.var(1, unbiased=False) + 1e-5).rsqrt()
    programs = triton.cdiv(rows, each)
    dx = torch.full_like(x, math.nan)
    dw, db = torch.full((programs, columns), math.nan), torch.full((programs, columns), math.nan)

    def expected() -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        torch.nn.functional.layer_norm(leaf, (columns,), weight).backward(dy)
        assert leaf.grad is not None
        return leaf.grad

    arguments = (dx, dy, x, weight, mean, rstd, dw, db, rows, columns)
    constants = {"ROWS_EACH": each, "BLOCK": triton.next_power_of_2(columns)}
    return Launch(layer_norm_backward_kernel, (programs,), arguments, constants, dx, expected)


def attention(batch: int = 2, heads: int = 4, length: int = 512, head: int = 64, block: int = 64) -> Launch:
    q, k, v = (torch.randn(batch, heads, length, head) for _ in range(3))
    out = torch.full_like(q, math.nan)
    return Launch(
        attention_kernel,
        (triton.cdiv(length, block), batch * heads),
        (q, k, v, out, 1 / math.sqrt(head), length),
        {"HEAD": head, "BLOCK_M": block, "BLOCK_N": block},
        out,
        lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v),
    )


CASES: Mapping[str, Case] = {
    "add": Case("add of 1,000,000, BLOCK 256", add),
    "softmax": Case("softmax of 4096 x 1000", softmax),
    "matmul": Case("matrix product 512 x 512 x 512", matmul),
    "layer-norm": Case("layer norm backward of 1024 x 1000", layer_norm_backward),
    "attention": Case("attention forward 2 x 4 x 512 x 64", attention),
}
