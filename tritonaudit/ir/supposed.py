"""What is refused whatever a launch passes: a parameter is supposed to be of one type after the other.

Where no launch shows a parameter's type, a kernel is read as if it were this one or that. If none goes, the first
complaint holds. What is no number and no pointer (a tuple, a function, a descriptor) is left out by how it is used.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tritonaudit.ir.mistakes import COMPILES, Mistake
from tritonaudit.ir.values import Tensor, Value
from tritonaudit.source.outline import dotted_name

if TYPE_CHECKING:
    from tritonaudit.kernel.project import Function
    from tritonaudit.target import Version

Read = Callable[[Mapping[str, Value]], Sequence[Mistake]]
"""Reads the kernel with parameters of these types."""

_ELEMENTS = (
    "fp32",
    "i32",
    "i1",
    "fp16",
    "bf16",
    "i64",
    "i8",
    "u8",
    "fp64",
    "fp8e5",
    "fp8e4nv",
    "i16",
    "u16",
    "u32",
    "u64",
)
_TYPES = ("*fp32", "i32", "fp32", "i64", *(f"*{element}" for element in _ELEMENTS[1:]), "u64", "i1", "u32")
"""What a launch may make of an argument, the usual first; a constant 1 or None compiles what nothing else does."""
_SILENT = ("silent", "wraps", "undefined")


def refused_anyway(
    function: Function, given: Mapping[str, Value], versions: tuple[Version, ...], read: Read
) -> Iterator[Mistake]:
    """One mistake for each parameter of which no type goes, in the releases in which none does."""
    unknown = [name for name, value in given.items() if isinstance(value, Tensor) and value.free]
    if not unknown:
        return
    pointers = _bases(function)
    usual = {name: Tensor("*fp32" if name in pointers else "i32", ()) for name in unknown}
    if not _errors(read({**given, **usual})) or _errors(read(given)):
        return  # it goes, or is refused without supposing anything, as another kernel's reading has shown
    others = _used_otherwise(function)
    for name in unknown:
        if name not in others:
            yield from _of_parameter(name, usual[name], given, versions, read)


def _of_parameter(
    name: str, usual: Tensor, given: Mapping[str, Value], versions: tuple[Version, ...], read: Read
) -> Iterator[Mistake]:
    left = set(versions)
    first: list[Mistake] = []
    for supposed in (usual, *(Tensor(dtype, ()) for dtype in _TYPES if dtype != usual.dtype)):
        errors = _errors(read({**given, name: supposed}))
        first = first or errors
        left &= {version for error in errors for version in error.releases}
        if not left:
            return
    for error in first:
        releases = tuple(version for version in error.releases if version in left)
        if releases:
            yield replace(error, releases=releases)
            return


def _errors(mistakes: Sequence[Mistake]) -> list[Mistake]:
    return [one for one in mistakes if one.sure and one.kind not in COMPILES and one.what not in _SILENT]


def _bases(function: Function) -> set[str]:
    """The names at the left end of the sums that are loaded from and stored to: pointers, as people write them."""
    found = set()
    for call in function.jit.nodes.of(ast.Call):
        place: ast.expr | None = call.args[0] if call.args else None
        while isinstance(place, (ast.BinOp, ast.UnaryOp)):
            place = place.left if isinstance(place, ast.BinOp) else place.operand
        if isinstance(place, ast.Name) and isinstance(call.func, ast.Attribute):
            found.add(place.id)
    return found


def _used_otherwise(function: Function) -> set[str]:
    """Names that may be no number and no pointer: indexed, called, asked for an attribute, unpacked or handed on."""
    found: set[str] = set()
    same: list[tuple[str, str]] = []
    for node in ast.walk(function.jit.node):
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            found |= _named(node.value)
        elif isinstance(node, (ast.Tuple, ast.List)):
            found |= {name for element in node.elts for name in _named(element)}
        elif isinstance(node, (ast.For, ast.comprehension)):
            found |= _named(node.iter)
        elif isinstance(node, ast.Call):
            found |= _named(node.func)
            called = dotted_name(node.func)
            if called is None or not _takes_numbers(function.module.origin(called)):
                found |= {name for part in (*node.args, *(k.value for k in node.keywords)) for name in _named(part)}
        elif isinstance(node, ast.Assign):
            same += [(one, other) for target in node.targets for one in _named(target) for other in _named(node.value)]
            if not isinstance(node.targets[0], ast.Name):
                found |= _named(node.value)
    while more := {other for one, other in same if one in found} - found:
        found |= more
    return found


def _takes_numbers(origin: str) -> bool:
    return origin.startswith("triton.language.") or origin == "range"


def _named(node: ast.expr) -> set[str]:
    return {node.id} if isinstance(node, ast.Name) else set()
