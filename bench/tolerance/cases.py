"""What is tried: operations, and ways to compute them, each labelled by what it does and not by how it scores.

A way is right if all its steps are in float32 (or in a number as wide as PyTorch's own step), over all elements and with
no step that loses digits on these inputs. It is wrong if it leaves something out, computes something else, overflows,
or rounds between its steps to fewer digits than PyTorch does. Ways whose fault is below a rounding of the dtype by
construction (a constant of five digits in bfloat16) are not tried there.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
import torch.nn.functional as F
import triton

from bench.tolerance import kernels as k

ALL = ("float32", "float16", "bfloat16")
HALVES = ("float16", "bfloat16")
WIDE = ("float32",)
Inputs = Sequence[torch.Tensor]


class Part(Enum):
    """What a kernel was to our limits."""

    CHOSEN_ON = "the half on which limits were chosen"
    HELD_BACK = "the half held back"
    LATER = "added when the limits were fixed"


@dataclass(frozen=True)
class Launch:
    kernel: Any
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    constants: Mapping[str, Any]


@dataclass(frozen=True)
class Way:
    """How an operation is computed: the kernel's constants, and in which dtypes it is tried.

    `narrow` is the kernel's sum in half precision: in the dtype itself, or in float16 beside float32.
    """

    name: str
    is_right: bool
    dtypes: tuple[str, ...] = ALL
    constants: Mapping[str, Any] = field(default_factory=dict)
    kernel: Any = None
    narrow: str = ""

    def constants_for(self, dtype: str) -> dict[str, Any]:
        """The constants, the kernel among them if it is not the operation's."""
        width = {"float32": "float16"}.get(dtype, dtype)
        own = {"kernel": self.kernel} if self.kernel is not None else {}
        return {**self.constants, **own, **({self.narrow: k.WIDTHS[width]} if self.narrow else {})}


@dataclass(frozen=True)
class Operation:
    """Inputs in float64, which are rounded to the dtype unless they are integers, and what is wanted of them."""

    name: str
    inputs: Callable[[], Inputs]
    reference: Callable[..., torch.Tensor]
    launch: Callable[[Inputs, torch.Tensor, dict[str, Any]], Launch]
    ways: Sequence[Way]
    is_later: bool = False


@dataclass(frozen=True)
class Trial:
    """One kernel in one dtype."""

    operation: Operation
    way: Way
    dtype: str

    @property
    def kernel_name(self) -> str:
        return f"{self.operation.name}: {self.way.name}"

    @property
    def part(self) -> Part:
        """Decided by the kernel's name, whatever the dtype."""
        if self.operation.is_later:
            return Part.LATER
        is_even = hashlib.sha256(self.kernel_name.encode()).digest()[0] % 2 == 0
        return Part.CHOSEN_ON if is_even else Part.HELD_BACK

    def inputs(self) -> Inputs:
        torch.manual_seed(0)
        dtype = getattr(torch, self.dtype)
        return [one.to(dtype) if one.is_floating_point() else one for one in self.operation.inputs()]


def trials() -> Iterator[Trial]:
    for operation in OPERATIONS:
        for way in operation.ways:
            for dtype in way.dtypes:
                yield Trial(operation, way, dtype)


def _right(name: str, dtypes: tuple[str, ...] = ALL, **more: Any) -> Way:
    return _way(name, True, dtypes, more)


def _wrong(name: str, dtypes: tuple[str, ...] = ALL, **more: Any) -> Way:
    return _way(name, False, dtypes, more)


def _way(name: str, is_right: bool, dtypes: tuple[str, ...], more: dict[str, Any]) -> Way:
    own = {key: more.pop(key) for key in ("kernel", "narrow") if key in more}
    return Way(name, is_right, dtypes, {"HOW": name, **more}, **own)


def _randn(*shape: int, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64) * scale + shift


# -- element by element --------------------------------------------------------------------------------------------


