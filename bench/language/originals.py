# ruff: noqa: SIM108 - statements are what mutants are made of
"""Correct kernels of many kinds, from which mutants are made; TYPES and CONSTANTS say what each is compiled for."""

import triton
import triton.language as tl

TYPES = {
    "x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "h_ptr": "*fp16", "g_ptr": "*fp16", "o_ptr": "*fp16",
    "b_ptr": "*bf16", "i_ptr": "*i32", "j_ptr": "*i32", "l_ptr": "*i64", "c_ptr": "*i8", "m_ptr": "*i1",
    "n": "i32", "rows": "i32", "cols": "i32", "stride": "i32", "eps": "fp32", "scale": "fp32",
}  # fmt: skip
CONSTANTS = {
    "BLOCK": 64, "M": 16, "N": 32, "K": 32, "STEPS": 3, "HAS_BIAS": True, "CAUSAL": False, "MODE": "sum",
    "DTYPE": tl.float32, "GROUP": 4,
}  # fmt: skip


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax(h_ptr, o_ptr, stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    index = tl.arange(0, BLOCK)
    inside = index < cols
    x = tl.load(h_ptr + row * stride + index, mask=inside, other=-float("inf")).to(tl.float32)
    shifted = x - tl.max(x, axis=0)
    numerator = tl.exp(shifted)
    total = tl.sum(numerator, axis=0)
    tl.store(o_ptr + row * stride + index, (numerator / total).to(tl.float16), mask=inside)


@triton.jit
def matmul(h_ptr, g_ptr, o_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, n, K):
        a = tl.load(h_ptr + rows[:, None] * n + (k + inner)[None, :])
        b = tl.load(g_ptr + (k + inner)[:, None] * n + columns[None, :])
        acc += tl.dot(a, b)
    tl.store(o_ptr + rows[:, None] * n + columns[None, :], acc.to(tl.float16))


@triton.jit
def norm(b_ptr, x_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr):
    row = tl.program_id(0)
    mean = 0.0
    index = tl.arange(0, BLOCK)
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        x = tl.load(b_ptr + row * cols + start + index, mask=start + index < cols, other=0.0).to(tl.float32)
        squares += x * x
        mean += tl.sum(x, 0)
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / cols + eps)
    if HAS_BIAS:
        bias = tl.load(x_ptr + row)
    else:
        bias = 0.0
    tl.store(out_ptr + row, mean * rstd + bias)


@triton.jit
def gather(x_ptr, i_ptr, l_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (offsets < n) & (offsets >= 0)
    index = tl.load(i_ptr + offsets, mask=mask, other=0)
    base = tl.load(l_ptr + tl.program_id(0))
    picked = tl.load(x_ptr + base + index, mask=mask & (index > -1))
    tl.store(out_ptr + offsets, tl.where(index % 2 == 0, picked, -picked), mask=mask)


@triton.jit
def histogram(i_ptr, j_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(i_ptr + offsets, mask=offsets < n, other=0)
    even = (values & 1) == 0
    tl.atomic_add(j_ptr + values // 4, 1, mask=offsets < n)
    count = tl.sum(even.to(tl.int32), 0)
    if count > 3:
        tl.atomic_max(j_ptr, count)


@triton.jit
def activate(x, scale, MODE: tl.constexpr):
    if MODE == "sum":
        y = x + scale
    else:
        y = x * scale
    return tl.maximum(y, 0.0)


@triton.jit
def fused(x_ptr, h_ptr, out_ptr, scale, n, BLOCK: tl.constexpr, MODE: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    gate = tl.sigmoid(tl.load(h_ptr + offsets).to(tl.float32))
    y = activate(x, scale, MODE)
    tl.store(out_ptr + offsets, activate(y * gate, 2.0, MODE))


@triton.jit
def transpose(c_ptr, j_ptr, rows, cols, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    mask = (i[:, None] < rows) & (j[None, :] < cols)
    x = tl.load(c_ptr + i[:, None] * cols + j[None, :], mask=mask, other=0)
    y = tl.trans(x).to(tl.int32)
    tl.store(j_ptr + j[:, None] * rows + i[None, :], y, mask=(j[:, None] < cols) & (i[None, :] < rows))


@triton.jit
def search(i_ptr, j_ptr, n):
    key = tl.program_id(0)
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if tl.load(i_ptr + middle) < key:
            low = middle + 1
        else:
            high = middle
    found = low if low < n else -1
    tl.store(j_ptr + key, found)


@triton.jit
def attention(h_ptr, g_ptr, b_ptr, out_ptr, n, scale, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
              CAUSAL: tl.constexpr):  # fmt: skip
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, K)
    q = tl.load(h_ptr + rows[:, None] * K + inner[None, :])
    peak = tl.full((M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((M,), dtype=tl.float32)
    acc = tl.zeros((M, K), dtype=tl.float32)
    for start in tl.range(0, n, N):
        k = tl.load(g_ptr + (start + columns)[:, None] * K + inner[None, :])
        scores = tl.dot(q, tl.trans(k)) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= (start + columns)[None, :], scores, -float("inf"))
        new_peak = tl.maximum(peak, tl.max(scores, 1))
        factor = tl.exp2(peak - new_peak)
        p = tl.exp2(scores - new_peak[:, None])
        total = total * factor + tl.sum(p, 1)
        v = tl.load(b_ptr + (start + columns)[:, None] * K + inner[None, :])
        acc = acc * factor[:, None] + tl.dot(p.to(v.dtype), v)
        peak = new_peak
    tl.store(out_ptr + rows[:, None] * K + inner[None, :], acc / total[:, None])


@triton.jit
def scan(x_ptr, out_ptr, n, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    carry = tl.zeros((), dtype=tl.float32)
    for step in tl.static_range(STEPS):
        x = tl.load(x_ptr + step * BLOCK + offsets, mask=step * BLOCK + offsets < n, other=0.0)
        running = tl.cumsum(x, 0) + carry
        carry += tl.sum(x, 0)
        tl.store(out_ptr + step * BLOCK + offsets, running, mask=step * BLOCK + offsets < n)


@triton.jit
def rotate(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    HALF: tl.constexpr = BLOCK // 2
    index = tl.arange(0, HALF)
    first = tl.load(x_ptr + index)
    second = tl.load(x_ptr + HALF + index)
    angle = tl.load(y_ptr + index % GROUP)
    cosine, sine = tl.cos(angle), tl.sin(angle)
    both = tl.join(first * cosine - second * sine, second * cosine + first * sine)
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.reshape(both, (BLOCK,)))


@triton.jit
def quantize(x_ptr, c_ptr, out_ptr, n, BLOCK: tl.constexpr, DTYPE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(DTYPE)
    largest = tl.max(tl.abs(x), 0)
    step = largest / 127.0
    q = tl.floor(x / step + 0.5)
    tl.store(c_ptr + offsets, tl.clamp(q, -127.0, 127.0).to(tl.int8), mask=offsets < n)
    tl.store(out_ptr + tl.program_id(0), step)
