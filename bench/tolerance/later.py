"""Operations that were written, and labelled, when the limits had been fixed."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
import triton

from bench.tolerance import later_kernels as k
from bench.tolerance.trial import (
    ALL,
    FLOAT32,
    HALVES,
    WIDE,
    Inputs,
    Launch,
    Operation,
    flat,
    randn,
    right,
    rows_of,
    wide,
    wrong,
)  # fmt: skip

_LOG_SOFTMAX = Operation(
    "log softmax",
    lambda: [randn(40, 700, scale=2)],
    lambda x: x.log_softmax(-1),
    rows_of(k.log_softmax_kernel),
    [
        right("subtracted", SUM=FLOAT32),
        right("log of softmax", SUM=FLOAT32),
        right("no maximum", SUM=FLOAT32),
        wrong("base 2", SUM=FLOAT32),
        wrong("narrow sum", narrow="SUM"),
    ],
)
_LOG_SOFTMAX_LARGE = Operation(
    "log softmax of large logits",
    lambda: [randn(40, 700, scale=40)],
    lambda x: x.log_softmax(-1),
    rows_of(k.log_softmax_kernel),
    [
        right("subtracted", SUM=FLOAT32),
        wrong("log of softmax", SUM=FLOAT32),
        wrong("no maximum", SUM=FLOAT32),
    ],
)


def _group_norm(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    samples, channels, length = out.shape
    sizes = (_GROUPS, channels // _GROUPS, length, 1e-5)
    return Launch(k.group_norm_kernel, (samples * _GROUPS,), (*inputs, out, *sizes), {"BLOCK": 512, **constants})


_GROUPS = 4
_GROUP_NORM = Operation(
    "group norm",
    lambda: [randn(6, 16, 100, scale=3, shift=1), randn(16, scale=0.2, shift=1), randn(16)],
    lambda x, weight, bias: F.group_norm(x, _GROUPS, weight, bias, 1e-5),
    _group_norm,
    [right("two passes"), right("expanded"), wrong("sample"), wrong("first channel"), wrong("swapped")],
)


def _convolution(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    rows, length = out.shape
    own = {"TAPS": inputs[1].shape[1], "BLOCK": triton.next_power_of_2(length), **constants}
    return Launch(k.convolution_kernel, (rows,), (*inputs, out, length), own)


_CONVOLUTION = Operation(
    "convolution",
    lambda: [randn(48, 500), randn(48, 7)],
    lambda x, weight: F.conv1d(x[None], weight[:, None], padding=3, groups=len(x))[0],
    _convolution,
    [
        right("taps", SUM=FLOAT32),
        wrong("clamped", SUM=FLOAT32),
        wrong("reversed", SUM=FLOAT32),
        wrong("narrow sum of 7", narrow="SUM"),
    ],
)


def _norm_gradient(x: torch.Tensor, dy: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    leaf = x.detach().clone().requires_grad_()
    F.layer_norm(leaf, x.shape[-1:], weight, None, 1e-5).backward(dy)
    assert leaf.grad is not None
    return leaf.grad


_LAYER_NORM_BACKWARD = Operation(
    "layer norm backward",
    lambda: [randn(48, 300), randn(48, 300), randn(300, scale=0.3, shift=1)],
    _norm_gradient,
    rows_of(k.layer_norm_backward_kernel, 1e-5),
    [right("float32"), wrong("narrow", WIDE), wrong("no mean"), wrong("no projection"), wrong("unweighted")],
)
_NORM = Operation(
    "length of a row",
    lambda: [randn(300, 900, scale=12)],
    lambda x: torch.linalg.vector_norm(x, dim=-1),
    rows_of(k.norm_kernel, block=128),
    [
        right("lanes", SUM=FLOAT32),
        right("scaled", SUM=FLOAT32),
        wrong("narrow lanes of 8", narrow="SUM"),
        wrong("sum of magnitudes", SUM=FLOAT32),
    ],
)
_NORM_LARGE = Operation(
    "length of a row of large numbers",
    lambda: [randn(300, 900, scale=1e3)],
    lambda x: torch.linalg.vector_norm(x, dim=-1),
    rows_of(k.norm_kernel, block=128),
    [right("lanes", SUM=FLOAT32), wrong("narrow lanes of 8", narrow="SUM")],
)
_SOFTPLUS = Operation(
    "softplus",
    lambda: [randn(20_000, scale=3)],
    F.softplus,
    flat(k.pointwise_kernel),
    [right("softplus"), right("softplus, plain"), wrong("relu"), wrong("softplus, half of them")],
)
_SOFTPLUS_FAR = Operation(
    "softplus of large numbers",
    lambda: [randn(20_000, scale=60)],
    F.softplus,
    flat(k.pointwise_kernel),
    [right("softplus"), wrong("softplus, plain")],
)
_GELU_TANH = Operation(
    "gelu, by tanh",
    lambda: [randn(20_000, scale=1.5)],
    lambda x: F.gelu(x, approximate="tanh"),
    flat(k.pointwise_kernel),
    [right("gelu by tanh"), wrong("gelu by a short constant"), wrong("gelu by erf")],
)
_RSQRT = Operation(
    "1 / sqrt(|x| + 0.5)",
    lambda: [randn(20_000, scale=2)],
    lambda x: (wide(x).abs() + 0.5).rsqrt().to(x.dtype),
    flat(k.pointwise_kernel),
    [
        right("rsqrt"),
        right("1 / sqrt"),
        right("rsqrt in 3 steps"),
        right("rsqrt in 2 steps", HALVES),
        wrong("rsqrt in 2 steps", WIDE),
        wrong("rsqrt in 1 step"),
    ],
)


def _gather(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    rows, columns = out.shape
    return Launch(k.gather_kernel, (rows,), (*inputs, out, columns), {"BLOCK": 128, **constants})


_GATHER = Operation(
    "rows of a table",
    lambda: [randn(50, 100), torch.randint(0, 49, (200,))],
    lambda table, index: table[index],
    _gather,
    [right("all"), wrong("next"), wrong("narrow", ("float32", "float16"))],
)


def _linear(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    rows, columns = out.shape
    grid = (triton.cdiv(rows, 32), triton.cdiv(columns, 32))
    own = {"BLOCK": 32, "PRECISION": "ieee", **constants}
    return Launch(k.linear_kernel, grid, (*inputs, out, rows, columns, inputs[0].shape[1]), own)


_LINEAR = Operation(
    "linear and relu",
    lambda: [randn(70, 200), randn(90, 200, scale=0.1), randn(90)],
    lambda x, weight, bias: F.linear(x, weight, bias).relu(),
    _linear,
    [
        right("blocks", SUM=FLOAT32),
        right("tf32 in three", WIDE, SUM=FLOAT32, PRECISION="tf32x3"),
        wrong("tf32", WIDE, SUM=FLOAT32, PRECISION="tf32"),
        wrong("overlapping", SUM=FLOAT32),
        wrong("bias of the first", SUM=FLOAT32),
        wrong("bias twice", SUM=FLOAT32),
        wrong("no relu", SUM=FLOAT32),
        wrong("narrow sum of 7", narrow="SUM"),
    ],
)


def _column_mean(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    rows, columns = inputs[0].shape
    own = {"BLOCK": 128, **constants}
    return Launch(k.column_mean_kernel, (triton.cdiv(columns, 128),), (*inputs, out, rows, columns), own)


_COLUMN_MEAN = Operation(
    "mean of a column",
    lambda: [randn(130, 1000, shift=0.3)],
    lambda x: x.mean(0),
    _column_mean,
    [
        right("sum", SUM=FLOAT32),
        right("running", SUM=FLOAT32),
        wrong("one less", SUM=FLOAT32),
        wrong("not the first", SUM=FLOAT32),
        wrong("narrow sum of 130", narrow="SUM"),
    ],
)


def _divergence(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    p, q = wide(p).log_softmax(-1), wide(q).log_softmax(-1)
    return (p.exp() * (p - q)).sum(-1)


_DIVERGENCE = Operation(
    "divergence",
    lambda: [randn(200, 300), randn(200, 300)],
    lambda p, q: _divergence(p, q).to(p.dtype),
    rows_of(k.divergence_kernel),
    [right("float32"), right("logarithms of shares"), wrong("other way"), wrong("narrow", WIDE)],
)
_ARGMAX = Operation(
    "argmax",
    lambda: [randn(300, 100, scale=2).round()],
    lambda x: x.argmax(-1),
    rows_of(k.argmax_kernel),
    [right("first"), right("built in"), wrong("last"), wrong("from one")],
)


def _quantised(x: torch.Tensor) -> torch.Tensor:
    scale = wide(x).abs().amax(-1, keepdim=True) / 127
    return (wide(x) / scale).round().to(torch.int8)


_QUANTISE = Operation(
    "quantised",
    lambda: [randn(64, 500)],
    _quantised,
    rows_of(k.quantise_kernel),
    [
        right("nearest"),
        right("inverse"),
        wrong("half scale", ALL),
        wrong("truncated"),
        wrong("first scale"),
    ],
)

OPERATIONS = (
    _LOG_SOFTMAX, _LOG_SOFTMAX_LARGE, _GROUP_NORM, _CONVOLUTION, _LAYER_NORM_BACKWARD, _NORM, _NORM_LARGE, _SOFTPLUS,
    _SOFTPLUS_FAR, _GELU_TANH, _RSQRT, _GATHER, _LINEAR, _COLUMN_MEAN, _DIVERGENCE, _ARGMAX, _QUANTISE,
)  # fmt: skip
