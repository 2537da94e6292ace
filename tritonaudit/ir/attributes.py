"""Attributes: of blocks, of constants and dtypes, of modules."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tritonaudit.ir import expressions
from tritonaudit.ir.members import DTYPE_MEMBERS, member
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.names import named
from tritonaudit.ir.values import (
    ANY,
    ANY_INT,
    UNKNOWN,
    BlockPointer,
    Const,
    Descriptor,
    Dtype,
    Helper,
    Method,
    Named,
    Tensor,
    Tuple,
    Value,
)
from tritonaudit.ir.writing import made_of

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader


def of_value(reader: Reader, node: ast.Attribute) -> Value:
    value = expressions.evaluate(reader, node.value)
    found = attribute(reader, node, value)
    if isinstance(value, (Named, Helper)) or isinstance(found, (Method, Named)) or made_of(value) is None:
        return found
    return reader.result("attribute", node, {"value": (value, node.value)}, found, node.attr)


def attribute(reader: Reader, node: ast.Attribute, value: Value) -> Value:
    """`value.name`."""
    name = node.attr
    if isinstance(value, Named):
        project, module = reader.project, reader.frame.function.module
        return named(project.origin_of(module, f"{value.origin}.{name}"))
    if isinstance(value, Tensor):
        return _of_tensor(reader, node, value)
    if isinstance(value, Const):
        return _of_constant(reader, node, value)
    if isinstance(value, Tuple):
        if name in ("append", "extend", "pop", "insert"):
            reader.mistake(MistakeKind.ATTRIBUTE, node, "tuple", name=name)
        return UNKNOWN
    if isinstance(value, (BlockPointer, Descriptor)):
        return Method(value, name)
    return Method(value, name) if isinstance(value, Helper) and name in ("run", "warmup") else UNKNOWN


_OF_DESCRIPTORS = frozenset({"load", "store", "gather", "scatter", "strides", "block_shape"})


def _of_tensor(reader: Reader, node: ast.Attribute, value: Tensor) -> Value:
    name = node.attr
    if name == "dtype":
        return Const(ANY if value.dtype is None else Dtype(value.dtype))
    if name == "shape":
        if value.shape is None or value.free:
            return UNKNOWN
        return Tuple(tuple(Const(ANY if dim is None else dim) for dim in value.shape))
    if name == "numel":
        return Const(ANY if value.numel is None else value.numel)
    if name == "type":
        return UNKNOWN
    if name == "T":
        shape = None if value.shape is None or len(value.shape) != 2 else (value.shape[1], value.shape[0])
        return Tensor(value.dtype, shape)
    if value.free and (name in _OF_DESCRIPTORS or name.startswith("atomic_")):
        return UNKNOWN
    known = member(name)
    if known is None:
        if not value.free:
            reader.mistake(MistakeKind.ATTRIBUTE, node, "tensor", name=name, text=ast.unparse(node.value))
        return UNKNOWN
    if not value.free:
        reader.mistake(MistakeKind.ATTRIBUTE, node, "later", until=known, name=name, since_=known)
    return Method(value, name)


def _of_constant(reader: Reader, node: ast.Attribute, value: Const) -> Value:
    name = node.attr
    if name == "value":
        return value
    if value.value is None and reader.is_sure:
        reader.mistake(MistakeKind.ATTRIBUTE, node, "constant", name=name, text=ast.unparse(node.value))
        return UNKNOWN
    if isinstance(value.value, Dtype):
        if name == "element_ty" and not value.value.startswith("*"):
            reader.mistake(MistakeKind.ATTRIBUTE, node, "no pointer", name=name, text=ast.unparse(node.value))
            return UNKNOWN
        if name in ("element_ty", "scalar"):
            inner = value.value[1:] if value.value.startswith("*") and name == "element_ty" else str(value.value)
            return Const(Dtype(inner) if inner else ANY)
        if name not in DTYPE_MEMBERS and not name.startswith("_"):
            reader.mistake(MistakeKind.ATTRIBUTE, node, "dtype", name=name, text=ast.unparse(node.value))
            return UNKNOWN
        if name == "itemsize":
            reader.mistake(MistakeKind.ATTRIBUTE, node, "later", until=(3, 4), name=name, since_=(3, 4))
        return Method(value, name) if name.startswith("is_") else _dtype_fact(value.value, name)
    if type(value.value) in (int, float) or value.value is ANY_INT:
        # A number of Python's is no block, whatever it is computed with.
        if name in ("to", "dtype", "shape", "type") or member(name) is not None:
            reader.mistake(MistakeKind.ATTRIBUTE, node, "constant", name=name, text=ast.unparse(node.value))
        return UNKNOWN
    if type(value.value) is str:
        reader.mistake(MistakeKind.ATTRIBUTE, node, "constant", until=(3, 4), name=name, text=ast.unparse(node.value))
        return Method(value, name)
    if not value.known and name == "to":
        reader.mistake(MistakeKind.ATTRIBUTE, node, "constant", name=name, text=ast.unparse(node.value))
        return UNKNOWN
    return Const(ANY) if not value.known else UNKNOWN


def _dtype_fact(dtype: Dtype, name: str) -> Value:
    digits = "".join(ch for ch in dtype.removeprefix("bf").removeprefix("fp") if ch.isdigit())
    if name in ("primitive_bitwidth", "itemsize") and not dtype.startswith("*"):
        bits = 8 if dtype.startswith("fp8") else int(digits) if digits else None
        return Const(ANY if bits is None else bits if name == "primitive_bitwidth" else bits // 8)
    return Const(ANY)
