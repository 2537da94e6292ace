"""Reductions and scans: their axes, and the dtypes in which they add up."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonaudit.ir.arithmetic import broadcast_shapes, written
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import (
    FLOATS,
    INTEGERS,
    NONE,
    UNKNOWN,
    Const,
    Helper,
    Named,
    Plain,
    Shape,
    Tensor,
    Tuple,
    Value,
)

if TYPE_CHECKING:
    from tritonaudit.ir.bound import Bound
    from tritonaudit.ir.reader import Reader

_PROMOTES = (3, 3)
"""The release from which sums of small integers are int32, and those of bf16 stay bf16."""


def _reduced(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    name = f"tl.{bound.name}"
    if isinstance(value, Tuple):
        reader.mistake(MistakeKind.REDUCES_SCALAR, bound.node, "tuple", name=name)
        return UNKNOWN
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        text = ast.unparse(next(iter(bound.named.values()))[1])
        reader.mistake(MistakeKind.REDUCES_SCALAR, bound.node, "scalar", name=name, text=text)
        return UNKNOWN
    if not isinstance(value, Tensor):
        return UNKNOWN
    axis = _axis(reader, bound, value, name)
    if value.shape is None or axis == UNKNOWN:
        return UNKNOWN if bound.given("return_indices") else Tensor(_result(reader, bound, value), None)
    if value.shape == () and not value.free:
        reader.mistake(MistakeKind.REDUCES_SCALAR, bound.node, "scalar", name=name, text=ast.unparse(bound.node.args[0])
                       if bound.node.args else "")  # fmt: skip
        return UNKNOWN
    if value.free:
        return UNKNOWN
    shape = _without(value.shape, axis, bound)
    result = Tensor(_result(reader, bound, value), shape)
    if bound.given("return_indices") and bound.value("return_indices") != Const(False):
        return Tuple((result, Tensor("i32", shape)))
    return result


def _axis(reader: Reader, bound: Bound, value: Tensor, name: str) -> int | Value | None:
    """The axis as a number, None for all of them; UNKNOWN where it is not known, or wrong with a mistake."""
    if not bound.given("axis"):
        return None
    axis = bound.value("axis")
    node = bound.node_of("axis")
    wrong = None
    if isinstance(axis, Tuple):
        wrong = "tuple"
    elif isinstance(axis, Tensor) and axis.shape is not None:
        wrong = "tensor"
    elif isinstance(axis, Const) and isinstance(axis.value, (float, str)):
        wrong = "number"
    if wrong is not None:
        reader.mistake(MistakeKind.AXIS, node, wrong, name=name, text=ast.unparse(node), call=ast.unparse(bound.node))
        return UNKNOWN
    if not isinstance(axis, Const) or type(axis.value) is not int:
        return UNKNOWN
    if value.shape is not None and not value.free and not -len(value.shape) <= axis.value < len(value.shape):
        what = "rank" if value.shape else "scalar"
        reader.mistake(MistakeKind.AXIS, node, what, axis=axis.value, rank=len(value.shape), name=name)
        return UNKNOWN
    return axis.value


def _without(shape: Shape, axis: int | Value | None, bound: Bound) -> Shape | None:
    keep = bound.given("keep_dims") and bound.value("keep_dims") != Const(False)
    if bound.given("keep_dims") and not isinstance(bound.value("keep_dims"), Const):
        return None
    if axis is None:
        return tuple(1 for _ in shape) if keep else ()
    assert isinstance(axis, int)
    dims = list(shape)
    if keep:
        dims[axis] = 1
    else:
        del dims[axis]
    return tuple(dims)


def _result(reader: Reader, bound: Bound, value: Tensor) -> str | None:
    dtype = value.dtype
    if bound.name in ("argmax", "argmin"):
        return "i32"
    if bound.given("dtype") or dtype is None:
        return None
    if bound.name in ("xor_sum", "reduce_or") and (dtype in FLOATS or dtype.startswith("*")):
        words: dict[str, Any] = {"name": f"tl.{bound.name}", "takes": "integers", "text": bound.text, "given": dtype}
        reader.mistake(MistakeKind.ARGUMENT_VALUE, bound.node, **words)
        return None
    if bound.name == "sum":
        _check_sum(reader, bound, dtype)
        return summed(reader, dtype, _PROMOTES, _PROMOTES)
    if bound.name in ("max", "min"):
        if dtype in ("fp16", "bf16"):
            return "fp32"
        return "i32" if dtype in ("i8", "i16", "i1", "u8", "u16") else dtype
    return dtype if bound.name != "reduce_or" else None


def _check_sum(reader: Reader, bound: Bound, dtype: str) -> None:
    """Sums of conditions and small integers, which older releases add up in their own width."""
    text = ast.unparse(bound.node.args[0]) if bound.node.args else ""
    if dtype == "i1":
        reader.mistake(MistakeKind.NARROW_SUM, bound.node, "condition", until=_PROMOTES, text=text)
    elif dtype in ("i8", "u8", "i16", "u16"):
        reader.mistake(MistakeKind.NARROW_SUM, bound.node, "integer", until=_PROMOTES, text=text, dtype=dtype)


def summed(reader: Reader, dtype: str, integers: tuple[int, int], brain: tuple[int, int]) -> str | None:
    """The dtype of a sum: from `integers` on int32 for smaller ones, from `brain` on bf16 as it is."""
    if dtype == "bf16":
        early = reader.before(brain)
        return "bf16" if early is False else "fp32" if early else None
    if dtype in INTEGERS and int(dtype[1:]) < 32:
        early = reader.before(integers)
        wide = "u32" if dtype[0] == "u" or dtype == "i1" else "i32"
        return wide if early is False else dtype if early else None
    return dtype if dtype in FLOATS[-4:] or dtype in INTEGERS else None


def _scanned(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    if not isinstance(value, Tensor):
        return UNKNOWN
    axis = _axis(reader, bound, value, f"tl.{bound.name}")
    if axis == UNKNOWN and value.shape is None:
        return UNKNOWN
    dtype = value.dtype if value.dtype in ("fp16", "fp32", "fp64", "i32", "i64") else None
    return Tensor(None if bound.given("dtype") else dtype, value.shape)


_KEEPS_AXIS = (3, 9)
"""The release from which `tl.softmax` along another axis than the first broadcasts what it takes away."""


def _softmax(reader: Reader, bound: Bound) -> Value:
    value, dim = bound.first(), bound.value("dim")
    if isinstance(value, Tensor) and value.shape and isinstance(dim, Const) and type(dim.value) is int:
        shape, axis = value.shape, dim.value % len(value.shape)
        rest = (*shape[:axis], *shape[axis + 1 :])
        if bound.value("keep_dims") in (UNKNOWN, Const(False)) and broadcast_shapes(shape, rest) is None:
            left, right = written(shape), written(rest)
            reader.mistake(MistakeKind.SHAPES, bound.node, until=_KEEPS_AXIS, left=left, right=right, text="tl.softmax")
    return Tensor(None, value.shape) if isinstance(value, Tensor) else UNKNOWN


def _custom(reader: Reader, bound: Bound) -> Value:
    """`tl.reduce` and `tl.associative_scan`, with a function of the project's own."""
    given = bound.first()
    values = given.items if isinstance(given, Tuple) else (given,)
    tensors = [value for value in values if isinstance(value, Tensor)]
    if len(tensors) != len(values) or not tensors or any(value.free for value in tensors):
        return UNKNOWN
    _check_combination(reader, bound, tensors)
    if tensors[0].shape is None or not bound.given("axis"):
        return UNKNOWN
    axis = _axis(reader, bound, tensors[0], f"tl.{bound.name}")
    if not isinstance(axis, int):
        return UNKNOWN
    shape = tensors[0].shape if bound.name == "associative_scan" else _without(tensors[0].shape, axis, bound)
    results = tuple(Tensor(value.dtype, shape) for value in tensors)
    return Tuple(results) if isinstance(given, Tuple) else results[0]


