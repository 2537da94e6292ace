"""Kernels as they are commonly written; `HOW` says which way, and which ways are right only `first.py` knows."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def chain_kernel(x_ptr, y_ptr, b_ptr, out_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """silu(x) * y + b."""
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    limit = n
    if HOW == "tail":
        limit = n // BLOCK * BLOCK
    if HOW == "off by one":
        limit = n - 1
    mask = offset < limit
    x = tl.load(x_ptr + offset, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + offset, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + offset, mask=mask, other=0.0).to(tl.float32)
    gate = 1 / (1 + tl.exp(-x))
    if HOW == "exp2":
        gate = 1 / (1 + tl.exp2(-x * 1.4426950408889634))
    if HOW == "sigmoid":
        gate = tl.sigmoid(x)
    if HOW == "short log2(e)":
        gate = 1 / (1 + tl.exp2(-x * 1.44))
    if HOW == "hard sigmoid":
        gate = tl.minimum(tl.maximum(x / 6 + 0.5, 0.0), 1.0)
    if HOW == "narrow":
        gate = gate.to(tl.float16).to(tl.float32)
    result = x * gate * y + b
    if HOW == "fused":
        result = tl.fma(x * gate, y, b)
    if HOW == "sign":
        result = x * gate * y - b
    if HOW == "scale":
        result = result * 1.002
    if HOW == "one in a hundred":
        result = tl.where(offset % 100 == 7, result * 1.05, result)
    if HOW == "one element":
        result = tl.where(offset == n // 2, result * 1.5, result)
    if HOW == "truncated":
        result = (result.to(tl.int32, bitcast=True) & -65536).to(tl.float32, bitcast=True)
    tl.store(out_ptr + offset, result, mask=mask)


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """gelu(x), by erf."""
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < n, other=0.0)
    if HOW == "all in half":
        x = x.to(tl.float16)
        cube = x * x * x
        inner = (0.7978845608028654 * (x + 0.044715 * cube)).to(tl.float32)
        result = (0.5 * x * (2 * tl.sigmoid(2 * inner)).to(tl.float16)).to(tl.float32)
    else:
        x = x.to(tl.float32)
        result = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
        if HOW == "tanh":
            result = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
        if HOW == "sigmoid":
            result = x * tl.sigmoid(1.702 * x)
        if HOW == "half of x after":
            result = x * (0.5 + 0.5 * tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + offset, result, mask=offset < n)


@triton.jit
def tanh_kernel(x_ptr, out_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < n, other=0.0).to(tl.float32)
    if HOW == "sigmoid":
        result = 2 * tl.sigmoid(2 * x) - 1
    elif HOW == "exp of -2|x|":
        small = tl.exp(-2 * tl.abs(x))
        result = (1 - small) / (1 + small)
        result = tl.where(x < 0, -result, result)
    elif HOW == "rational":
        square = x * x
        result = tl.minimum(tl.maximum(x * (27 + square) / (27 + 9 * square), -1.0), 1.0)
    elif HOW == "series":
        square = x * x
        short = x * (1 - square * (1 / 3 - square * (2 / 15)))
        result = tl.where(tl.abs(x) < 0.6, short, 2 * tl.sigmoid(2 * x) - 1)
    elif HOW == "exp of 2x":
        large = tl.exp(2 * x)
        result = (large - 1) / (large + 1)
    tl.store(out_ptr + offset, result, mask=offset < n)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, rows, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """A row at once."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    limit = columns
    if HOW == "tail":
        limit = columns - 16
    if HOW == "off by one":
        limit = columns - 1
    mask = column < limit
    source = row
    if HOW == "stale row":
        source = tl.where(row == rows - 1, row - 1, row)
    other = -float("inf")
    if HOW == "zeros beyond":
        other = 0.0
    x = tl.load(x_ptr + source * columns + column, mask=mask, other=other).to(tl.float32)
    highest = tl.max(x, axis=0)
    if HOW == "no maximum":
        highest = 0.0
    numerator = tl.exp(x - highest)
    if HOW == "exp2":
        numerator = tl.exp2((x - highest) * 1.4426950408889634)
    if HOW == "early":
        numerator = numerator.to(out_ptr.dtype.element_ty).to(tl.float32)
    if HOW == "half":
        numerator = numerator.to(tl.float16).to(tl.float32)
    total = tl.sum(numerator, axis=0)
    result = numerator / total
    if HOW == "reciprocal":
        result = numerator * (1 / total)
    if HOW == "scale":
        result = result * 0.997
    if HOW == "mean":
        result = result * 0 + 1 / columns
    tl.store(out_ptr + row * columns + column, result, mask=mask)


