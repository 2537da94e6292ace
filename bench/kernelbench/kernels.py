"""The kernels that the files are made of: each with the model that it is to replace, and a formula that is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Shape(Enum):
    """What a kernel goes over, which is how its text is made."""

    ELEMENTS = "each element"
    ROWS = "each row, to a row"
    SUMS = "each row, to a number"
    PRODUCT = "a product of matrices"


@dataclass(frozen=True)
class Kernel:
    """A kernel by its name: what torch says of `x`, and what the kernel computes of `x`, right and wrong.

    In rows `x` is one padded with `padding`, and `mask` says which elements are its own. Of a product the formula is
    of `acc`, and `y` has the other matrix.
    """

    name: str
    shape: Shape
    torch: str
    formula: str
    wrong: str
    padding: str = "0.0"


_SHIFTED = "tl.exp(x - tl.max(x, 0))"
_CENTRED = "tl.where(mask, x - tl.sum(x, 0) / cols, 0.0)"
_SQUARES = "tl.sum(x * x, 0)"
_DEVIATIONS = f"tl.sum({_CENTRED} * {_CENTRED}, 0)"
_NAN = "propagate_nan=tl.PropagateNan.ALL"
_SIX = "tl.minimum(tl.maximum(x + 3, 0.0), 6.0)"
_ROW_HAS_NAN = "tl.max((x != x).to(tl.int32), 0) > 0"
_MINUS_INFINITY = '-float("inf")'

KERNELS = (
    Kernel("relu", Shape.ELEMENTS, "torch.relu(x)", f"tl.maximum(x, 0.0, {_NAN})", "tl.abs(x)"),
    Kernel(
        "leaky_relu",
        Shape.ELEMENTS,
        "F.leaky_relu(x, 0.1)",
        "tl.where(x > 0, x, 0.1 * x)",
        "tl.where(x > 0, x, 0.01 * x)",
    ),
    Kernel("sigmoid", Shape.ELEMENTS, "torch.sigmoid(x)", "1 / (1 + tl.exp(-x))", "1 / (1 + tl.exp(x))"),
    Kernel("silu", Shape.ELEMENTS, "F.silu(x)", "x / (1 + tl.exp(-x))", "1 / (1 + tl.exp(-x))"),
    Kernel("softsign", Shape.ELEMENTS, "F.softsign(x)", "x / (1 + tl.abs(x))", "x / (1 + x * x)"),
    Kernel(
        "hardtanh",
        Shape.ELEMENTS,
        "F.hardtanh(x)",
        f"tl.minimum(tl.maximum(x, -1.0, {_NAN}), 1.0, {_NAN})",
        "tl.minimum(x, 1.0)",
    ),
    Kernel("hardswish", Shape.ELEMENTS, "F.hardswish(x)", f"x * {_SIX} / 6", f"x * {_SIX}"),
    Kernel("elu", Shape.ELEMENTS, "F.elu(x)", "tl.where(x > 0, x, tl.exp(x) - 1)", "tl.where(x > 0, x, tl.exp(x))"),
    Kernel("square_add", Shape.ELEMENTS, "x * x + x", "x * x + x", "x * x - x"),
    Kernel(
        "softmax",
        Shape.ROWS,
        "torch.softmax(x, -1)",
        f"{_SHIFTED} / tl.sum({_SHIFTED}, 0)",
        f"{_SHIFTED} / tl.max({_SHIFTED}, 0)",
        _MINUS_INFINITY,
    ),
    Kernel(
        "log_softmax",
        Shape.ROWS,
        "torch.log_softmax(x, -1)",
        f"x - tl.max(x, 0) - tl.log(tl.sum({_SHIFTED}, 0))",
        f"x - tl.log(tl.sum({_SHIFTED}, 0))",
        _MINUS_INFINITY,
    ),
    Kernel(
        "layer_norm",
        Shape.ROWS,
        "F.layer_norm(x, x.shape[-1:])",
        f"{_CENTRED} / tl.sqrt({_DEVIATIONS} / cols + 1e-5)",
        f"{_CENTRED} / tl.sqrt({_DEVIATIONS} + 1e-5)",
    ),
    Kernel(
        "rms_norm",
        Shape.ROWS,
        "x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)",
        f"x / tl.sqrt({_SQUARES} / cols + 1e-6)",
        f"x / ({_SQUARES} / cols + 1e-6)",
    ),
    Kernel("l2_norm", Shape.ROWS, "x / x.norm(dim=-1, keepdim=True)", f"x / tl.sqrt({_SQUARES})", f"x / {_SQUARES}"),
    Kernel("row_sum", Shape.SUMS, "x.sum(-1)", "tl.sum(x, 0)", "tl.sum(x, 0) / cols"),
    Kernel(
        "row_max",
        Shape.SUMS,
        "x.amax(-1)",
        f'tl.where({_ROW_HAS_NAN}, float("nan"), tl.max(x, 0))',
        "tl.max(tl.abs(x), 0)",
        _MINUS_INFINITY,
    ),
    Kernel("row_squares", Shape.SUMS, "(x * x).sum(-1)", _SQUARES, f"tl.sqrt({_SQUARES})"),
    Kernel("matmul", Shape.PRODUCT, "x @ y", "acc", "-acc"),
    Kernel("matmul_relu", Shape.PRODUCT, "torch.relu(x @ y)", f"tl.maximum(acc, 0.0, {_NAN})", "tl.abs(acc)"),
    Kernel("matmul_scale", Shape.PRODUCT, "2 * (x @ y)", "2 * acc", "acc"),
)

_ELEMENTS = """\
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = {formula}
    tl.store(out_ptr + offsets, y, mask=mask)