def _check_combination(reader: Reader, bound: Bound, tensors: list[Tensor]) -> None:
    """The function that combines two elements: a jit function that takes and gives one value for each block."""
    function, node = bound.value("combine_fn"), bound.node_of("combine_fn")
    words: dict[str, Any] = {"name": f"tl.{bound.name}", "text": ast.unparse(node)}
    if isinstance(function, (Named, Plain)):
        origin = function.origin if isinstance(function, Named) else ""
        if not origin or origin in _BUILTINS:
            reader.mistake(MistakeKind.ARGUMENT_VALUE, node, takes="a `@triton.jit` function", given="none", **words)
        return
    if not isinstance(function, Helper):
        return
    names = [parameter.name for parameter in function.function.jit.parameters]
    if len(names) != 2 * len(tensors):
        given, takes = f"a function of {len(names)}", f"a function of {2 * len(tensors)} values"
        reader.mistake(MistakeKind.ARGUMENT_VALUE, node, takes=takes, given=given, **words)
        return
    elements = [Tensor(value.dtype, ()) for value in tensors] * 2
    result = reader.call(function.function, dict(zip(names, elements, strict=True)), bound.node)
    results = result.items if isinstance(result, Tuple) else (result,)
    if result == UNKNOWN:
        return
    if len(results) != len(tensors) or result == NONE:
        given, takes = f"one that gives {len(results)}", f"a function that gives {len(tensors)} values"
        reader.mistake(MistakeKind.ARGUMENT_VALUE, node, takes=takes, given=given, **words)
        return
    for one, value in zip(results, tensors, strict=True):
        if isinstance(one, Tensor) and None not in (one.dtype, value.dtype) and one.dtype != value.dtype:
            given, takes = f"one that gives {one.dtype}", f"a function that gives {value.dtype}"
            reader.mistake(MistakeKind.ARGUMENT_VALUE, node, takes=takes, given=given, **words)


_BUILTINS = frozenset(f"triton.language.{name}" for name in ("maximum", "minimum", "add", "sub", "mul", "where"))
"""Functions of Triton's that are no jit functions."""


OPERATIONS: dict[str, Callable[[Reader, Bound], Value]] = {
    **dict.fromkeys(("sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce_or"), _reduced),
    **dict.fromkeys(("cumsum", "cumprod"), _scanned),
    "softmax": _softmax,
    "reduce": _custom,
    "associative_scan": _custom,
}
