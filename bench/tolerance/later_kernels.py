"""More kernels as they are commonly written; only `later.py` knows which ways are right."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def log_softmax_kernel(x_ptr, out_ptr, columns, SUM: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=-float("inf")).to(tl.float32)
    highest = tl.max(x, axis=0)
    if HOW == "no maximum":
        highest = 0.0
    total = tl.sum(tl.exp(x - highest), axis=0).to(SUM).to(tl.float32)
    result = x - highest - tl.log(total)
    if HOW == "log of softmax":
        result = tl.log(tl.exp(x - highest) / total)
    if HOW == "base 2":
        result = x - highest - tl.log2(total)
    tl.store(out_ptr + row * columns + column, result, mask=mask)


@triton.jit
def group_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, groups, channels, length, eps, HOW: tl.constexpr, BLOCK: tl.constexpr
):
    """A program for each sample and group, of `channels` channels of `length` numbers."""
    group = tl.program_id(0)
    offset = tl.arange(0, BLOCK)
    count = channels * length
    mask = offset < count
    x = tl.load(x_ptr + group * count + offset, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / count
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / count
    if HOW == "sample":
        variance = variance * count / (count - 1) * 1.01
    channel = group % groups * channels + offset // length
    if HOW == "first channel":
        channel = group % groups * channels + offset * 0
    weight = tl.load(weight_ptr + channel, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + channel, mask=mask, other=0.0).to(tl.float32)
    normal = centred * tl.rsqrt(variance + eps)
    result = normal * weight + bias
    if HOW == "expanded":
        scale = tl.rsqrt(variance + eps) * weight
        result = x * scale + (bias - mean * scale)
    if HOW == "swapped":
        result = normal * bias + weight
    tl.store(out_ptr + group * count + offset, result, mask=mask)


@triton.jit
def convolution_kernel(
    x_ptr, weight_ptr, out_ptr, length, TAPS: tl.constexpr, SUM: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr
):
    """Each row with taps of its own, zeros to both sides."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    result = tl.zeros((BLOCK,), SUM)
    for tap in tl.static_range(TAPS):
        source = column + tap - TAPS // 2
        if HOW == "clamped":
            source = tl.minimum(tl.maximum(source, 0), length - 1)
        inside = (source >= 0) & (source < length)
        x = tl.load(x_ptr + row * length + source, mask=inside, other=0.0).to(tl.float32)
        number = tap
        if HOW == "reversed":
            number = TAPS - 1 - tap
        weight = tl.load(weight_ptr + row * TAPS + number).to(tl.float32)
        result = (result + x * weight).to(SUM)
    tl.store(out_ptr + row * length + column, result.to(tl.float32), mask=column < length)