def _flat(kernel: Any) -> Callable[[Inputs, torch.Tensor, dict[str, Any]], Launch]:
    def launch(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
        return Launch(
            kernel, (triton.cdiv(out.numel(), 1024),), (*inputs, out, out.numel()), {"BLOCK": 1024, **constants}
        )

    return launch


_CHAIN = Operation(
    "silu(x) * y + b",
    lambda: [_randn(20_000, scale=2), _randn(20_000), _randn(20_000)],
    lambda x, y, b: F.silu(x) * y + b,
    _flat(k.chain_kernel),
    [
        _right("division"),
        _right("exp2"),
        _right("sigmoid"),
        _right("fused"),
        _wrong("tail"),
        _wrong("off by one"),
        _wrong("short log2(e)"),
        _wrong("hard sigmoid"),
        _wrong("narrow", WIDE),
        _wrong("sign"),
        _wrong("scale"),
        _wrong("one in a hundred"),
        _wrong("one element"),
        _wrong("truncated", ("float32",)),
    ],
)
_SILU_WIDE = Operation(
    "silu(x) * y + b, fused in PyTorch",
    lambda: [_randn(20_000, scale=2), _randn(20_000), _randn(20_000)],
    lambda x, y, b: (F.silu(_wide(x)) * _wide(y) + _wide(b)).to(x.dtype),
    _flat(k.chain_kernel),
    [
        _right("division", HALVES),
        _right("exp2", HALVES),
        _wrong("truncated", ("bfloat16",)),
        _wrong("scale"),
        _wrong("short log2(e)"),
        _wrong("narrow", ("float32", "float16")),
    ],
)
_GELU = Operation(
    "gelu",
    lambda: [_randn(20_000, scale=2)],
    F.gelu,
    _flat(k.gelu_kernel),
    [
        _right("erf"),
        _right("half of x after"),
        _wrong("tanh"),
        _wrong("sigmoid"),
        _wrong("all in half", ("float32", "float16")),
    ],
)
_TANH = Operation(
    "tanh",
    lambda: [_randn(20_000)],
    torch.tanh,
    _flat(k.tanh_kernel),
    [
        _right("sigmoid"),
        _right("exp of -2|x|"),
        _right("exp of 2x"),
        _wrong("rational"),
        _wrong("series", ("float32", "float16")),
    ],
)
_TANH_FAR = Operation(
    "tanh of large numbers",
    lambda: [_randn(20_000, scale=30)],
    torch.tanh,
    _flat(k.tanh_kernel),
    [_right("sigmoid"), _right("exp of -2|x|"), _wrong("exp of 2x")],
)


# -- row by row ----------------------------------------------------------------------------------------------------


def _rows(kernel: Any, *scalars: Any, block: int = 0, height: bool = False) -> Callable[..., Launch]:
    def launch(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
        rows, columns = inputs[0].shape
        sizes = (rows, columns) if height else (columns,)
        own = {"BLOCK": block or triton.next_power_of_2(columns), **constants}
        return Launch(own.pop("kernel", kernel), (rows,), (*inputs, out, *sizes, *scalars), own)

    return launch


def _softmax(x: torch.Tensor) -> torch.Tensor:
    return x.softmax(-1)


_SOFTMAX = Operation(
    "softmax",
    lambda: [_randn(32, 1000)],
    _softmax,
    _rows(k.softmax_kernel, height=True),
    [
        _right("division"),
        _right("reciprocal"),
        _right("exp2"),
        _right("no maximum"),
        _wrong("tail"),
        _wrong("off by one"),
        _wrong("stale row"),
        _wrong("zeros beyond"),
        _wrong("early", HALVES),
        _wrong("half", WIDE),
        _wrong("scale"),
        _wrong("mean"),
    ],
)
_SOFTMAX_LARGE = Operation(
    "softmax of large logits",
    lambda: [_randn(32, 1000, scale=20, shift=60)],
    _softmax,
    _rows(k.softmax_kernel, height=True),
    [_right("division"), _right("exp2"), _wrong("no maximum"), _wrong("stale row"), _wrong("scale")],
)
_FLOAT32 = k.WIDTHS["float32"]
_SOFTMAX_ONLINE = Operation(
    "softmax in blocks",
    lambda: [_randn(32, 4000)],
    _softmax,
    _rows(k.online_softmax_kernel, block=64),
    [
        _right("online", SUM=_FLOAT32),
        _right("online, 4 blocks", SUM=_FLOAT32, BLOCK=1024),
        _wrong("narrow sum of 63", narrow="SUM"),
        _wrong("narrow sum of 4", narrow="SUM", BLOCK=1024),
        _wrong("last block", SUM=_FLOAT32),
        _wrong("not rescaled", SUM=_FLOAT32),
    ],
)


def _layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], weight, bias, 1e-5)


