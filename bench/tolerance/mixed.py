"""Operations of kernels in mixed precision, written when what is rounded on the way had become no fault."""

from __future__ import annotations

import math
from typing import Any

import torch
import triton

from bench.tolerance import mixed_kernels as k
from bench.tolerance.first import attended, attention
from bench.tolerance.trial import (
    FLOAT32,
    WIDE,
    Inputs,
    Launch,
    Operation,
    randn,
    right,
    rows_of,
    wide,
    wrong,
)


def _scores(q: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return wide(q) @ wide(key).transpose(-1, -2) / math.sqrt(q.shape[-1])


def _attended_wide(q: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return (_scores(q, key).softmax(-1) @ wide(value)).to(q.dtype)


def _attended_in_double(q: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return _attended_wide(q.double(), key.double(), value.double()).to(q.dtype)


_WAYS = [
    right("as FlashAttention", SUM=FLOAT32),
    right("wide p", SUM=FLOAT32),
    right("blocks of 64", SUM=FLOAT32, BLOCK=64),
    wrong("narrow sum of 13", narrow="SUM"),
    wrong("narrow sum of 4", narrow="SUM", BLOCK=64),
    wrong("tf32", WIDE, SUM=FLOAT32),
    wrong("bfloat16 p", ("float32", "float16"), SUM=FLOAT32),
    wrong("not rescaled", SUM=FLOAT32),
    wrong("keys beyond", SUM=FLOAT32),
    wrong("scale of the wrong size", SUM=FLOAT32, scale=1 / math.sqrt(33)),
]
_WIDE_ATTENTION = Operation("upcast attention", attended(200), _attended_wide, attention(is_causal=False), _WAYS)
_DOUBLE_ATTENTION = Operation(
    "upcast attention, in float64", attended(200), _attended_in_double, attention(is_causal=False), _WAYS
)


def _logsumexp(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    heads, length, head = inputs[0].shape
    own = {"BLOCK": 16, "HEAD": head, **constants}
    grid = (triton.cdiv(length, own["BLOCK"]), heads)
    return Launch(k.logsumexp_of_scores_kernel, grid, (*inputs, out, 1 / math.sqrt(head), length), own)


_LOGSUMEXP = Operation(
    "stored logsumexp",
    lambda: attended(200)()[:2],
    lambda q, key: _scores(q, key).logsumexp(-1),
    _logsumexp,
    [
        right("natural"),
        right("base 2"),
        wrong("not converted"),
        wrong("not rescaled"),
        wrong("last block"),
        wrong("scores early"),
        wrong("stored narrow"),
    ],
)


def _masked(x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
    hidden = torch.arange(x.shape[1]) >= seen[:, None]
    return wide(x).masked_fill(hidden, -math.inf).softmax(-1).to(x.dtype)


_MASKED = Operation(
    "rows that see nothing",
    lambda: [randn(60, 200), torch.arange(60) % 20 * 10 % 197],
    _masked,
    rows_of(k.masked_softmax_kernel),
    [
        right("zeros"),
        right("NaN"),
        wrong("scale"),
        wrong("one more"),
        wrong("few are none"),
        wrong("NaN of few"),
    ],
)


def _in_8_bits(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    scaled = wide(x) / wide(scale)[:, None]
    return scaled if x.dtype == torch.float64 else scaled.to(torch.float8_e4m3fn)


def _scaled() -> Inputs:
    x = randn(64, 500) * torch.logspace(-1, 1, 64, dtype=torch.float64)[:, None]
    return [x, x.abs().amax(-1) / 448]


_QUANTISED = Operation(
    "quantised to 8 bits",
    _scaled,
    _in_8_bits,
    rows_of(k.quantise_to_8_bits_kernel),
    [
        right("division"),
        right("inverse"),
        wrong("scale of the first"),
        wrong("twice"),
        wrong("lost"),
        wrong("truncated"),
    ],
)

OPERATIONS = (_WIDE_ATTENTION, _DOUBLE_ATTENTION, _LOGSUMEXP, _MASKED, _QUANTISED)
