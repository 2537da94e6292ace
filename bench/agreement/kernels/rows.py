"""One program for each row of a matrix: normalisations, reductions, scans."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _scale_rows(src, dst, stride_src, stride_dst, n, factor, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(src + row * stride_src + columns, mask=inside)
    tl.store(dst + row * stride_dst + columns, x * factor, mask=inside)


def scale_rows(x: torch.Tensor, factor: float) -> torch.Tensor:
    """A matrix times a number."""
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(columns)
    _scale_rows[(rows,)](x, out, x.stride(0), out.stride(0), columns, factor, BLOCK=block)
    return out


@triton.jit
def _softmax(src, dst, stride_src, stride_dst, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(src + row * stride_src + columns, mask=inside, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, 0))
    y = numerator / tl.sum(numerator, 0)
    tl.store(dst + row * stride_dst + columns, y.to(dst.dtype.element_ty), mask=inside)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Softmax over the rows of a matrix."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(columns)
    _softmax[(rows,)](x, out, x.stride(0), out.stride(0), columns, BLOCK=block)
    return out


@triton.jit
def _layer_norm(src, weight, bias, dst, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(src + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, 0) / n
    centred = tl.where(inside, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / n + eps)
    w = tl.load(weight + columns, mask=inside).to(tl.float32)
    b = tl.load(bias + columns, mask=inside).to(tl.float32)
    y = centred * scale * w + b
    tl.store(dst + row * stride + columns, y.to(dst.dtype.element_ty), mask=inside)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Layer normalisation over the rows of a matrix."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(columns)
    _layer_norm[(rows,)](x, weight, bias, out, x.stride(0), columns, eps, BLOCK=block)
    return out


@triton.jit
def _rms_norm(src, weight, dst, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(src + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, 0) / n + eps)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < n
        x = tl.load(src + row * stride + columns, mask=inside).to(tl.float32)
        w = tl.load(weight + columns, mask=inside).to(tl.float32)
        tl.store(dst + row * stride + columns, (x * scale * w).to(dst.dtype.element_ty), mask=inside)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """Each row divided by its root mean square, in blocks: a row may be longer than a block."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    _rms_norm[(rows,)](x, weight, out, x.stride(0), columns, eps, BLOCK=1024)
    return out


@triton.jit
def _row_sum(src, dst, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(src + row * stride + columns, mask=columns < n, other=0.0)
    tl.store(dst + row, tl.sum(x, 0))


def row_sum(x: torch.Tensor) -> torch.Tensor:
    """The sums of a matrix's rows."""
    rows, columns = x.shape
    out = torch.empty(rows, dtype=x.dtype, device=x.device)
    _row_sum[(rows,)](x, out, x.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    return out


@triton.jit
def _column_sum(src, dst, stride, n, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    x = tl.load(src + rows * stride + column, mask=rows < n, other=0.0)
    tl.store(dst + column, tl.sum(x, 0))


def column_sum(x: torch.Tensor) -> torch.Tensor:
    """The sums of a matrix's columns, the slow way: neighbouring lanes read different rows."""
    rows, columns = x.shape
    out = torch.empty(columns, dtype=x.dtype, device=x.device)
    _column_sum[(columns,)](x, out, x.stride(0), rows, BLOCK=triton.next_power_of_2(rows))
    return out


@triton.jit
def _cumulative_sum(src, dst, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(src + row * stride + columns, mask=inside, other=0.0)
    tl.store(dst + row * stride + columns, tl.cumsum(x, 0), mask=inside)


def cumulative_sum(x: torch.Tensor) -> torch.Tensor:
    """The running sums of a matrix's rows."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    _cumulative_sum[(rows,)](x, out, x.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    return out


@triton.jit
def _argmax(src, dst, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(src + row * stride + columns, mask=columns < n, other=-float("inf"))
    tl.store(dst + row, tl.argmax(x, 0).to(tl.int64))


def argmax(x: torch.Tensor) -> torch.Tensor:
    """Where each row of a matrix has its greatest element."""
    rows, columns = x.shape
    out = torch.empty(rows, dtype=torch.int64, device=x.device)
    _argmax[(rows,)](x, out, x.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    return out


@triton.jit
def _sort(src, dst, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(src + row * stride + columns, mask=inside, other=float("inf"))
    tl.store(dst + row * stride + columns, tl.sort(x), mask=inside)


def sort(x: torch.Tensor) -> torch.Tensor:
    """The rows of a matrix in ascending order."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    _sort[(rows,)](x, out, x.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    return out


@triton.jit
def _combine(mean_a, squares_a, count_a, mean_b, squares_b, count_b):
    count = count_a + count_b
    share = tl.where(count > 0, count_b / tl.maximum(count, 1.0), 0.0)
    delta = mean_b - mean_a
    return mean_a + delta * share, squares_a + squares_b + delta * delta * count_a * share, count


@triton.jit
def _welford(src, means, variances, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(src + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
    count = tl.where(inside, 1.0, 0.0)
    mean, squares, total = tl.reduce((x, tl.zeros_like(x), count), 0, _combine)
    tl.store(means + row, mean)
    tl.store(variances + row, squares / total)


def welford(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean and the variance of each row, by Welford's method."""
    rows, columns = x.shape
    means = torch.empty(rows, dtype=torch.float32, device=x.device)
    variances = torch.empty_like(means)
    _welford[(rows,)](x, means, variances, x.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    return means, variances


@triton.jit
def _cross_entropy(logits, labels, losses, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start_of_row = logits + row * stride
    largest = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(start_of_row + columns, mask=columns < n, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(largest, x)
        # A lane that has seen no column yet has nothing to rescale.
        kept = tl.where(largest == -float("inf"), 0.0, tl.exp(largest - higher))
        total = total * kept + tl.where(x == -float("inf"), 0.0, tl.exp(x - higher))
        largest = higher
    peak = tl.max(largest, 0)
    scale = tl.sum(tl.where(largest == -float("inf"), 0.0, total * tl.exp(largest - peak)), 0)
    label = tl.load(labels + row)
    chosen = tl.load(start_of_row + label).to(tl.float32)
    tl.store(losses + row, peak + tl.log(scale) - chosen)


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The cross entropy of each row of logits with its label, in blocks of a row."""
    rows, columns = logits.shape
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    _cross_entropy[(rows,)](logits, labels, losses, logits.stride(0), columns, BLOCK=1024)
    return losses


@triton.jit
def _quantise(src, dst, scales, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(src + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x), 0), 1e-8) / 127.0
    tl.store(scales + row, scale)
    tl.store(dst + row * stride + columns, tl.floor(x / scale + 0.5).to(tl.int8), mask=inside)


def quantise(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Each row as 8-bit integers and a scale."""
    rows, columns = x.shape
    out = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    scales = torch.empty(rows, dtype=torch.float32, device=x.device)
    _quantise[(rows,)](x, out, scales, x.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    return out, scales