def _normed(columns: int, rows: int = 48, **more: float) -> Callable[[], Inputs]:
    return lambda: [_randn(rows, columns, **more), _randn(columns, scale=0.3, shift=1), _randn(columns)]


_LAYER_NORM = Operation(
    "layer norm",
    _normed(1000),
    _layer_norm,
    _rows(k.layer_norm_kernel, 1e-5),
    [
        _right("two passes"),
        _right("one pass"),
        _right("rsqrt"),
        _right("welford", kernel=k.welford_kernel, BLOCK=128),
        _wrong("old mean", kernel=k.welford_kernel, BLOCK=128),
        _wrong("padded count"),
        _wrong("early", HALVES),
        _wrong("half rstd", ("float32", "float16")),
        _wrong("half mean", WIDE),
        _wrong("no bias"),
    ],
)
_LAYER_NORM_SHORT = Operation(
    "layer norm of 100",
    _normed(100, rows=200, shift=0.5),
    _layer_norm,
    _rows(k.layer_norm_kernel, 1e-5),
    [_right("two passes"), _right("one pass"), _wrong("unbiased"), _wrong("padding counted")],
)
_LAYER_NORM_SMALL = Operation(
    "layer norm of small numbers",
    _normed(300, scale=0.02),
    _layer_norm,
    _rows(k.layer_norm_kernel, 1e-5),
    [_right("two passes"), _wrong("eps outside")],
)
_LAYER_NORM_EPS = Operation(
    "layer norm with another eps",
    _normed(300, scale=0.3),
    _layer_norm,
    _rows(k.layer_norm_kernel, 1e-3),
    [_wrong("two passes")],
)
_LAYER_NORM_EPS_AT_ONE = Operation(
    "layer norm with another eps, of a variance of 1",
    _normed(300),
    _layer_norm,
    _rows(k.layer_norm_kernel, 1e-3),
    [_wrong("two passes", ("float32", "float16"))],
)
_LAYER_NORM_FAR = Operation(
    "layer norm around 300",
    _normed(1000, shift=300, scale=1),
    _layer_norm,
    _rows(k.layer_norm_kernel, 1e-5),
    [
        _right("two passes"),
        _right("welford", kernel=k.welford_kernel, BLOCK=128),
        _wrong("one pass", WIDE),
        _wrong("padding counted"),
    ],
)
_RMS_NORM = Operation(
    "rms norm",
    lambda: [_randn(48, 1000, scale=100, shift=30), _randn(1000, scale=0.3, shift=1)],
    lambda x, weight: F.rms_norm(x, x.shape[-1:], weight, 1e-6),
    _rows(k.rms_norm_kernel, 1e-6),
    [
        _right("rsqrt"),
        _right("weight first"),
        _wrong("half squares"),
        _wrong("centred"),
        _wrong("stale weight"),
    ],
)


# -- one number of a row -------------------------------------------------------------------------------------------


def _sum(x: torch.Tensor) -> torch.Tensor:
    return x.sum(-1)