@triton.jit
def online_softmax_kernel(x_ptr, out_ptr, columns, SUM: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """A row in blocks: a running maximum, and a running sum of dtype `SUM`."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    highest = -float("inf")
    total = tl.full((), 0.0, SUM)
    end = columns
    if HOW == "last block":
        end = columns - BLOCK
    for start in range(0, end, BLOCK):
        mask = start + column < columns
        x = tl.load(x_ptr + row * columns + start + column, mask=mask, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(x, axis=0))
        shrink = tl.exp(highest - higher)
        if HOW == "not rescaled":
            shrink = 1.0
        total = (total * shrink + tl.sum(tl.exp(x - higher), axis=0)).to(SUM)
        highest = higher
    for start in range(0, columns, BLOCK):
        mask = start + column < columns
        x = tl.load(x_ptr + row * columns + start + column, mask=mask, other=-float("inf")).to(tl.float32)
        tl.store(out_ptr + row * columns + start + column, tl.exp(x - highest) / total.to(tl.float32), mask=mask)


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, eps, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + column, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=mask, other=0.0).to(tl.float32)
    count = columns
    if HOW == "padded count":
        count = BLOCK
    mean = tl.sum(x, axis=0) / count
    if HOW == "half mean":
        mean = mean.to(tl.float16).to(tl.float32)
    centred = tl.where(mask, x - mean, 0.0)
    if HOW == "padding counted":
        centred = x - mean
    variance = tl.sum(centred * centred, axis=0) / count
    if HOW == "one pass":
        variance = tl.sum(x * x, axis=0) / columns - mean * mean
    if HOW == "unbiased":
        variance = variance * columns / (columns - 1)
    rstd = 1 / tl.sqrt(variance + eps)
    if HOW == "rsqrt":
        rstd = tl.rsqrt(variance + eps)
    if HOW == "eps outside":
        rstd = 1 / (tl.sqrt(variance) + eps)
    if HOW == "half rstd":
        rstd = rstd.to(tl.float16).to(tl.float32)
    normal = centred * rstd
    if HOW == "early":
        normal = normal.to(out_ptr.dtype.element_ty).to(tl.float32)
    if HOW == "no bias":
        bias = bias * 0
    tl.store(out_ptr + row * columns + column, normal * weight + bias, mask=mask)


@triton.jit
def _merged(mean_a, square_a, count_a, mean_b, square_b, count_b):
    count = count_a + count_b
    share = tl.where(count > 0, count_b / count, 0.0)
    step = mean_b - mean_a
    return mean_a + step * share, square_a + square_b + step * step * count_a * share, count


@triton.jit
def welford_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, eps, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """Layer norm with running mean and squares for each lane, merged in the end."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mean = tl.zeros((BLOCK,), tl.float32)
    square = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        mask = start + column < columns
        x = tl.load(x_ptr + row * columns + start + column, mask=mask, other=0.0).to(tl.float32)
        count += tl.where(mask, 1.0, 0.0)
        step = x - mean
        mean += tl.where(mask, step / tl.maximum(count, 1.0), 0.0)
        if HOW == "old mean":
            square += tl.where(mask, step * step, 0.0)
        else:
            square += tl.where(mask, step * (x - mean), 0.0)
    mean, square, count = tl.reduce((mean, square, count), 0, _merged)
    rstd = tl.rsqrt(square / columns + eps)
    for start in range(0, columns, BLOCK):
        mask = start + column < columns
        x = tl.load(x_ptr + row * columns + start + column, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + start + column, mask=mask, other=0.0).to(tl.float32)
        bias = tl.load(bias_ptr + start + column, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * columns + start + column, (x - mean) * rstd * weight + bias, mask=mask)


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, out_ptr, columns, eps, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + column, mask=mask, other=0.0).to(tl.float32)
    squares = x * x
    if HOW == "half squares":
        squares = (x.to(tl.float16) * x.to(tl.float16)).to(tl.float32)
    mean = tl.sum(squares, axis=0) / columns
    if HOW == "centred":
        average = tl.sum(x, axis=0) / columns
        mean = mean - average * average
    rstd = tl.rsqrt(mean + eps)
    result = x * rstd * weight
    if HOW == "weight first":
        result = x * weight * rstd
    if HOW == "stale weight":
        result = x * rstd * tl.load(weight_ptr + column // 2, mask=mask, other=0.0)
    tl.store(out_ptr + row * columns + column, result, mask=mask)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, SUM: tl.constexpr, PRECISION: tl.constexpr, HOW: tl.constexpr,
    BLOCK: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), SUM)
    end = K
    if HOW == "last block":
        end = K - BLOCK_K
    limit = K
    if HOW == "off by one":
        limit = K - 1
    for start in range(0, end, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (row[:, None] < M) & (k[None, :] < limit)
        b_mask = (k[:, None] < limit) & (column[None, :] < N)
        a = tl.load(a_ptr + row[:, None] * K + k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + column[None, :], mask=b_mask, other=0.0)
        if HOW == "bfloat16 inputs":
            a = a.to(tl.bfloat16)
            b = b.to(tl.bfloat16)
        if HOW == "float16 inputs":
            a = a.to(tl.float16)
            b = b.to(tl.float16)
        if HOW == "scaled":
            a = a * 1.01
        product = tl.dot(a, b, input_precision=PRECISION)
        accumulator = (accumulator + product).to(SUM)
    result = accumulator.to(tl.float32)
    if HOW == "one tile":
        result = tl.where((tl.program_id(0) == 1) & (tl.program_id(1) == 1), result * 1.02, result)
    if HOW == "transposed tile":
        result = tl.trans(result)
    tl.store(c_ptr + row[:, None] * N + column[None, :], result, mask=(row[:, None] < M) & (column[None, :] < N))


@triton.jit
def split_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, PART: tl.constexpr, HOW: tl.constexpr, SPLITS: tl.constexpr, BLOCK: tl.constexpr
):
    """K in parts, each an outer sum over its columns; what a part gives is stored as a number of dtype `PART`."""
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    result = tl.zeros((BLOCK, BLOCK), tl.float32)
    length = K // SPLITS
    for split in range(SPLITS):
        accumulator = tl.zeros((BLOCK, BLOCK), tl.float32)
        for k in range(split * length, (split + 1) * length):
            a = tl.load(a_ptr + row * K + k, mask=row < M, other=0.0).to(tl.float32)
            b = tl.load(b_ptr + k * N + column, mask=column < N, other=0.0).to(tl.float32)
            accumulator += a[:, None] * b[None, :]
        if HOW == "last twice":
            accumulator = tl.where(split == SPLITS - 1, accumulator * 2, accumulator)
        result += accumulator.to(PART).to(tl.float32)
        if HOW == "sum narrow":
            result = result.to(PART).to(tl.float32)
    tl.store(c_ptr + row[:, None] * N + column[None, :], result, mask=(row[:, None] < M) & (column[None, :] < N))


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, SUM: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of a row, in lanes of dtype `SUM`; the mean if HOW says so."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    lanes = tl.zeros((BLOCK,), SUM)
    lost = tl.zeros((BLOCK,), tl.float32)
    end = columns
    if HOW == "tail":
        end = columns // BLOCK * BLOCK
    for start in range(0, end, BLOCK):
        mask = start + column < columns
        x = tl.load(x_ptr + row * columns + start + column, mask=mask, other=0.0).to(tl.float32)
        if HOW == "kahan":
            step = x - lost
            higher = lanes + step
            lost = (higher - lanes) - step
            lanes = higher
        else:
            lanes = (lanes + x).to(SUM)
    total = tl.sum(lanes.to(tl.float32), axis=0)
    if HOW == "narrow partial":
        total = tl.sum(lanes.to(tl.float16), axis=0).to(tl.float32)
    if HOW == "first element":
        total -= tl.load(x_ptr + row * columns).to(tl.float32)
    tl.store(out_ptr + row, total)


