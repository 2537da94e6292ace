"""Inlay hints: the dtype and the shape of each block that a kernel gives a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp

from tritonaudit.domains.facts import Assigned, KernelFlow
from tritonaudit.domains.value import as_dtype
from tritonaudit.ir.values import POINTER, Tensor
from tritonaudit.server.texts import Text
from tritonaudit.source.outline import span_of


def hints(kernels: Sequence[KernelFlow], text: Text, wanted: lsp.Range) -> list[lsp.InlayHint]:
    """Those in a part of the text, for which the kernels are known."""
    found: dict[tuple[int, int], set[str]] = {}
    for kernel in kernels:
        for place, label in _labels(kernel):
            found.setdefault(place, set()).add(label)
    return [
        lsp.InlayHint(text.position(line, column), f": {label}", lsp.InlayHintKind.Type)
        for (line, column), (label, *others) in sorted((place, sorted(labels)) for place, labels in found.items())
        if not others and wanted.start.line < line <= wanted.end.line + 1
    ]


def _labels(kernel: KernelFlow) -> Iterator[tuple[tuple[int, int], str]]:
    """What to say after each name that the kernel's own text sets."""
    for one in kernel.assigned:
        target = _target(one)
        if target is not None and (label := label_of(one)):
            span = span_of(target, kernel.module.lines)
            yield (span.end_line, span.end_column), label


def _target(one: Assigned) -> ast.Name | None:
    """The name in the text of an assignment that has one target."""
    node = one.assign.node
    if one.assign.calls:
        return None
    if isinstance(node, ast.Name):
        return node if node.id == one.assign.name else None
    targets = node.targets if isinstance(node, ast.Assign) else []
    target = targets[0] if len(targets) == 1 else None
    return target if isinstance(target, ast.Name) and target.id == one.assign.name else None


def label_of(one: Assigned) -> str:
    """`fp32[BLOCK_M, 64]`; empty for what is no block, or of which nothing is known."""
    typed, value = one.assign.value, one.value
    if not isinstance(typed, Tensor) or not typed.shape:
        return ""
    rank = len(typed.shape)
    known = value.shape if value.shape is not None and len(value.shape) == rank else (None,) * rank
    pairs = zip(typed.shape, known, strict=True)
    dims = ["?" if (dim, other) == (None, None) else str(other if dim is None else dim) for dim, other in pairs]
    dtype = _dtype(typed, value.dtype)
    return "" if not dtype and set(dims) == {"?"} else f"{dtype}[{', '.join(dims)}]"


def _dtype(typed: Tensor, known: str | None) -> str:
    if typed.is_pointer:
        return "pointer" if typed.dtype == POINTER else f"*{(typed.dtype or POINTER)[1:]}"
    return typed.dtype or as_dtype(known or "") or ""