_ROW_SUM = Operation(
    "sum of a row",
    lambda: [_randn(400, 3000, shift=0.1)],
    _sum,
    _rows(k.row_sum_kernel, block=256),
    [
        _right("lanes", SUM=_FLOAT32),
        _right("at once", SUM=_FLOAT32, BLOCK=4096),
        _right("kahan", SUM=_FLOAT32),
        _wrong("narrow lanes of 12", narrow="SUM"),
        _wrong("narrow lanes of 3", narrow="SUM", BLOCK=1024),
        _wrong("narrow partial", SUM=_FLOAT32),
        _wrong("tail", SUM=_FLOAT32),
        _wrong("first element", SUM=_FLOAT32),
    ],
)


def _in_order(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    rows, columns = inputs[0].shape
    return Launch(k.sequential_sum_kernel, (rows,), (*inputs, out, columns), constants)


_SEQUENTIAL = Operation(
    "sum of a row, in order",
    lambda: [_randn(400, 500, shift=0.5)],
    _sum,
    _in_order,
    [
        Way("float32", True, ALL, {"SUM": _FLOAT32}),
        Way("narrow", False, ALL, narrow="SUM"),
    ],
)
_LONG_SUM = Operation(
    "sum of a million",
    lambda: [_randn(1, 1 << 20, shift=0.01)],
    _sum,
    _rows(k.row_sum_kernel, block=1024),
    [
        _right("lanes", SUM=_FLOAT32),
        _wrong("narrow lanes", narrow="SUM"),
        _wrong("first element", WIDE, SUM=_FLOAT32),
    ],
)
_VARIANCE = Operation(
    "variance",
    lambda: [_randn(400, 200)],
    lambda x: x.var(-1, unbiased=False),
    _rows(k.variance_kernel),
    [
        _right("two passes"),
        _right("one pass"),
        _right("shifted"),
        _wrong("sample"),
    ],
)
_VARIANCE_FAR = Operation(
    "variance around 200",
    lambda: [_randn(400, 200, shift=200)],
    lambda x: x.var(-1, unbiased=False),
    _rows(k.variance_kernel),
    [_right("two passes"), _right("shifted"), _wrong("one pass", WIDE), _wrong("padding counted")],
)


def _cross_entropy(x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x, labels, reduction="none")


def _logits(scale: float) -> Inputs:
    return [_randn(300, 1000, scale=scale), torch.randint(1, 1000, (300,))]


_CROSS_ENTROPY = Operation(
    "cross entropy",
    lambda: _logits(2),
    _cross_entropy,
    _rows(k.cross_entropy_kernel, block=128),
    [
        _right("blocks", SUM=_FLOAT32),
        _right("at once", SUM=_FLOAT32, BLOCK=1024),
        _right("log2", SUM=_FLOAT32),
        _wrong("narrow sum of 8", WIDE, narrow="SUM"),
        _wrong("wrong base", SUM=_FLOAT32),
        _wrong("label off by one", SUM=_FLOAT32),
        _wrong("last block", SUM=_FLOAT32),
        _wrong("early", HALVES, SUM=_FLOAT32),
    ],
)
_CROSS_ENTROPY_LARGE = Operation(
    "cross entropy of large logits",
    lambda: _logits(40),
    _cross_entropy,
    _rows(k.cross_entropy_kernel, block=128),
    [_right("blocks", SUM=_FLOAT32), _wrong("no maximum", SUM=_FLOAT32)],
)
_LOGSUMEXP = Operation(
    "logsumexp",
    lambda: [_randn(300, 700, scale=3, shift=-2)],
    lambda x: x.logsumexp(-1),
    _rows(k.logsumexp_kernel),
    [_right("exp"), _right("exp2"), _wrong("zeros beyond"), _wrong("maximum alone")],
)
_ROW_MAX = Operation(
    "maximum of a row",
    lambda: [_randn(300, 20, shift=-1)],
    lambda x: x.amax(-1),
    _rows(k.row_max_kernel),
    [_right("all"), _wrong("from zero"), _wrong("off by one")],
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
    return lambda: [_randn(100, inner), _randn(inner, 80)]


_IEEE: dict[str, Any] = {"SUM": _FLOAT32, "PRECISION": "ieee"}
_MATMUL = Operation(
    "matrix product",
    _product(500),
    torch.matmul,
    _matmul(k.matmul_kernel, BLOCK_K=16),
    [
        _right("blocks", **_IEEE),
        _right("blocks of 128", **_IEEE, BLOCK_K=128),
        _right("tf32 in three", WIDE, SUM=_FLOAT32, PRECISION="tf32x3"),
        _wrong("narrow sum of 32", narrow="SUM", PRECISION="ieee"),
        _wrong("narrow sum of 4", narrow="SUM", PRECISION="ieee", BLOCK_K=128),
        _wrong("tf32", WIDE, SUM=_FLOAT32, PRECISION="tf32"),
        _wrong("bfloat16 inputs", ("float32", "float16"), **_IEEE),
        _wrong("float16 inputs", WIDE, **_IEEE),
        _wrong("last block", **_IEEE),
        _wrong("off by one", **_IEEE),
        _wrong("one tile", **_IEEE),
        _wrong("scaled", **_IEEE),
        _wrong("transposed tile", **_IEEE),
    ],
)
_MATMUL_LONG = Operation(
    "matrix product, long",
    lambda: [_randn(32, 8192), _randn(8192, 32)],
    torch.matmul,
    _matmul(k.matmul_kernel, BLOCK_K=64),
    [
        _right("blocks", **_IEEE),
        _wrong("narrow sum of 128", narrow="SUM", PRECISION="ieee"),
        _wrong("narrow sum of 2", narrow="SUM", PRECISION="ieee", BLOCK_K=4096),
        _wrong("last block", **_IEEE),
    ],
)
_MATMUL_SPLIT = Operation(
    "matrix product, split",
    _product(256),
    torch.matmul,
    _matmul(k.split_matmul_kernel, SPLITS=4),
    [
        _right("in order", PART=_FLOAT32),
        _wrong("narrow parts", narrow="PART"),
        _wrong("sum narrow", narrow="PART"),
        _wrong("last twice", PART=_FLOAT32),
    ],
)


def _attention(is_causal: bool) -> Callable[..., Launch]:
    def launch(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
        heads, length, head = inputs[0].shape
        own = {"BLOCK": 16, "HEAD": head, "CAUSAL": is_causal, **constants}
        scale = own.pop("scale", 1 / math.sqrt(head))
        return Launch(
            k.attention_kernel, (triton.cdiv(length, own["BLOCK"]), heads), (*inputs, out, scale, length), own
        )

    return launch


def _attended(length: int) -> Callable[[], Inputs]:
    return lambda: [_randn(2, length, 32) for _ in range(3)]


_ATTENTION = Operation(
    "attention",
    _attended(200),
    F.scaled_dot_product_attention,
    _attention(False),
    [
        _right("as FlashAttention", SUM=_FLOAT32),
        _right("wide p", SUM=_FLOAT32),
        _right("blocks of 64", SUM=_FLOAT32, BLOCK=64),
        _wrong("narrow sum of 13", narrow="SUM"),
        _wrong("narrow sum of 4", narrow="SUM", BLOCK=64),
        _wrong("tf32", WIDE, SUM=_FLOAT32),
        _wrong("bfloat16 p", ("float32", "float16"), SUM=_FLOAT32),
        _wrong("not rescaled", SUM=_FLOAT32),
        _wrong("keys beyond", SUM=_FLOAT32),
        _wrong("no scale", SUM=_FLOAT32, scale=1.0),
        _wrong("scores early", HALVES, SUM=_FLOAT32),
    ],
)
_ATTENTION_CAUSAL = Operation(
    "attention, causal",
    _attended(130),
    lambda q, key, value: F.scaled_dot_product_attention(q, key, value, is_causal=True),
    _attention(True),
    [
        _right("as FlashAttention", SUM=_FLOAT32),
        _right("wide p", SUM=_FLOAT32),
        _wrong("causal off by one", SUM=_FLOAT32),
        _wrong("scale of the wrong size", SUM=_FLOAT32, scale=1 / math.sqrt(33)),
    ],
)


# -- running sums, quantised numbers, angles -----------------------------------------------------------------------

_CUMSUM = Operation(
    "cumsum",
    lambda: [_randn(32, 1500)],
    lambda x: x.cumsum(-1),
    _rows(k.cumsum_kernel, block=128),
    [
        _right("blocks", SUM=_FLOAT32),
        _right("scan", SUM=_FLOAT32),
        _wrong("narrow carry of 12", narrow="SUM"),
        _wrong("narrow carry of 3", narrow="SUM", BLOCK=512),
        _wrong("exclusive", SUM=_FLOAT32),
        _wrong("no carry", SUM=_FLOAT32),
        _wrong("carry of the last", SUM=_FLOAT32),
    ],
)


def _requantised(x: torch.Tensor) -> torch.Tensor:
    wide = _wide(x)
    scale = wide.abs().amax(-1, keepdim=True) / 127
    return ((wide / scale).round() * scale).to(x.dtype)


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()


_REQUANTISE = Operation(
    "quantised and back",
    lambda: [_randn(64, 500)],
    _requantised,
    _rows(k.requantise_kernel),
    [
        _right("floor"),
        _right("added"),
        _wrong("by 128"),
        _wrong("half scale", WIDE),
        _wrong("truncated"),
        _wrong("clamped"),
    ],
)


def _dequantised(x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor) -> torch.Tensor:
    return ((x.to(_wide(scale).dtype) - zero[:, None]) * _wide(scale)[:, None]).to(scale.dtype)


_DEQUANTISE = Operation(
    "dequantised",
    lambda: [
        torch.randint(-128, 128, (64, 500), dtype=torch.int8),
        torch.rand(64, dtype=torch.float64) * 0.1 + 0.01,
        torch.randint(-40, 40, (64,), dtype=torch.int32),
    ],
    _dequantised,
    _rows(k.dequantise_kernel),
    [
        _right("difference"),
        _right("expanded"),
        _wrong("wraps"),
        _wrong("no zero"),
        _wrong("expanded early", HALVES),
    ],
)


def _turned(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    first, second = _wide(x).chunk(2, -1)
    cosine, sine = _wide(cosine), _wide(sine)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1).to(x.dtype)


def _angles() -> Inputs:
    angle = torch.arange(100, dtype=torch.float64)[:, None] * 10_000 ** (-torch.arange(32, dtype=torch.float64) / 32)
    return [_randn(100, 64), angle.cos(), angle.sin()]


def _rotary(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
    return Launch(k.rotary_kernel, (len(out),), (*inputs, out), {"HALF": out.shape[1] // 2, **constants})


_ROTARY = Operation(
    "rotary",
    _angles,
    _turned,
    _rotary,
    [
        _right("float32"),
        _wrong("half angle", WIDE),
        _wrong("stale row"),
        _wrong("sign"),
        _wrong("early", HALVES),
    ],
)

OPERATIONS = (
    _CHAIN, _SILU_WIDE, _GELU, _TANH, _TANH_FAR, _SOFTMAX, _SOFTMAX_LARGE, _SOFTMAX_ONLINE, _LAYER_NORM,
    _LAYER_NORM_SHORT, _LAYER_NORM_SMALL, _LAYER_NORM_EPS, _LAYER_NORM_EPS_AT_ONE, _LAYER_NORM_FAR, _RMS_NORM, _ROW_SUM, _SEQUENTIAL,
    _LONG_SUM, _VARIANCE, _VARIANCE_FAR, _CROSS_ENTROPY, _CROSS_ENTROPY_LARGE, _LOGSUMEXP, _ROW_MAX, _MATMUL,
    _MATMUL_LONG, _MATMUL_SPLIT, _ATTENTION, _ATTENTION_CAUSAL, _CUMSUM, _REQUANTISE, _DEQUANTISE, _ROTARY,
)  # fmt: skip