@triton.jit
def layer_norm_backward_kernel(
    x_ptr, dy_ptr, weight_ptr, out_ptr, columns, eps, HOW: tl.constexpr, BLOCK: tl.constexpr
):
    """The gradient of the input."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + column, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    normal = centred * rstd
    if HOW == "narrow":
        normal = normal.to(tl.float16).to(tl.float32)
    weighted = dy * weight
    first = tl.sum(normal * weighted, axis=0) / columns
    second = tl.sum(weighted, axis=0) / columns
    if HOW == "no mean":
        second = 0.0
    if HOW == "no projection":
        first = 0.0
    if HOW == "unweighted":
        first = tl.sum(normal * dy, axis=0) / columns
    tl.store(out_ptr + row * columns + column, (weighted - normal * first - second) * rstd, mask=mask)


@triton.jit
def norm_kernel(x_ptr, out_ptr, columns, SUM: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """The length of each row."""
    row = tl.program_id(0)
    lanes = tl.zeros((BLOCK,), SUM)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
        lanes = (lanes + x * x).to(SUM)
    total = tl.sum(lanes.to(tl.float32), axis=0)
    result = tl.sqrt(total)
    if HOW == "scaled":
        greatest = 0.0
        for start in range(0, columns, BLOCK):
            column = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
            greatest = tl.maximum(greatest, tl.max(tl.abs(x), axis=0))
        total = 0.0
        for start in range(0, columns, BLOCK):
            column = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
            total += tl.sum((x / greatest) * (x / greatest), axis=0)
        result = greatest * tl.sqrt(total)
    if HOW == "sum of magnitudes":
        result = total
    tl.store(out_ptr + row, result)


@triton.jit
def pointwise_kernel(x_ptr, out_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """What `HOW` says, of each element."""
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offset < n
    if HOW == "softplus, half of them":
        mask = mask & (tl.program_id(0) % 2 == 0)
    x = tl.load(x_ptr + offset, mask=mask, other=1.0).to(tl.float32)
    result = x
    if HOW == "softplus":
        result = tl.maximum(x, 0.0) + tl.log(1 + tl.exp(-tl.abs(x)))
    if HOW == "softplus, half of them":
        result = tl.maximum(x, 0.0) + tl.log(1 + tl.exp(-tl.abs(x)))
    if HOW == "softplus, plain":
        result = tl.log(1 + tl.exp(x))
    if HOW == "relu":
        result = tl.maximum(x, 0.0)
    if HOW == "gelu by tanh":
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        result = 0.5 * x * (2 * tl.sigmoid(2 * inner))
    if HOW == "gelu by a short constant":
        inner = 0.798 * (x + 0.0447 * x * x * x)
        result = 0.5 * x * (2 * tl.sigmoid(2 * inner))
    if HOW == "gelu by erf":
        result = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    if HOW == "rsqrt":
        result = tl.rsqrt(tl.abs(x) + 0.5)
    if HOW == "1 / sqrt":
        result = 1 / tl.sqrt(tl.abs(x) + 0.5)
    if (HOW == "rsqrt in 1 step") | (HOW == "rsqrt in 2 steps") | (HOW == "rsqrt in 3 steps"):
        number = tl.abs(x) + 0.5
        bits = 0x5F3759DF - (number.to(tl.int32, bitcast=True) >> 1)
        result = bits.to(tl.float32, bitcast=True)
        result = result * (1.5 - 0.5 * number * result * result)
        if HOW != "rsqrt in 1 step":
            result = result * (1.5 - 0.5 * number * result * result)
        if HOW == "rsqrt in 3 steps":
            result = result * (1.5 - 0.5 * number * result * result)
    tl.store(out_ptr + offset, result, mask=mask)


@triton.jit
def gather_kernel(table_ptr, index_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    index = tl.load(index_ptr + row)
    if HOW == "next":
        index = index + tl.where(index == 7, 1, 0)
    column = tl.arange(0, BLOCK)
    x = tl.load(table_ptr + index * columns + column, mask=column < columns, other=0.0)
    if HOW == "narrow":
        x = x.to(tl.bfloat16)
    tl.store(out_ptr + row * columns + column, x, mask=column < columns)


@triton.jit
def linear_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, M, N, K, SUM: tl.constexpr, PRECISION: tl.constexpr, HOW: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """relu(x @ weight.T + bias)."""
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), SUM)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        if HOW == "overlapping":
            k = tl.minimum(start, K - BLOCK) + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row[:, None] * K + k[None, :], mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        weight = tl.load(
            weight_ptr + column[None, :] * K + k[:, None], mask=(column[None, :] < N) & (k[:, None] < K), other=0.0
        )
        accumulator = (accumulator + tl.dot(x, weight, input_precision=PRECISION)).to(SUM)
    bias = tl.load(bias_ptr + column, mask=column < N, other=0.0).to(tl.float32)
    if HOW == "bias of the first":
        bias = tl.load(bias_ptr + column % BLOCK, mask=column < N, other=0.0).to(tl.float32)
    if HOW == "bias twice":
        bias = bias * 2
    result = accumulator.to(tl.float32) + bias[None, :]
    if HOW != "no relu":
        result = tl.maximum(result, 0.0)
    tl.store(out_ptr + row[:, None] * N + column[None, :], result, mask=(row[:, None] < M) & (column[None, :] < N))


@triton.jit
def column_mean_kernel(x_ptr, out_ptr, rows, columns, SUM: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """The mean of each column, row by row."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = column < columns
    total = tl.zeros((BLOCK,), SUM)
    begin = 0
    if HOW == "not the first":
        begin = 1
    for row in range(begin, rows):
        total = (total + tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)).to(SUM)
    result = total.to(tl.float32) / rows
    if HOW == "running":
        result = tl.zeros((BLOCK,), tl.float32)
        for row in range(rows):
            x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
            result += (x - result) / (row + 1)
    if HOW == "one less":
        result = total.to(tl.float32) / (rows - 1)
    tl.store(out_ptr + column, result, mask=mask)


@triton.jit
def divergence_kernel(p_ptr, q_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """sum(softmax(p) * (log_softmax(p) - log_softmax(q))) of each row."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    p = tl.load(p_ptr + row * columns + column, mask=mask, other=-float("inf")).to(tl.float32)
    q = tl.load(q_ptr + row * columns + column, mask=mask, other=-float("inf")).to(tl.float32)
    p -= tl.max(p, axis=0)
    q -= tl.max(q, axis=0)
    p -= tl.log(tl.sum(tl.exp(p), axis=0))
    q -= tl.log(tl.sum(tl.exp(q), axis=0))
    share = tl.exp(p)
    if HOW == "narrow":
        share = share.to(tl.float16).to(tl.float32)
    if HOW == "other way":
        share = tl.exp(q)
    terms = share * (p - q)
    if HOW == "logarithms of shares":
        terms = share * (tl.log(share) - tl.log(tl.exp(q)))
    tl.store(out_ptr + row, tl.sum(tl.where(mask, terms, 0.0), axis=0))


@triton.jit
def argmax_kernel(x_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=-float("inf"))
    highest = tl.max(x, axis=0)
    result = tl.min(tl.where(x == highest, column, BLOCK), axis=0)
    if HOW == "last":
        result = tl.max(tl.where(x == highest, column, -1), axis=0)
    if HOW == "built in":
        result = tl.argmax(x, axis=0)
    if HOW == "from one":
        result = result + 1
    tl.store(out_ptr + row, result.to(tl.int64))


@triton.jit
def quantise_kernel(x_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """127 * x / max(|x|) of each row, to the nearest integer."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(x), axis=0) / 127
    if HOW == "half scale":
        scale = scale.to(tl.float16).to(tl.float32)
    steps = (x / scale + 12582912.0) - 12582912.0
    if HOW == "inverse":
        steps = (x * (1 / scale) + 12582912.0) - 12582912.0
    if HOW == "truncated":
        steps = x / scale
    if HOW == "first scale":
        steps = x / (tl.max(tl.where(column < 64, tl.abs(x), 0.0), axis=0) / 127)
    tl.store(out_ptr + row * columns + column, steps.to(tl.int32).to(tl.int8), mask=mask)
