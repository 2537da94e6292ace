"""Subscripts: new dimensions of blocks, and items of tuples."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tritonaudit.ir import expressions
from tritonaudit.ir.arithmetic import unpacked
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import (
    ANY,
    NONE,
    UNKNOWN,
    Argument,
    Const,
    Helper,
    Method,
    Named,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader


def subscript(reader: Reader, node: ast.Subscript) -> Value:
    value = expressions.evaluate(reader, node.value)
    if isinstance(value, (Helper,)):
        evaluate_index(reader, node.slice)
        return Method(value, "[grid]")
    if isinstance(value, Tensor):
        return _indexed(reader, node, value)
    index = expressions.evaluate(reader, node.slice) if not isinstance(node.slice, ast.Slice) else UNKNOWN
    if isinstance(value, Unknown) and value.made is not None:
        kinds = _new_dimensions(node.slice)
        arguments: dict[str, Argument] = {"value": (value, node.value), "index": (index, node.slice)}
        return reader.result("index" if kinds is None else "expand", node, arguments, UNKNOWN, kinds)
    if isinstance(value, Tuple):
        return _item(reader, node, value, index)
    if isinstance(value, Const) and isinstance(value.value, tuple):
        reader.mistake(MistakeKind.INDEX, node, "constant tuple", until=(3, 4), text=ast.unparse(node))
        if isinstance(node.slice, ast.Slice):
            reader.mistake(MistakeKind.INDEX, node, "constant slice", until=(3, 8), text=ast.unparse(node))
            return _sliced(reader, node.slice, unpacked(value))
        if isinstance(index, Const) and type(index.value) is int and not _is_within(index.value, len(value.value)):
            reader.mistake(MistakeKind.INDEX, node, "past the end", text=ast.unparse(node), length=len(value.value))
        if (
            isinstance(index, Const)
            and type(index.value) is int
            and -len(value.value) <= index.value < len(value.value)
        ):
            return Const(value.value[index.value])
        return Const(ANY)
    return Const(ANY) if isinstance(value, Const) and not value.known else UNKNOWN


def _new_dimensions(index: ast.expr) -> tuple[bool, ...] | None:
    """Of each dimension of `x[:, None]` whether it is new; None for any other index."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    kinds = [isinstance(part, ast.Constant) and part.value is None for part in parts]
    whole = all(kind or isinstance(part, ast.Slice) for kind, part in zip(kinds, parts, strict=True))
    return tuple(kinds) if whole else None


def evaluate_index(reader: Reader, node: ast.expr) -> None:
    if not isinstance(node, ast.Slice):
        expressions.evaluate(reader, node)


def _item(reader: Reader, node: ast.Subscript, value: Tuple, index: Value) -> Value:
    if value.literal:
        reader.mistake(MistakeKind.INDEX, node, "tuple", until=(3, 3), text=ast.unparse(node))
    if isinstance(node.slice, ast.Slice):
        return _sliced(reader, node.slice, value)
    if isinstance(index, Const) and type(index.value) is int:
        if not _is_within(index.value, len(value.items)):
            reader.mistake(MistakeKind.INDEX, node, "past the end", text=ast.unparse(node), length=len(value.items))
            return UNKNOWN
        return value.items[index.value]
    return UNKNOWN


def _is_within(index: int, length: int) -> bool:
    return -length <= index < length


def _sliced(reader: Reader, node: ast.Slice, value: Value) -> Value:
    """A part of a tuple, between bounds that are constants."""
    bounds = [
        NONE if bound is None else expressions.evaluate(reader, bound) for bound in (node.lower, node.upper, node.step)
    ]
    numbers = [bound.value for bound in bounds if isinstance(bound, Const) and type(bound.value) in (int, type(None))]
    if not isinstance(value, Tuple) or len(numbers) != len(bounds) or numbers[2] == 0:
        return UNKNOWN
    return Tuple(value.items[slice(*numbers)])


def _indexed(reader: Reader, node: ast.Subscript, value: Tensor) -> Value:
    """`x[:, None]`: only `:` and `None` are indices of a tensor."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    kinds: list[bool] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            bounds = [bound for bound in (part.lower, part.upper, part.step) if bound is not None]
            if all(expressions.evaluate(reader, bound) == NONE for bound in bounds):
                if bounds:
                    reader.mistake(MistakeKind.INDEX, node, "slice", until=(3, 4), text=ast.unparse(node))
                kinds.append(False)
                continue
            wrong = "slice"
        else:
            index = expressions.evaluate(reader, part)
            if isinstance(index, Const) and index.value is None:
                kinds.append(True)
                continue
            if index == Named("numpy.newaxis") and not value.free:
                reader.mistake(MistakeKind.INDEX, node, "number", since=(3, 3), text=ast.unparse(node))
                return UNKNOWN
            if index == UNKNOWN or value.free or (isinstance(index, Const) and not index.known):
                return UNKNOWN
            wrong = "runtime" if isinstance(index, Tensor) else "number"
        if value.free:
            return UNKNOWN
        pointer = value.is_pointer and not value.shape
        reader.mistake(MistakeKind.INDEX, node, "pointer" if pointer else wrong, text=ast.unparse(node))
        return UNKNOWN
    return _expanded(reader, node, value, kinds)


def _expanded(reader: Reader, node: ast.Subscript, value: Tensor, kinds: list[bool]) -> Value:
    found = _with_new_dimensions(reader, node, value, kinds)
    return reader.result("expand", node, {"value": (value, node.value)}, found, tuple(kinds))


def _with_new_dimensions(reader: Reader, node: ast.Subscript, value: Tensor, kinds: list[bool]) -> Value:
    if value.shape is None:
        return Tensor(value.dtype, None)
    rank = len(value.shape)
    if kinds.count(False) > rank and not value.free:
        reader.mistake(MistakeKind.INDEX, node, "rank", since=(3, 9), text=ast.unparse(node), rank=rank)
    dims = list(value.shape)
    for position, new in enumerate(kinds):
        if new:
            dims.insert(position, 1)
    return Tensor(value.dtype, tuple(dims), value.free)