def launch(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out
"""

_ROWS = """\
@triton.jit
def kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask, other={padding}).to(tl.float32)
    y = {formula}
    tl.store({to}, y{masked})


def launch(x):
    x = x.contiguous()
    rows, cols = x.shape
    out = {out}
    kernel[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
    return out
"""

_PRODUCT = """\
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, rows, cols, inner, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, inner, DEPTH):
        across = start + tl.arange(0, DEPTH)[None, :]
        down = start + tl.arange(0, DEPTH)[:, None]
        a = tl.load(x_ptr + row * inner + across, mask=(row < rows) & (across < inner), other=0.0)
        b = tl.load(y_ptr + down * cols + offsets, mask=(down < inner) & (offsets < cols), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    mask = (row < rows) & (offsets < cols)
    tl.store(out_ptr + row * cols + offsets, {formula}, mask=mask)


def launch(x, y):
    x, y = x.contiguous(), y.contiguous()
    (rows, inner), cols = x.shape, y.shape[1]
    out = torch.empty((rows, cols), device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 32))
    kernel[grid](x, y, out, rows, cols, inner, BLOCK=32, DEPTH=32)
    return out
"""

_FILE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, {inputs}):
        return {torch}


def get_inputs():
    return [{made}]


def get_init_inputs():
    return []


{kernel}

class ModelNew(nn.Module):
    def forward(self, {inputs}):
        return launch({inputs})
"""


def text_of(kernel: Kernel) -> str:
    """The file in KernelBench's shape that has the kernel as it should be."""
    is_product = kernel.shape is Shape.PRODUCT
    made = "torch.randn(70, 100), torch.randn(100, 50)" if is_product else "torch.randn(37, 100)"
    return _FILE.format(inputs="x, y" if is_product else "x", torch=kernel.torch, made=made, kernel=_kernel(kernel))


def _kernel(kernel: Kernel) -> str:
    match kernel.shape:
        case Shape.ELEMENTS:
            return _ELEMENTS.format(formula=kernel.formula)
        case Shape.PRODUCT:
            return _PRODUCT.format(formula=kernel.formula)
        case Shape.ROWS:
            to, masked, out = "out_ptr + row * cols + offsets", ", mask=mask", "torch.empty_like(x)"
        case Shape.SUMS:
            to, masked, out = "out_ptr + row", "", "torch.empty(rows, device=x.device)"
    return _ROWS.format(formula=kernel.formula, padding=kernel.padding, to=to, masked=masked, out=out)
