"""What makes a block, and what lays it out again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tritonaudit.ir.arithmetic import broadcast, broadcast_shapes, shape_of, too_large, written
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import (
    ANY,
    ANY_FLOAT,
    UNKNOWN,
    Const,
    Dim,
    Dtype,
    Shape,
    Tensor,
    Tuple,
    Value,
    as_tensor,
    text_of_type,
)
from tritonaudit.target import Version

if TYPE_CHECKING:
    from tritonaudit.ir.bound import Bound
    from tritonaudit.ir.reader import Reader


_EMPTY = (3, 8)
"""The release from which a block without elements is refused."""
_REVERSES = (3, 6)
"""The release from which `tl.trans` without axes swaps the last two of any number."""


def needs_constant(reader: Reader, value: Value, node: ast.AST, where: str) -> bool:
    """Whether a value that must be a constant is none, with the mistake."""
    if not isinstance(value, Tensor) or value.shape is None:
        return False
    text = ast.unparse(node)
    what = "expression"
    if isinstance(node, ast.Name):
        is_parameter = any(p.name == node.id for p in reader.frame.function.jit.parameters)
        what = "parameter" if is_parameter and node.id not in reader.assigned else "assigned"
    reader.mistake(MistakeKind.NEEDS_CONSTANT, node, what, where=where, text=text)
    return True


_OF_BLOCKS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sort", "topk", "bitonic_merge", "flip", "softmax"), ("x",)),
    **dict.fromkeys(("join", "interleave"), ("a", "b")),
    **dict.fromkeys(("cumsum", "cumprod", "associative_scan", "trans", "reshape", "broadcast_to", "histogram",
                     "zeros_like"), ("input",)),
    **dict.fromkeys(("dot", "broadcast"), ("input", "other")),
    "ravel": ("x",), "split": ("a",), "gather": ("src", "index"),
}  # fmt: skip
"""What is no number, in functions that ask it for its shape before anything makes a block of it."""
_OF_AXES = frozenset({"sort", "topk", "bitonic_merge", "flip", "softmax", "cumsum", "cumprod"})
"""Functions that run along an axis, which a scalar does not have."""


def needs_block(reader: Reader, bound: Bound) -> bool:
    """Whether a number is given, or a scalar, where a block must be, with the mistake."""
    for name in _OF_BLOCKS.get(bound.name, ()):
        value, node = bound.value(name), bound.node_of(name)
        number = isinstance(value, Const) and isinstance(value.value, (bool, int, float))
        scalar = isinstance(value, Tensor) and value.shape == () and not value.free and bound.name in _OF_AXES
        if number or scalar:
            text = ast.unparse(node)
            reader.mistake(MistakeKind.REDUCES_SCALAR, bound.node, "scalar", name=f"tl.{bound.name}", text=text)
            return True
    return False


def _program_id(reader: Reader, bound: Bound) -> Value:
    axis = bound.value("axis")
    if isinstance(axis, Tensor):
        needs_constant(reader, axis, bound.node_of("axis"), f"tl.{bound.name}")
    elif isinstance(axis, Const) and axis.known and (type(axis.value) is not int or axis.value not in (0, 1, 2)):
        reader.mistake(MistakeKind.AXIS, bound.node, "program", axis=repr(axis.value), name=f"tl.{bound.name}")
    return Tensor("i32", ())


def _arange(reader: Reader, bound: Bound) -> Value:
    if not {"start", "end"} <= bound.named.keys():
        return UNKNOWN
    ends: list[int | None] = []
    for name in ("start", "end"):
        value, node = bound.named[name]
        if needs_constant(reader, value, node, "tl.arange"):
            return UNKNOWN
        if isinstance(value, Const) and value.known and type(value.value) not in (int, bool):
            reader.mistake(MistakeKind.ARANGE, node, "kind", text=ast.unparse(node), value=repr(value.value))
            return UNKNOWN
        if value == Const(ANY_FLOAT):
            reader.mistake(
                MistakeKind.ARANGE, node, "kind", text=ast.unparse(node), value="a quotient, which is a float"
            )
            return UNKNOWN
        ends.append(int(value.value) if isinstance(value, Const) and value.known else None)
    start, end = ends
    if start is None or end is None:
        return Tensor("i32", (None,))
    length = end - start
    if start < 0:
        reader.mistake(MistakeKind.ARANGE, bound.node, "negative", start=start, length=length)
    elif length <= 0:
        reader.mistake(MistakeKind.ARANGE, bound.node, "empty", start=start, end=end)
        return UNKNOWN
    elif not is_power_of_2(length):
        reader.mistake(MistakeKind.ARANGE, bound.node, "length", length=length, wider=1 << length.bit_length())
    too_large(reader, bound.node, (length,))
    return Tensor("i32", (length,))


def is_power_of_2(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def dimensions(reader: Reader, value: Value, node: ast.AST, where: str) -> Shape | None:
    """The shape that an argument gives, each dimension checked; None where it is not known."""
    if isinstance(value, Const) and isinstance(value.value, tuple):
        value = Tuple(tuple(Const(item) for item in value.value))
    if isinstance(value, Const) and value.known:
        if isinstance(value.value, Dtype):
            reader.mistake(MistakeKind.BLOCK_SHAPE, node, "dtype", where=where, text=ast.unparse(node))
        if isinstance(value.value, (int, float)):
            reader.mistake(MistakeKind.NOT_A_SHAPE, node, where=where, text=ast.unparse(node))
        return None
    if not isinstance(value, Tuple):
        return None
    nodes: list[ast.expr] | list[ast.AST] = [node] * len(value.items)
    if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == len(value.items):
        nodes = list(node.elts)
    return tuple(_dimension(reader, item, at, where) for item, at in zip(value.items, nodes, strict=True))


def _dimension(reader: Reader, value: Value, node: ast.AST, where: str) -> Dim:
    if needs_constant(reader, value, node, where) or not isinstance(value, Const) or not value.known:
        return None
    if type(value.value) is not int:
        if isinstance(value.value, Dtype):
            reader.mistake(MistakeKind.BLOCK_SHAPE, node, "dtype", where=where, text=ast.unparse(node))
        if isinstance(value.value, float):
            reader.mistake(
                MistakeKind.BLOCK_SHAPE, node, "float", where=where, text=ast.unparse(node), size=value.value
            )
        return None
    if not is_power_of_2(value.value):
        wider = 1 << max(value.value - 1, 0).bit_length()
        since = _EMPTY if value.value == 0 else None
        reader.mistake(MistakeKind.BLOCK_SHAPE, node, "size", since=since, where=where, size=value.value, wider=wider)
        return None
    size: int = value.value
    return size


def _shape_argument(reader: Reader, bound: Bound, name: str) -> Shape | None:
    if name not in bound.named:
        return None
    value, node = bound.named[name]
    where = f"tl.{bound.name}"
    if len(bound.rest) > 1 or (bound.rest and isinstance(value, Const) and type(value.value) is int):
        return tuple(_dimension(reader, item, at, where) for item, at in bound.rest)
    return dimensions(reader, value, node, where)


def _filled(reader: Reader, bound: Bound) -> Value:
    from tritonaudit.ir.operations import named_dtype

    shape = _shape_argument(reader, bound, "shape")
    dtype = named_dtype(reader, bound.value("dtype"), bound.node_of("dtype"))
    value = bound.value("value")
    if isinstance(value, Tensor) and value.is_block and value.numel not in (1, None):
        reader.mistake(MistakeKind.CALL, bound.node_of("value"), "fill", text=ast.unparse(bound.node_of("value")))
    if shape is not None:
        too_large(reader, bound.node, shape)
    return Tensor(dtype, shape)


def _zeros_like(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    return value if isinstance(value, Tensor) else UNKNOWN


def _reshape(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    shape = _shape_argument(reader, bound, "shape")
    if not isinstance(value, Tensor):
        return UNKNOWN
    before, after = value.numel, Tensor(None, shape).numel
    if before is not None and after is not None and value.shape and before != after:
        reader.mistake(
            MistakeKind.SHAPES, bound.node, "reshape", left=written(value.shape), right=written(shape), text=""
        )
        return UNKNOWN
    return Tensor(value.dtype, shape)


def _broadcast_to(reader: Reader, bound: Bound) -> Value:
    value = as_tensor(bound.first())
    shape = _shape_argument(reader, bound, "shape")
    if not isinstance(value, Tensor):
        return UNKNOWN
    if shape is not None and value.shape:
        joint = broadcast_shapes(value.shape, shape)
        if joint is None or len(value.shape) > len(shape):
            reader.mistake(
                MistakeKind.SHAPES, bound.node, "broadcast", left=written(value.shape), right=written(shape), text=""
            )
            return UNKNOWN
        if len(value.shape) != len(shape):
            reader.mistake(
                MistakeKind.RANKS, bound.node, "broadcast_to", left=written(value.shape), right=written(shape)
            )
    return Tensor(value.dtype, shape)


def _broadcast(reader: Reader, bound: Bound) -> Value:
    left, right = (bound.value(name) for name in ("input", "other"))
    shape = broadcast(reader, bound.node, left, right)
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        return UNKNOWN
    return Tuple((Tensor(left.dtype, shape), Tensor(right.dtype, shape)))


def _expand_dims(reader: Reader, bound: Bound) -> Value:
    value, axis = bound.first(), bound.value("axis")
    if not isinstance(value, Tensor) or value.shape is None:
        return UNKNOWN
    if not isinstance(axis, Const) or type(axis.value) is not int:
        return Tensor(value.dtype, None)
    rank = len(value.shape) + 1
    if not -rank <= axis.value < rank:
        reader.mistake(
            MistakeKind.AXIS, bound.node, "rank", axis=axis.value, rank=len(value.shape), name="tl.expand_dims"
        )
        return UNKNOWN
    dims = list(value.shape)
    dims.insert(axis.value % rank, 1)
    return Tensor(value.dtype, tuple(dims))


def _squeeze(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    return Tensor(value.dtype, None) if isinstance(value, Tensor) else UNKNOWN


def _trans(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    if not isinstance(value, Tensor) or value.shape is None:
        return UNKNOWN
    order = _order(bound)
    rank = len(value.shape)
    if order == [] and not value.free and bound.name == "trans" and rank != 2:
        until = None if rank < 2 else _REVERSES
        reader.mistake(MistakeKind.AXIS, bound.node, "swapped", until=until, rank=rank, name=f"tl.{bound.name}")
    if order == [] and rank >= 2:
        order = [*range(rank - 2), rank - 1, rank - 2]
    if order is None or not order:
        return Tensor(value.dtype, None)
    if sorted(order) != list(range(len(value.shape))):
        reader.mistake(
            MistakeKind.AXIS, bound.node, "order", axis=order, rank=len(value.shape), name=f"tl.{bound.name}"
        )
        return UNKNOWN
    return Tensor(value.dtype, tuple(value.shape[axis] for axis in order))


def _order(bound: Bound) -> list[int] | None:
    """The axes that a permutation names; empty where it names none, None where they are not known."""
    values = [value for value, _ in bound.rest]
    if not values and "dims" in bound.named:
        values = [bound.value("dims")]
    if len(values) == 1 and isinstance(values[0], Tuple):
        values = list(values[0].items)
    elif len(values) == 1 and isinstance(values[0], Const) and isinstance(values[0].value, tuple):
        values = [Const(item) for item in values[0].value]
    numbers = [value.value for value in values if isinstance(value, Const) and type(value.value) is int]
    return numbers if len(numbers) == len(values) else None


def _cat(reader: Reader, bound: Bound) -> Value:
    left, right = bound.value("input"), bound.value("other")
    reorder = bound.value("can_reorder")
    if {"input", "other"} <= bound.named.keys() and (
        "can_reorder" not in bound.named or (isinstance(reorder, Const) and reorder.value is False)
    ):
        reader.mistake(MistakeKind.CALL, bound.node, "cat", until=(3, 7))
    a, b = shape_of(left), shape_of(right)
    size: Dim = None
    if a and b and len(a) == len(b) == 1 and a[0] is not None and b[0] is not None:
        size = a[0] + b[0]
    dtype = left.dtype if isinstance(left, Tensor) else None
    return Tensor(dtype, (size,))


def _join(reader: Reader, bound: Bound) -> Value:
    values = [value for value, _ in bound.named.values()]
    if len(values) != 2:
        return UNKNOWN
    shape = broadcast(reader, bound.node, *values)
    one_dtype(reader, bound, values)
    dtype = values[0].dtype if isinstance(values[0], Tensor) else None
    return Tensor(dtype, None if shape is None else (*shape, 2))


def one_dtype(reader: Reader, bound: Bound, values: list[Value]) -> None:
    """A mistake where two values have different dtypes and the operation casts neither."""
    dtypes = [value.dtype for value in values if isinstance(value, Tensor) and not value.free]
    if len(dtypes) == len(values) == 2 and None not in dtypes and dtypes[0] != dtypes[1]:
        given = " and ".join(str(dtype) for dtype in dtypes)
        takes = "two blocks of one dtype"
        reader.mistake(
            MistakeKind.ARGUMENT_VALUE, bound.node, name=f"tl.{bound.name}", takes=takes, text=bound.text, given=given
        )


def _split(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    if not isinstance(value, Tensor) or value.shape is None:
        return UNKNOWN
    last = value.shape[-1] if value.shape else None
    if value.shape == () or last not in (2, None):
        reader.mistake(MistakeKind.SPLIT, bound.node, shape=written(value.shape), last=last)
        return UNKNOWN
    half = Tensor(value.dtype, value.shape[:-1])
    return Tuple((half, half))


def _interleave(reader: Reader, bound: Bound) -> Value:
    values = [value for value, _ in bound.named.values()]
    if len(values) != 2 or not isinstance(values[0], Tensor):
        return UNKNOWN
    shape = broadcast(reader, bound.node, *values)
    if not shape or shape[-1] is None:
        return Tensor(values[0].dtype, None)
    return Tensor(values[0].dtype, (*shape[:-1], 2 * shape[-1]))


def _ravel(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    return Tensor(value.dtype, (value.numel,)) if isinstance(value, Tensor) and value.shape is not None else UNKNOWN


def _flip(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    if isinstance(value, Tensor) and value.shape:
        _check_last(reader, bound, value.shape, until=(3, 4))
    if not bound.given("dim") and isinstance(value, Tensor):
        reader.mistake(MistakeKind.CALL, bound.node, "flip", since=(3, 4), until=(3, 9))
    return value if isinstance(value, Tensor) else UNKNOWN


def _gather(reader: Reader, bound: Bound) -> Value:
    value, shape = bound.value("src"), shape_of(bound.value("index"))
    return Tensor(value.dtype, shape) if isinstance(value, Tensor) and shape is not None else UNKNOWN


def _check_last(reader: Reader, bound: Bound, shape: Shape, until: Version | None = None) -> None:
    """A mistake where `dim` names another axis than the last."""
    dim = bound.value("dim")
    if isinstance(dim, Const) and type(dim.value) is int and dim.value != len(shape) - 1:
        reader.mistake(
            MistakeKind.ARGUMENT_VALUE, bound.node, until=until,
            name=f"tl.{bound.name}", takes=f"only the last axis, {len(shape) - 1}", text="dim", given=dim.value,
        )  # fmt: skip


def _only(reader: Reader, bound: Bound) -> Value:
    """`x.item()`: the only element of a block."""
    value = bound.first()
    if not isinstance(value, Tensor):
        return UNKNOWN
    if value.numel not in (None, 1):
        text, given = bound.text, text_of_type(value)
        reader.mistake(
            MistakeKind.ARGUMENT_VALUE, bound.node, name="item", takes="a block of one element", text=text, given=given
        )
    return Tensor(value.dtype, (), value.free)


def _sort(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    if isinstance(value, Tensor) and value.shape:
        _check_last(reader, bound, value.shape)
    return value if isinstance(value, Tensor) else UNKNOWN


def _topk(reader: Reader, bound: Bound) -> Value:
    value, k = bound.first(), bound.value("k")
    if not isinstance(value, Tensor) or not value.shape:
        return UNKNOWN
    _check_last(reader, bound, value.shape)
    count = k.value if isinstance(k, Const) and type(k.value) is int else None
    if count is not None and not is_power_of_2(count):
        reader.mistake(
            MistakeKind.ARGUMENT_VALUE, bound.node,
            name="tl.topk", takes="a power of two", text=ast.unparse(bound.node_of("k")), given=count,
        )  # fmt: skip
    return Tensor(value.dtype, (*value.shape[:-1], count))


def _histogram(reader: Reader, bound: Bound) -> Value:
    bins, value = bound.value("num_bins"), bound.first()
    if isinstance(value, Tensor) and value.dtype is not None and value.dtype not in ("i32", "u32"):
        reader.mistake(
            MistakeKind.ARGUMENT_VALUE, bound.node,
            name="tl.histogram", takes="32-bit integers", text=bound.text, given=text_of_type(value),
        )  # fmt: skip
    return Tensor("i32", (bins.value if isinstance(bins, Const) and type(bins.value) is int else None,))


OPERATIONS: dict[str, Callable[[Reader, Bound], Value]] = {
    "program_id": _program_id,
    "num_programs": _program_id,
    "arange": _arange,
    "zeros": _filled,
    "full": _filled,
    "zeros_like": _zeros_like,
    "reshape": _reshape,
    "view": _reshape,
    "broadcast_to": _broadcast_to,
    "broadcast": _broadcast,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "unsqueeze": _squeeze,
    "trans": _trans,
    "permute": _trans,
    "cat": _cat,
    "join": _join,
    "split": _split,
    "interleave": _interleave,
    "ravel": _ravel,
    "flip": _flip,
    "item": _only,
    "sort": _sort,
    "topk": _topk,
    "gather": _gather,
    "histogram": _histogram,
}

__all__ = ["ANY", "OPERATIONS", "dimensions", "needs_constant"]
