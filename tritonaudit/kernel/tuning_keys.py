"""Sizes in an autotuner's key that are another number for every batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch
from tritonaudit.kernel.tuning import Autotune
from tritonaudit.source.outline import dotted_name


@dataclass(frozen=True, eq=False)
class SequenceCount:
    """`name` in a key (at `node`), for which a launch passes `value`, the number of sequences in a ragged batch."""

    name: str
    node: ast.expr
    value: ast.expr


def sequence_counts(autotune: Autotune, launches: Sequence[Launch]) -> Iterator[SequenceCount]:
    """The names in a key that stand for how many sequences a batch has, each once."""
    for name, node in autotune.names("key"):
        for launch in launches:
            given = launch.arguments.get(name)
            value = None if given is None else launch.definition(given)
            if value is not None and is_number_of_sequences(value):
                yield SequenceCount(name, node, value)
                break


def is_number_of_sequences(node: ast.expr) -> bool:
    """`offsets.numel() - 1` and the like: the offsets of n sequences are n + 1."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_length(node.left)):
        return False
    return isinstance(node.right, ast.Constant) and node.right.value == 1


def _is_length(node: ast.expr) -> bool:
    """`x.numel()`, `len(x)`, `x.size(0)` or `x.shape[0]`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and _is_zero(node.slice)
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted_name(node.func)
    return name in ("numel", "len") or (name == "size" and len(node.args) == 1 and _is_zero(node.args[0]))


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0