@triton.jit
def sequential_sum_kernel(x_ptr, out_ptr, columns, SUM: tl.constexpr):
    """The sum of a row, one number after the other."""
    row = tl.program_id(0)
    total = tl.full((), 0.0, SUM)
    for column in range(columns):
        total = (total + tl.load(x_ptr + row * columns + column).to(tl.float32)).to(SUM)
    tl.store(out_ptr + row, total.to(tl.float32))


@triton.jit
def variance_kernel(x_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """The variance of a row, of all its numbers and not of a sample."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    result = tl.sum(centred * centred, axis=0) / columns
    if HOW == "shifted":
        shifted = tl.where(mask, x - tl.load(x_ptr + row * columns).to(tl.float32), 0.0)
        mean = tl.sum(shifted, axis=0) / columns
        result = tl.sum(shifted * shifted, axis=0) / columns - mean * mean
    if HOW == "one pass":
        result = tl.sum(x * x, axis=0) / columns - mean * mean
    if HOW == "sample":
        result = result * columns / (columns - 1)
    if HOW == "padding counted":
        result = tl.sum((x - mean) * (x - mean), axis=0) / columns
    tl.store(out_ptr + row, result)


@triton.jit
def cross_entropy_kernel(x_ptr, label_ptr, out_ptr, columns, SUM: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """log(sum(exp(x))) - x[label] of each row, in blocks."""
    row = tl.program_id(0)
    label = tl.load(label_ptr + row)
    if HOW == "label off by one":
        label = tl.maximum(label - 1, 0)
    column = tl.arange(0, BLOCK)
    highest = -float("inf")
    if HOW == "no maximum":
        highest = 0.0
    total = tl.full((), 0.0, SUM)
    end = columns
    if HOW == "last block":
        end = columns - BLOCK
    for start in range(0, end, BLOCK):
        x = tl.load(x_ptr + row * columns + start + column, mask=start + column < columns, other=-float("inf"))
        x = x.to(tl.float32)
        higher = highest
        if HOW != "no maximum":
            higher = tl.maximum(highest, tl.max(x, axis=0))
        total = (total * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher), axis=0)).to(SUM)
        highest = higher
    wanted = tl.load(x_ptr + row * columns + label).to(tl.float32)
    result = tl.log(total.to(tl.float32)) + highest - wanted
    if HOW == "log2":
        result = tl.log2(total.to(tl.float32)) * 0.6931471805599453 + highest - wanted
    if HOW == "wrong base":
        result = tl.log2(total.to(tl.float32)) + highest - wanted
    if HOW == "early":
        logsumexp = (tl.log(total.to(tl.float32)) + highest).to(out_ptr.dtype.element_ty).to(tl.float32)
        result = logsumexp - wanted
    tl.store(out_ptr + row, result)


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, length, SUM: tl.constexpr, HOW: tl.constexpr, CAUSAL: tl.constexpr,
    HEAD: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    base = tl.program_id(1) * length * HEAD
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    channel = tl.arange(0, HEAD)
    q = tl.load(q_ptr + base + row[:, None] * HEAD + channel[None, :], mask=row[:, None] < length, other=0.0)
    highest = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    accumulator = tl.zeros((BLOCK, HEAD), SUM)
    for start in range(0, length, BLOCK):
        key = start + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + base + key[None, :] * HEAD + channel[:, None], mask=key[None, :] < length, other=0.0)
        scores = tl.dot(q, k, input_precision="ieee") * scale
        if HOW == "scores early":
            scores = scores.to(q.dtype).to(tl.float32)
        keep = key[None, :] < length
        if HOW == "keys beyond":
            keep = key[None, :] < length + BLOCK
        if CAUSAL:
            if HOW == "causal off by one":
                keep = keep & (key[None, :] <= row[:, None] + 1)
            else:
                keep = keep & (key[None, :] <= row[:, None])
        scores = tl.where(keep, scores, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        p = tl.exp(scores - higher[:, None])
        shrink = tl.exp(highest - higher)
        total = total * shrink + tl.sum(p, axis=1)
        v = tl.load(v_ptr + base + key[:, None] * HEAD + channel[None, :], mask=key[:, None] < length, other=0.0)
        if HOW == "not rescaled":
            shrink = shrink * 0 + 1
        if HOW == "wide p":
            product = tl.dot(p, v.to(tl.float32), input_precision="ieee")
        elif HOW == "bfloat16 p":
            product = tl.dot(p.to(tl.bfloat16), v.to(tl.bfloat16))
        elif HOW == "tf32":
            product = tl.dot(p, v.to(tl.float32), input_precision="tf32")
        else:
            product = tl.dot(p.to(v.dtype), v, input_precision="ieee")
        accumulator = (accumulator * shrink[:, None] + product).to(SUM)
        highest = higher
    out = accumulator.to(tl.float32) / total[:, None]
    tl.store(out_ptr + base + row[:, None] * HEAD + channel[None, :], out, mask=row[:, None] < length)


@triton.jit
def _plus(a, b):
    return a + b


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, columns, SUM: tl.constexpr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """Running sums of a row, in blocks; the sum of the blocks before is a number of dtype `SUM`."""
    row = tl.program_id(0)
    carry = tl.full((), 0.0, SUM)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0).to(tl.float32)
        running = tl.cumsum(x, axis=0)
        if HOW == "scan":
            running = tl.associative_scan(x, 0, _plus)
        result = running + carry.to(tl.float32)
        if HOW == "exclusive":
            result = result - x
        tl.store(out_ptr + row * columns + column, result, mask=column < columns)
        if HOW != "no carry":
            carry = (carry + tl.sum(x, axis=0)).to(SUM)
        if HOW == "carry of the last":
            carry = tl.sum(x, axis=0)


@triton.jit
def requantise_kernel(x_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """Rounded to 255 steps of the row's greatest magnitude, and back."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(x), axis=0) / 127
    if HOW == "by 128":
        scale = tl.max(tl.abs(x), axis=0) / 128
    if HOW == "half scale":
        scale = scale.to(tl.float16).to(tl.float32)
    steps = tl.floor(x / scale + 0.5)
    if HOW == "truncated":
        steps = (x / scale).to(tl.int32).to(tl.float32)
    if HOW == "added":
        steps = (x / scale + 12582912.0) - 12582912.0
    if HOW == "clamped":
        steps = tl.minimum(steps, 126.0)
    tl.store(out_ptr + row * columns + column, steps * scale, mask=mask)


@triton.jit
def dequantise_kernel(x_ptr, scale_ptr, zero_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """(x - zero) * scale, of int8."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0)
    scale = tl.load(scale_ptr + row).to(tl.float32)
    zero = tl.load(zero_ptr + row)
    difference = x.to(tl.float32) - zero
    if HOW == "wraps":
        difference = (x - zero.to(tl.int8)).to(tl.float32)
    if HOW == "no zero":
        difference = x.to(tl.float32)
    result = difference * scale
    if HOW == "expanded":
        result = x.to(tl.float32) * scale - zero * scale
    if HOW == "expanded early":
        shift = (zero * scale).to(out_ptr.dtype.element_ty).to(tl.float32)
        result = x.to(tl.float32) * scale - shift
    tl.store(out_ptr + row * columns + column, result, mask=mask)


@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=-float("inf")).to(tl.float32)
    highest = tl.max(x, axis=0)
    result = highest + tl.log(tl.sum(tl.exp(x - highest), axis=0))
    if HOW == "exp2":
        total = tl.sum(tl.exp2((x - highest) * 1.4426950408889634), axis=0)
        result = highest + tl.log2(total) * 0.6931471805599453
    if HOW == "no maximum":
        result = tl.log(tl.sum(tl.exp(x), axis=0))
    if HOW == "zeros beyond":
        x = tl.where(mask, x, 0.0)
        result = highest + tl.log(tl.sum(tl.exp(x - highest), axis=0))
    if HOW == "maximum alone":
        result = highest
    tl.store(out_ptr + row, result)


@triton.jit
def row_max_kernel(x_ptr, out_ptr, columns, HOW: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    other = -float("inf")
    if HOW == "from zero":
        other = 0.0
    limit = columns
    if HOW == "off by one":
        limit = columns - 1
    x = tl.load(x_ptr + row * columns + column, mask=column < limit, other=other).to(tl.float32)
    tl.store(out_ptr + row, tl.max(x, axis=0))


@triton.jit
def rotary_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, HOW: tl.constexpr, HALF: tl.constexpr):
    """Pairs (x[i], x[i + HALF]) of each row turned by an angle."""
    row = tl.program_id(0)
    column = tl.arange(0, HALF)
    first = tl.load(x_ptr + row * 2 * HALF + column).to(tl.float32)
    second = tl.load(x_ptr + row * 2 * HALF + HALF + column).to(tl.float32)
    cosine = tl.load(cos_ptr + row * HALF + column).to(tl.float32)
    sine = tl.load(sin_ptr + row * HALF + column).to(tl.float32)
    if HOW == "half angle":
        cosine = cosine.to(tl.float16).to(tl.float32)
        sine = sine.to(tl.float16).to(tl.float32)
    if HOW == "stale row":
        cosine = tl.load(cos_ptr + (row - row % 2) * HALF + column).to(tl.float32)
    if HOW == "sign":
        sine = -sine
    left = first * cosine - second * sine
    right = second * cosine + first * sine
    if HOW == "early":
        dtype = out_ptr.dtype.element_ty
        left = (first * cosine).to(dtype).to(tl.float32) - (second * sine).to(dtype).to(tl.float32)
        right = (second * cosine).to(dtype).to(tl.float32) + (first * sine).to(dtype).to(tl.float32)
    tl.store(out_ptr + row * 2 * HALF + column, left)
    tl.store(out_ptr + row * 2 * HALF + HALF + column, right)
