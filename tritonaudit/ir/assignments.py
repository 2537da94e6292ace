"""Assignments: what a target is given, and of what type it is then."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tritonaudit.ir import expressions
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import (
    ANY,
    ANY_INT,
    UNKNOWN,
    Const,
    Missing,
    Tensor,
    Tuple,
    Unknown,
    Value,
    as_tensor,
    dtype_of_number,
    text_of_type,
)
from tritonaudit.ir.writing import made_by, made_of

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader


def assign(reader: Reader, node: ast.Assign) -> None:
    value = reader.evaluate(node.value)
    if len(node.targets) > 1:
        reader.mistake(MistakeKind.ASSIGNMENT, node, "several targets")
    for target in node.targets:
        bind(reader, target, value, node)


def bind(reader: Reader, target: ast.expr, value: Value, node: ast.stmt | ast.NamedExpr) -> None:
    """Give a target its value: numbers become tensors."""
    if isinstance(target, ast.Name):
        if target.id in reader.frame.bare_annotations and not reader.before((3, 8)):
            reader.frame.bare_annotations.discard(target.id)
            reader.assign(target.id, value, node)
            return
        _check_assignable(reader, value, node)
        plain = _plain(value, node)
        if isinstance(plain, Unknown) and plain.made is not None:
            plain = reader.result("plain", node, {"value": (value, node)}, plain)
        reader.assign(target.id, plain, node)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(reader, target, value, node)
    elif isinstance(target, ast.Subscript):
        reader.evaluate(target.value)
        reader.mistake(MistakeKind.SET_ITEM, target, name=ast.unparse(target.value))
    elif isinstance(target, ast.Attribute):
        reader.evaluate(target.value)
        # One release took it without a word.
        for since, until in ((None, (3, 4)), ((3, 5), None)):
            reader.mistake(MistakeKind.SET_ATTRIBUTE, target, since=since, until=until, name=ast.unparse(target))


def _plain(value: Value, node: ast.stmt | ast.NamedExpr) -> Value:
    """What a plain assignment makes of a value; a sum of constants that are not known is a number all the same."""
    source = getattr(node, "value", None)
    if value in (Const(ANY), Const(ANY_INT)) and isinstance(source, ast.BinOp) and not isinstance(source.op, ast.Mod):
        return made_by(Tensor("i32" if value == Const(ANY_INT) else None, ()), made_of(value))
    return as_tensor(value)


def _check_assignable(reader: Reader, value: Value, node: ast.stmt | ast.NamedExpr) -> None:
    if not isinstance(value, Const) or not value.known:
        return
    if type(value.value) is str:
        reader.mistake(MistakeKind.STRING, node, text=value.value)
    elif isinstance(value.value, (complex, bytes)):
        reader.mistake(MistakeKind.NO_NUMBER, node, text=repr(value.value))
    elif type(value.value) is int and dtype_of_number(value.value) is None:
        reader.mistake(MistakeKind.NO_NUMBER, node, text=f"an integer of {value.value.bit_length()} bits")


def _unpack(reader: Reader, target: ast.Tuple | ast.List, value: Value, node: ast.stmt | ast.NamedExpr) -> None:
    if any(isinstance(element, ast.Starred) for element in target.elts):
        reader.mistake(MistakeKind.ASSIGNMENT, target, "starred")
    items: tuple[Value, ...] | None = None
    if isinstance(value, Const) and isinstance(value.value, tuple):
        reader.mistake(MistakeKind.ASSIGNMENT, target, "constant tuple", until=(3, 8))
        value = Tuple(tuple(Const(item) for item in value.value))
    if any(isinstance(element, (ast.Tuple, ast.List)) for element in target.elts):
        reader.mistake(MistakeKind.ASSIGNMENT, target, "nested", until=(3, 8))
    if isinstance(value, Tuple):
        items = value.items
        if len(items) != len(target.elts) and not any(isinstance(e, ast.Starred) for e in target.elts):
            since = (3, 3) if len(items) < len(target.elts) else (3, 9)  # one too many was dropped
            reader.mistake(
                MistakeKind.ASSIGNMENT, target, "number", since=since, targets=len(target.elts), values=len(items)
            )
            items = None
    elif isinstance(value, Tensor) and not value.free:
        reader.mistake(MistakeKind.ASSIGNMENT, target, "no tuple", since=(3, 3), type=text_of_type(value))
    for index, element in enumerate(target.elts):
        if isinstance(element, ast.Starred):
            element = element.value
        known = items is not None and len(items) == len(target.elts)
        bind(reader, element, items[index] if items is not None and known else UNKNOWN, node)


def augmented(reader: Reader, node: ast.AugAssign) -> None:
    if isinstance(node.target, (ast.Name, ast.Attribute, ast.Subscript)):
        value = expressions.operate(reader, node, node.op, node.target, node.value)
        bind(reader, node.target, value, node)


def annotated(reader: Reader, node: ast.AnnAssign) -> None:
    constexpr = "constexpr" in ast.unparse(node.annotation)
    if not constexpr:
        reader.mistake(MistakeKind.ASSIGNMENT, node, "annotation", until=(3, 2))
    if node.value is None:
        if constexpr and isinstance(node.target, ast.Name):
            reader.frame.bare_annotations.add(node.target.id)
        return
    value = reader.evaluate(node.value)
    if not constexpr or not isinstance(node.target, ast.Name):
        bind(reader, node.target, value, node)
        return
    if isinstance(value, Tuple) and all(isinstance(item, Const) and item.known for item in value.items):
        value = Const(tuple(item.value for item in value.items if isinstance(item, Const)))
    name = node.target.id
    if not isinstance(reader.state.get(name, None), (type(None), Missing)) and not _maybe(reader, name):
        reader.mistake(MistakeKind.CONSTANT_AGAIN, node, name=name)
    reader.assign(name, Const(ANY, value.made) if isinstance(value, Unknown) and value.made else value, node)


def _maybe(reader: Reader, name: str) -> bool:
    """Whether the value stems from an arm of an undecided constant condition, which may not be compiled."""
    return reader.state.get(name) == UNKNOWN or name in reader.undecided
