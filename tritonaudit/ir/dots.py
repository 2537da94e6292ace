"""Matrix products: the dtypes, shapes and accumulators that each release takes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonaudit.ir.arithmetic import written
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import FP8, UNKNOWN, Const, Dtype, Shape, Tensor, Value, text_of_type
from tritonaudit.target import Version

if TYPE_CHECKING:
    from tritonaudit.ir.bound import Bound
    from tritonaudit.ir.reader import Reader

_TAKEN = ("i8", "u8", "fp16", "bf16", "fp32", *FP8)
_PRECISIONS: dict[str, Version] = {
    "tf32": (3, 0), "tf32x3": (3, 0), "ieee": (3, 0), "bf16x3": (3, 6), "bf16x6": (3, 6),
}  # fmt: skip


def _dot(reader: Reader, bound: Bound) -> Value:
    left, right = bound.value("input"), bound.value("other")
    _check_options(reader, bound)
    if "acc" in bound.named and not bound.given("acc"):
        reader.mistake(MistakeKind.NO_VALUE, bound.node_of("acc"), until=(3, 4), where="the accumulator of `tl.dot`",
                       text=ast.unparse(bound.node_of("acc")), type="None")  # fmt: skip
    if not isinstance(left, Tensor) or not isinstance(right, Tensor) or left.free or right.free:
        return UNKNOWN
    if not _check_operands(reader, bound, left, right):
        return UNKNOWN
    shape = _shape(reader, bound, left, right)
    dtype = _result(reader, bound, left)
    _check_accumulator(reader, bound, dtype, shape, left)
    return Tensor(dtype, shape)


def _check_options(reader: Reader, bound: Bound) -> None:
    precision = bound.value("input_precision")
    if bound.given("input_precision") and bound.given("allow_tf32"):
        reader.mistake(MistakeKind.DOT_OPTIONS, bound.node, "both")
    elif isinstance(precision, Const) and isinstance(precision.value, (bool, int, float)):
        allowed = ", ".join(repr(name) for name in _PRECISIONS)
        reader.mistake(MistakeKind.DOT_OPTIONS, bound.node, "precision", value=precision.value, allowed=allowed)
    elif isinstance(precision, Const) and type(precision.value) is str:
        since = _PRECISIONS.get(precision.value.lower())
        allowed = ", ".join(repr(name) for name in _PRECISIONS)
        reader.mistake(
            MistakeKind.DOT_OPTIONS, bound.node_of("input_precision"), "precision", until=since,
            value=precision.value, allowed=allowed,
        ) if since is None or since > (3, 0) else None  # fmt: skip


def _check_operands(reader: Reader, bound: Bound, left: Tensor, right: Tensor) -> bool:
    for value in (left, right):
        if value.dtype is None:
            continue
        if value.dtype == "fp64":
            reader.mistake(MistakeKind.DOT_OPERANDS, bound.node, "fp64", until=(3, 5), dtype=value.dtype)
        elif value.dtype not in _TAKEN:
            reader.mistake(MistakeKind.DOT_OPERANDS, bound.node, "dtype", dtype=value.dtype, type=text_of_type(value))
            return False
    mixed = left.dtype in FP8 and right.dtype in FP8
    if left.dtype is not None and right.dtype is not None and left.dtype != right.dtype and not mixed:
        reader.mistake(
            MistakeKind.DOT_OPERANDS, bound.node, "differ", left=left.dtype, right=right.dtype,
            a=ast.unparse(bound.node_of("input")), b=ast.unparse(bound.node_of("other")),
        )  # fmt: skip
        return False
    return True


def _shape(reader: Reader, bound: Bound, left: Tensor, right: Tensor) -> Shape | None:
    a, b = left.shape, right.shape
    if a is None or b is None:
        return None
    if len(a) != len(b) or len(a) not in (2, 3):
        reader.mistake(MistakeKind.DOT_SHAPES, bound.node, "rank", left=written(a), right=written(b))
        return None
    if a[-1] is not None and b[-2] is not None and a[-1] != b[-2]:
        reader.mistake(MistakeKind.DOT_SHAPES, bound.node, "inner", left=written(a), right=written(b))
        return None
    inner = a[-1] if a[-1] is not None else b[-2]
    if len(a) == 3 and a[0] is not None and b[0] is not None and a[0] != b[0]:
        reader.mistake(MistakeKind.DOT_SHAPES, bound.node, "batch", left=written(a), right=written(b))
    _check_sizes(reader, bound, left.dtype, a[-2], b[-1], inner)
    imprecise = bound.value("max_num_imprecise_acc")
    number = imprecise.value if isinstance(imprecise, Const) and type(imprecise.value) is int else 0
    if inner is not None and left.dtype in FP8 and right.dtype in FP8 and number > inner:
        reader.mistake(
                MistakeKind.ARGUMENT_VALUE, bound.node, name="tl.dot", takes=f"at most K = {inner} additions",
                text="max_num_imprecise_acc", given=number,
            )  # fmt: skip
    return (*a[:-1], b[-1])


def _check_sizes(reader: Reader, bound: Bound, dtype: str | None, m: int | None, n: int | None, k: int | None) -> None:
    """The smallest sizes that the backend for NVIDIA takes."""
    small = [name for name, size in (("M", m), ("N", n)) if size is not None and size < 16]
    words: dict[str, Any] = {"sizes": f"M = {_size(m)}, N = {_size(n)}, K = {_size(k)}"}
    if small:
        reader.mistake(
            MistakeKind.DOT_SHAPES, bound.node, "small", until=(3, 5), least="M and N of at least 16", **words
        )
    if k is None or dtype is None or dtype == "fp64":
        return
    stretches: list[tuple[int, Version | None, Version | None]]
    if dtype in ("i8", "u8"):
        stretches = [(32, None, (3, 2)), (16, (3, 2), (3, 3)), (32, (3, 3), None)]
    elif dtype in FP8:
        stretches = [(16, None, (3, 3)), (32, (3, 3), None)]
    elif dtype == "fp32":
        stretches = [(16, None, (3, 8)), (8, (3, 8), None)]
    else:
        stretches = [(16, None, None)]
    for least, since, until in stretches:
        if k < least:
            reader.mistake(
                MistakeKind.DOT_SHAPES, bound.node, "small", since=since, until=until,
                least=f"K of at least {least} for {dtype}", **words,
            )  # fmt: skip


def _size(size: int | None) -> str:
    return "?" if size is None else str(size)


def _out_dtype(bound: Bound) -> str | None:
    value = bound.value("out_dtype")
    return str(value.value) if isinstance(value, Const) and isinstance(value.value, Dtype) else None


def _result(reader: Reader, bound: Bound, left: Tensor) -> str | None:
    if left.dtype is None:
        return None
    if left.dtype == "u8":
        reader.mistake(MistakeKind.DOT_OPERANDS, bound.node, "dtype", dtype=left.dtype, type=text_of_type(left))
    if left.dtype in ("i8", "u8"):
        return "i32"
    if left.dtype == "fp64":
        return "fp64"
    out = _out_dtype(bound)
    if out is not None and left.dtype not in ("fp32", "bf16") and out not in ("fp16", "fp32", "bf16"):
        reader.mistake(
            MistakeKind.ARGUMENT_VALUE, bound.node,
            name="tl.dot", takes="an `out_dtype` of fp16 or fp32", text="out_dtype", given=out,
        )  # fmt: skip
        return None
    if bound.given("out_dtype"):
        if out == "bf16":
            reader.mistake(MistakeKind.DOT_ACCUMULATOR, bound.node, "bf16")
            return None
        return out
    acc = bound.value("acc")
    if isinstance(acc, Tensor) and acc.dtype == "fp16":
        early = reader.before((3, 8))
        return "fp16" if early is False else None
    return "fp32" if not bound.given("acc") or isinstance(acc, Tensor) else None


def _check_accumulator(reader: Reader, bound: Bound, result: str | None, shape: Shape | None, left: Tensor) -> None:
    acc = bound.value("acc")
    if not isinstance(acc, Tensor) or acc.dtype is None or left.dtype is None:
        return
    words: dict[str, Any] = {"acc": ast.unparse(bound.node_of("acc")), "dtype": acc.dtype, "operands": left.dtype}
    integers = left.dtype in ("i8", "u8")
    if acc.dtype == "bf16" or (integers and acc.dtype in ("fp16", "fp32", "fp64")):
        reader.mistake(MistakeKind.DOT_ACCUMULATOR, bound.node, "dtype", **words)
    elif acc.dtype == "fp16" and _out_dtype(bound) != "fp16" and not integers and left.dtype != "fp64":
        reader.mistake(MistakeKind.DOT_ACCUMULATOR, bound.node, "fp16", until=(3, 8), **words)
    if shape is not None and acc.shape is not None and len(acc.shape) == len(shape):
        pairs = zip(acc.shape, shape, strict=True)
        if any(a is not None and b is not None and a != b for a, b in pairs):
            reader.mistake(MistakeKind.DOT_SHAPES, bound.node, "acc", left=written(acc.shape), right=written(shape))


# -- scaled operands ---------------------------------------------------------------------------------------------

_FORMATS: dict[str, tuple[str, ...]] = {
    "e2m1": ("u8",),
    "e4m3": ("fp8e4nv", "u8"),
    "e5m2": ("fp8e5", "u8"),
    "bf16": ("bf16", "u16"),
    "fp16": ("fp16", "u16"),
}


def _dot_scaled(reader: Reader, bound: Bound) -> Value:
    left, right = bound.value("lhs"), bound.value("rhs")
    formats = [_format(reader, bound, side) for side in ("lhs", "rhs")]
    if not isinstance(left, Tensor) or not isinstance(right, Tensor) or not left.shape or not right.shape:
        return UNKNOWN
    a, b = left.shape, right.shape
    if len(a) != len(b) or len(a) not in (2, 3):
        reader.mistake(MistakeKind.DOT_SHAPES, bound.node, "rank", left=written(a), right=written(b))
        return UNKNOWN
    packs = [bound.value(f"{side}_k_pack") for side in ("lhs", "rhs")]
    if any(pack not in (UNKNOWN, Const(True)) for pack in packs):
        return Tensor(_out_dtype(bound) or "fp32", None)
    inner = [None if dim is None or form is None else dim * (2 if form == "e2m1" else 1)
             for dim, form in zip((a[-1], b[-2]), formats, strict=True)]  # fmt: skip
    if None not in inner and inner[0] != inner[1]:
        reader.mistake(MistakeKind.DOT_SHAPES, bound.node, "packed", left=written(a), right=written(b))
    return Tensor(_out_dtype(bound) or "fp32", (*a[:-1], b[-1]))


def _format(reader: Reader, bound: Bound, side: str) -> str | None:
    """The format of an operand; a mistake where there is none of its name, or the operand's dtype is another."""
    form, value = bound.value(f"{side}_format"), bound.value(side)
    if not isinstance(form, Const) or type(form.value) is not str:
        return None
    dtypes = _FORMATS.get(form.value)
    if dtypes is None:
        allowed = ", ".join(map(repr, _FORMATS))
        reader.mistake(
            MistakeKind.ARGUMENT_VALUE, bound.node_of(f"{side}_format"),
            name="tl.dot_scaled", takes=f"one of {allowed}", text=f"{side}_format", given=repr(form.value),
        )  # fmt: skip
        return None
    if isinstance(value, Tensor) and value.dtype is not None and value.dtype not in dtypes:
        takes = f"{' or '.join(dtypes)} for {form.value}"
        reader.mistake(
            MistakeKind.ARGUMENT_VALUE, bound.node_of(side), since=(3, 3),
            name="tl.dot_scaled", takes=takes, text=ast.unparse(bound.node_of(side)), given=value.dtype,
        )  # fmt: skip
    return form.value


OPERATIONS: dict[str, Callable[[Reader, Bound], Value]] = {"dot": _dot, "dot_scaled": _dot_scaled}
