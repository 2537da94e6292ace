"""One element out for one element in: every load and store is one plain access."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _copy(src, dst, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(dst + offsets, tl.load(src + offsets, mask=inside), mask=inside)


def copy(x: torch.Tensor, block: int = 1024) -> torch.Tensor:
    """A copy of a vector whose elements are adjacent."""
    out = torch.empty_like(x)
    _copy[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)
    return out


@triton.jit
def _add(left, right, dst, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    total = tl.load(left + offsets, mask=inside) + tl.load(right + offsets, mask=inside)
    tl.store(dst + offsets, total, mask=inside)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The sum of two vectors."""
    out = torch.empty_like(x)
    block = 1024
    _add[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), BLOCK=block)
    return out


@triton.jit
def _copy_strided(src, dst, stride, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(dst + offsets, tl.load(src + offsets * stride, mask=inside), mask=inside)


def copy_strided(x: torch.Tensor) -> torch.Tensor:
    """A dense copy of a vector of any stride."""
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = 1024
    _copy_strided[(triton.cdiv(x.numel(), block),)](x, out, x.stride(0), x.numel(), BLOCK=block)
    return out


@triton.jit
def _gather(src, index, dst, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    chosen = tl.load(index + offsets, mask=inside, other=0)
    tl.store(dst + offsets, tl.load(src + chosen, mask=inside), mask=inside)


def gather(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The elements of a vector at the given places."""
    out = torch.empty(index.shape, dtype=x.dtype, device=x.device)
    block = 1024
    _gather[(triton.cdiv(index.numel(), block),)](x, index, out, index.numel(), BLOCK=block)
    return out


@triton.jit
def _cast(src, dst, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(src + offsets, mask=inside)
    tl.store(dst + offsets, value.to(dst.dtype.element_ty), mask=inside)


def cast_fp8(x: torch.Tensor) -> torch.Tensor:
    """A vector rounded to 8 bits: 4 of exponent, 3 of mantissa."""
    out = torch.empty(x.shape, dtype=torch.float8_e4m3fn, device=x.device)
    block = 2048
    _cast[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)
    return out


@triton.jit
def _histogram(src, counts, n, bins, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(src + offsets, mask=inside, other=0)
    tl.atomic_add(counts + value, 1, mask=inside & (value >= 0) & (value < bins))


def histogram(x: torch.Tensor, bins: int) -> torch.Tensor:
    """How often each number below `bins` occurs."""
    counts = torch.zeros(bins, dtype=torch.int32, device=x.device)
    block = 1024
    _histogram[(triton.cdiv(x.numel(), block),)](x, counts, x.numel(), bins, BLOCK=block)
    return counts


@triton.jit
def _transpose(src, dst, rows, columns, stride_src, stride_dst, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    tile = tl.load(src + row[:, None] * stride_src + column[None, :], mask=inside)
    across = (column < columns)[:, None] & (row < rows)[None, :]
    tl.store(dst + column[:, None] * stride_dst + row[None, :], tl.trans(tile), mask=across)


def transpose(x: torch.Tensor) -> torch.Tensor:
    """A dense copy of a matrix with its axes exchanged."""
    rows, columns = x.shape
    out = torch.empty((columns, rows), dtype=x.dtype, device=x.device)
    tile = 64
    grid = (triton.cdiv(rows, tile), triton.cdiv(columns, tile))
    _transpose[grid](x, out, rows, columns, x.stride(0), out.stride(0), TILE=tile)
    return out


@triton.jit
def _rope(src, cosine, sine, dst, stride, HALF: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1)
    lanes = tl.arange(0, HALF)
    cos = tl.load(cosine + token * HALF + lanes)
    sin = tl.load(sine + token * HALF + lanes)
    first = token * stride + head * (2 * HALF) + lanes
    x = tl.load(src + first).to(tl.float32)
    y = tl.load(src + first + HALF).to(tl.float32)
    tl.store(dst + first, (x * cos - y * sin).to(dst.dtype.element_ty))
    tl.store(dst + first + HALF, (y * cos + x * sin).to(dst.dtype.element_ty))


def rope(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Rotary position embedding of (tokens, heads, size), the halves of each head rotated against one another."""
    tokens, heads, size = x.shape
    out = torch.empty_like(x)
    _rope[(tokens, heads)](x, cosine, sine, out, x.stride(0), HALF=size // 2, num_warps=1)
    return out
