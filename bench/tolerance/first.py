"""The operations on whose kernels the limits were chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
import triton

from bench.tolerance import kernels as k
from bench.tolerance.trial import (
    ALL,
    FLOAT32,
    HALVES,
    WIDE,
    Inputs,
    Launch,
    Operation,
    Way,
    flat,
    randn,
    right,
    rows_of,
    wide,
    wrong,
)

# -- element by element --------------------------------------------------------------------------------------------


_CHAIN = Operation(
    "silu(x) * y + b",
    lambda: [randn(20_000, scale=2), randn(20_000), randn(20_000)],
    lambda x, y, b: F.silu(x) * y + b,
    flat(k.chain_kernel),
    [
        right("division"),
        right("exp2"),
        right("sigmoid"),
        right("fused"),
        wrong("tail"),
        wrong("off by one"),
        wrong("short log2(e)"),
        wrong("hard sigmoid"),
        wrong("narrow", WIDE),
        wrong("sign"),
        wrong("scale"),
        wrong("one in a hundred"),
        wrong("one element"),
        wrong("truncated", ("float32",)),
    ],
)
_SILU_WIDE = Operation(
    "silu(x) * y + b, fused in PyTorch",
    lambda: [randn(20_000, scale=2), randn(20_000), randn(20_000)],
    lambda x, y, b: (F.silu(wide(x)) * wide(y) + wide(b)).to(x.dtype),
    flat(k.chain_kernel),
    [
        right("division", HALVES),
        right("exp2", HALVES),
        wrong("truncated", ("bfloat16",)),
        wrong("scale"),
        wrong("short log2(e)"),
        wrong("narrow", ("float32", "float16")),
    ],
)
_GELU = Operation(
    "gelu",
    lambda: [randn(20_000, scale=2)],
    F.gelu,
    flat(k.gelu_kernel),
    [
        right("erf"),
        right("half of x after"),
        wrong("tanh"),
        wrong("sigmoid"),
        wrong("all in half", ("float32", "float16")),
    ],
)
_TANH = Operation(
    "tanh",
    lambda: [randn(20_000)],
    torch.tanh,
    flat(k.tanh_kernel),
    [
        right("sigmoid"),
        right("exp of -2|x|"),
        right("exp of 2x"),
        wrong("rational"),
        wrong("series", ("float32", "float16")),
    ],
)
_TANH_FAR = Operation(
    "tanh of large numbers",
    lambda: [randn(20_000, scale=30)],
    torch.tanh,
    flat(k.tanh_kernel),
    [right("sigmoid"), right("exp of -2|x|"), wrong("exp of 2x")],
)


# -- row by row ----------------------------------------------------------------------------------------------------


def _softmax(x: torch.Tensor) -> torch.Tensor:
    return x.softmax(-1)


_SOFTMAX = Operation(
    "softmax",
    lambda: [randn(32, 1000)],
    _softmax,
    rows_of(k.softmax_kernel, height=True),
    [
        right("division"),
        right("reciprocal"),
        right("exp2"),
        right("no maximum"),
        wrong("tail"),
        wrong("off by one"),
        wrong("stale row"),
        wrong("zeros beyond"),
        wrong("early", HALVES),
        wrong("half", WIDE),
        wrong("scale"),
        wrong("mean"),
    ],
)
_SOFTMAX_LARGE = Operation(
    "softmax of large logits",
    lambda: [randn(32, 1000, scale=20, shift=60)],
    _softmax,
    rows_of(k.softmax_kernel, height=True),
    [right("division"), right("exp2"), wrong("no maximum"), wrong("stale row"), wrong("scale")],
)
_SOFTMAX_ONLINE = Operation(
    "softmax in blocks",
    lambda: [randn(32, 4000)],
    _softmax,
    rows_of(k.online_softmax_kernel, block=64),
    [
        right("online", SUM=FLOAT32),
        right("online, 4 blocks", SUM=FLOAT32, BLOCK=1024),
        wrong("narrow sum of 63", narrow="SUM"),
        wrong("narrow sum of 4", narrow="SUM", BLOCK=1024),
        wrong("last block", SUM=FLOAT32),
        wrong("not rescaled", SUM=FLOAT32),
    ],
)


def _layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], weight, bias, 1e-5)


def _normed(columns: int, rows: int = 48, **more: float) -> Callable[[], Inputs]:
    return lambda: [randn(rows, columns, **more), randn(columns, scale=0.3, shift=1), randn(columns)]


_LAYER_NORM = Operation(
    "layer norm",
    _normed(1000),
    _layer_norm,
    rows_of(k.layer_norm_kernel, 1e-5),
    [
        right("two passes"),
        right("one pass"),
        right("rsqrt"),
        right("welford", kernel=k.welford_kernel, BLOCK=128),
        wrong("old mean", kernel=k.welford_kernel, BLOCK=128),
        wrong("padded count"),
        wrong("early", HALVES),
        wrong("half rstd", ("float32", "float16")),
        wrong("half mean", WIDE),
        wrong("no bias"),
    ],
)
_LAYER_NORM_SHORT = Operation(
    "layer norm of 100",
    _normed(100, rows=200, shift=0.5),
    _layer_norm,
    rows_of(k.layer_norm_kernel, 1e-5),
    [right("two passes"), right("one pass"), wrong("unbiased"), wrong("padding counted")],
)
_LAYER_NORM_SMALL = Operation(
    "layer norm of small numbers",
    _normed(300, scale=0.02),
    _layer_norm,
    rows_of(k.layer_norm_kernel, 1e-5),
    [right("two passes"), wrong("eps outside")],
)
_LAYER_NORM_EPS = Operation(
    "layer norm with another eps",
    _normed(300, scale=0.3),
    _layer_norm,
    rows_of(k.layer_norm_kernel, 1e-3),
    [wrong("two passes")],
)
_LAYER_NORM_EPS_AT_ONE = Operation(
    "layer norm with another eps, of a variance of 1",
    _normed(300),
    _layer_norm,
    rows_of(k.layer_norm_kernel, 1e-3),
    [wrong("two passes", ("float32", "float16"))],
)
_LAYER_NORM_FAR = Operation(
    "layer norm around 300",
    _normed(1000, shift=300, scale=1),
    _layer_norm,
    rows_of(k.layer_norm_kernel, 1e-5),
    [
        right("two passes"),
        right("welford", kernel=k.welford_kernel, BLOCK=128),
        wrong("one pass", WIDE),
        wrong("padding counted"),
    ],
)
_RMS_NORM = Operation(
    "rms norm",
    lambda: [randn(48, 1000, scale=100, shift=30), randn(1000, scale=0.3, shift=1)],
    lambda x, weight: F.rms_norm(x, x.shape[-1:], weight, 1e-6),
    rows_of(k.rms_norm_kernel, 1e-6),
    [
        right("rsqrt"),
        right("weight first"),
        wrong("half squares"),
        wrong("centred"),
        wrong("stale weight"),
    ],
)


# -- one number of a row -------------------------------------------------------------------------------------------


def _sum(x: torch.Tensor) -> torch.Tensor:
    return x.sum(-1)


_ROW_SUM = Operation(
    "sum of a row",
    lambda: [randn(400, 3000, shift=0.1)],
    _sum,
    rows_of(k.row_sum_kernel, block=256),
    [
        right("lanes", SUM=FLOAT32),
        right("at once", SUM=FLOAT32, BLOCK=4096),
        right("kahan", SUM=FLOAT32),
        wrong("narrow lanes of 12", narrow="SUM"),
        wrong("narrow lanes of 3", narrow="SUM", BLOCK=1024),
        wrong("narrow partial", SUM=FLOAT32),
        wrong("tail", SUM=FLOAT32),
        wrong("first element", SUM=FLOAT32),
    ],
)


def _in_order(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    rows, columns = inputs[0].shape
    return Launch(k.sequential_sum_kernel, (rows,), (*inputs, out, columns), constants)


_SEQUENTIAL = Operation(
    "sum of a row, in order",
    lambda: [randn(400, 500, shift=0.5)],
    _sum,
    _in_order,
    [
        Way("float32", True, ALL, {"SUM": FLOAT32}),
        Way("narrow", False, ALL, narrow="SUM"),
    ],
)
_LONG_SUM = Operation(
    "sum of a million",
    lambda: [randn(1, 1 << 20, shift=0.01)],
    _sum,
    rows_of(k.row_sum_kernel, block=1024),
    [
        right("lanes", SUM=FLOAT32),
        wrong("narrow lanes", narrow="SUM"),
        wrong("first element", WIDE, SUM=FLOAT32),
    ],
)
_VARIANCE = Operation(
    "variance",
    lambda: [randn(400, 200)],
    lambda x: x.var(-1, unbiased=False),
    rows_of(k.variance_kernel),
    [
        right("two passes"),
        right("one pass"),
        right("shifted"),
        wrong("sample"),
    ],
)
_VARIANCE_FAR = Operation(
    "variance around 200",
    lambda: [randn(400, 200, shift=200)],
    lambda x: x.var(-1, unbiased=False),
    rows_of(k.variance_kernel),
    [right("two passes"), right("shifted"), wrong("one pass", WIDE), wrong("padding counted")],
)


def _cross_entropy(x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x, labels, reduction="none")


def _logits(scale: float) -> Inputs:
    return [randn(300, 1000, scale=scale), torch.randint(1, 1000, (300,))]


_CROSS_ENTROPY = Operation(
    "cross entropy",
    lambda: _logits(2),
    _cross_entropy,
    rows_of(k.cross_entropy_kernel, block=128),
    [
        right("blocks", SUM=FLOAT32),
        right("at once", SUM=FLOAT32, BLOCK=1024),
        right("log2", SUM=FLOAT32),
        wrong("narrow sum of 8", WIDE, narrow="SUM"),
        wrong("wrong base", SUM=FLOAT32),
        wrong("label off by one", SUM=FLOAT32),
        wrong("last block", SUM=FLOAT32),
        wrong("early", HALVES, SUM=FLOAT32),
    ],
)
_CROSS_ENTROPY_LARGE = Operation(
    "cross entropy of large logits",
    lambda: _logits(40),
    _cross_entropy,
    rows_of(k.cross_entropy_kernel, block=128),
    [right("blocks", SUM=FLOAT32), wrong("no maximum", SUM=FLOAT32)],
)
_LOGSUMEXP = Operation(
    "logsumexp",
    lambda: [randn(300, 700, scale=3, shift=-2)],
    lambda x: x.logsumexp(-1),
    rows_of(k.logsumexp_kernel),
    [right("exp"), right("exp2"), wrong("zeros beyond"), wrong("maximum alone")],
)
_ROW_MAX = Operation(
    "maximum of a row",
    lambda: [randn(300, 20, shift=-1)],
    lambda x: x.amax(-1),
    rows_of(k.row_max_kernel),
    [right("all"), wrong("from zero"), wrong("off by one")],
)


# -- products ------------------------------------------------------------------------------------------------------


def _matmul(kernel: Any, **defaults: Any) -> Callable[..., Launch]:
    def launch(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
        a, b = inputs
        own = {"BLOCK": 32, **defaults, **constants}
        grid = (triton.cdiv(a.shape[0], own["BLOCK"]), triton.cdiv(b.shape[1], own["BLOCK"]))
        return Launch(own.pop("kernel", kernel), grid, (a, b, out, a.shape[0], b.shape[1], a.shape[1]), own)

    return launch


def _product(inner: int) -> Callable[[], Inputs]:
    return lambda: [randn(100, inner), randn(inner, 80)]


_IEEE: dict[str, Any] = {"SUM": FLOAT32, "PRECISION": "ieee"}
_MATMUL = Operation(
    "matrix product",
    _product(500),
    torch.matmul,
    _matmul(k.matmul_kernel, BLOCK_K=16),
    [
        right("blocks", **_IEEE),
        right("blocks of 128", **_IEEE, BLOCK_K=128),
        right("tf32 in three", WIDE, SUM=FLOAT32, PRECISION="tf32x3"),
        wrong("narrow sum of 32", narrow="SUM", PRECISION="ieee"),
        wrong("narrow sum of 4", narrow="SUM", PRECISION="ieee", BLOCK_K=128),
        wrong("tf32", WIDE, SUM=FLOAT32, PRECISION="tf32"),
        wrong("bfloat16 inputs", ("float32", "float16"), **_IEEE),
        wrong("float16 inputs", WIDE, **_IEEE),
        wrong("last block", **_IEEE),
        wrong("off by one", **_IEEE),
        wrong("one tile", **_IEEE),
        wrong("scaled", **_IEEE),
        wrong("transposed tile", **_IEEE),
    ],
)
_MATMUL_LONG = Operation(
    "matrix product, long",
    lambda: [randn(32, 8192), randn(8192, 32)],
    torch.matmul,
    _matmul(k.matmul_kernel, BLOCK_K=64),
    [
        right("blocks", **_IEEE),
        wrong("narrow sum of 128", narrow="SUM", PRECISION="ieee"),
        wrong("narrow sum of 2", narrow="SUM", PRECISION="ieee", BLOCK_K=4096),
        wrong("last block", **_IEEE),
    ],
)
_MATMUL_SPLIT = Operation(
    "matrix product, split",
    _product(256),
    torch.matmul,
    _matmul(k.split_matmul_kernel, SPLITS=4),
    [
        right("in order", PART=FLOAT32),
        wrong("narrow parts", narrow="PART"),
        wrong("sum narrow", narrow="PART"),
        wrong("last twice", PART=FLOAT32),
    ],
)


def attention(is_causal: bool) -> Callable[..., Launch]:
    def launch(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
        heads, length, head = inputs[0].shape
        own = {"BLOCK": 16, "HEAD": head, "CAUSAL": is_causal, **constants}
        scale = own.pop("scale", 1 / math.sqrt(head))
        return Launch(
            k.attention_kernel, (triton.cdiv(length, own["BLOCK"]), heads), (*inputs, out, scale, length), own
        )

    return launch


def attended(length: int) -> Callable[[], Inputs]:
    return lambda: [randn(2, length, 32) for _ in range(3)]


_ATTENTION = Operation(
    "attention",
    attended(200),
    F.scaled_dot_product_attention,
    attention(False),
    [
        right("as FlashAttention", SUM=FLOAT32),
        right("wide p", SUM=FLOAT32),
        right("blocks of 64", SUM=FLOAT32, BLOCK=64),
        wrong("narrow sum of 13", narrow="SUM"),
        wrong("narrow sum of 4", narrow="SUM", BLOCK=64),
        wrong("tf32", WIDE, SUM=FLOAT32),
        wrong("bfloat16 p", ("float32", "float16"), SUM=FLOAT32),
        wrong("not rescaled", SUM=FLOAT32),
        wrong("keys beyond", SUM=FLOAT32),
        wrong("no scale", SUM=FLOAT32, scale=1.0),
        wrong("scores early", HALVES, SUM=FLOAT32),
    ],
)
_ATTENTION_CAUSAL = Operation(
    "attention, causal",
    attended(130),
    lambda q, key, value: F.scaled_dot_product_attention(q, key, value, is_causal=True),
    attention(True),
    [
        right("as FlashAttention", SUM=FLOAT32),
        right("wide p", SUM=FLOAT32),
        wrong("causal off by one", SUM=FLOAT32),
        wrong("scale of the wrong size", SUM=FLOAT32, scale=1 / math.sqrt(33)),
    ],
)


# -- running sums, quantised numbers, angles -----------------------------------------------------------------------

_CUMSUM = Operation(
    "cumsum",
    lambda: [randn(32, 1500)],
    lambda x: x.cumsum(-1),
    rows_of(k.cumsum_kernel, block=128),
    [
        right("blocks", SUM=FLOAT32),
        right("scan", SUM=FLOAT32),
        wrong("narrow carry of 12", narrow="SUM"),
        wrong("narrow carry of 3", narrow="SUM", BLOCK=512),
        wrong("exclusive", SUM=FLOAT32),
        wrong("no carry", SUM=FLOAT32),
        wrong("carry of the last", SUM=FLOAT32),
    ],
)


def _requantised(x: torch.Tensor) -> torch.Tensor:
    numbers = wide(x)
    scale = numbers.abs().amax(-1, keepdim=True) / 127
    return ((numbers / scale).round() * scale).to(x.dtype)


_REQUANTISE = Operation(
    "quantised and back",
    lambda: [randn(64, 500)],
    _requantised,
    rows_of(k.requantise_kernel),
    [
        right("floor"),
        right("added"),
        wrong("by 128"),
        wrong("half scale", WIDE),
        wrong("truncated"),
        wrong("clamped"),
    ],
)


def _dequantised(x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor) -> torch.Tensor:
    return ((x.to(wide(scale).dtype) - zero[:, None]) * wide(scale)[:, None]).to(scale.dtype)


_DEQUANTISE = Operation(
    "dequantised",
    lambda: [
        torch.randint(-128, 128, (64, 500), dtype=torch.int8),
        torch.rand(64, dtype=torch.float64) * 0.1 + 0.01,
        torch.randint(-40, 40, (64,), dtype=torch.int32),
    ],
    _dequantised,
    rows_of(k.dequantise_kernel),
    [
        right("difference"),
        right("expanded"),
        wrong("wraps"),
        wrong("no zero"),
        wrong("expanded early", HALVES),
    ],
)


def _turned(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    first, second = wide(x).chunk(2, -1)
    cosine, sine = wide(cosine), wide(sine)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1).to(x.dtype)


def _angles() -> Inputs:
    angle = torch.arange(100, dtype=torch.float64)[:, None] * 10_000 ** (-torch.arange(32, dtype=torch.float64) / 32)
    return [randn(100, 64), angle.cos(), angle.sin()]


def _rotary(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    return Launch(k.rotary_kernel, (len(out),), (*inputs, out), {"HALF": out.shape[1] // 2, **constants})


_ROTARY = Operation(
    "rotary",
    _angles,
    _turned,
    _rotary,
    [
        right("float32"),
        wrong("half angle", WIDE),
        wrong("stale row"),
        wrong("sign"),
        wrong("early", HALVES),
    ],
)

OPERATIONS = (
    _CHAIN, _SILU_WIDE, _GELU, _TANH, _TANH_FAR, _SOFTMAX, _SOFTMAX_LARGE, _SOFTMAX_ONLINE, _LAYER_NORM,
    _LAYER_NORM_SHORT, _LAYER_NORM_SMALL, _LAYER_NORM_EPS, _LAYER_NORM_EPS_AT_ONE, _LAYER_NORM_FAR, _RMS_NORM,
    _ROW_SUM, _SEQUENTIAL, _LONG_SUM, _VARIANCE, _VARIANCE_FAR, _CROSS_ENTROPY, _CROSS_ENTROPY_LARGE, _LOGSUMEXP,
    _ROW_MAX, _MATMUL, _MATMUL_LONG, _MATMUL_SPLIT, _ATTENTION, _ATTENTION_CAUSAL, _CUMSUM, _REQUANTISE, _DEQUANTISE,
    _ROTARY,
)  # fmt: skip
