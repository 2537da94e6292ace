"""Partial sums that a wrapper keeps in a buffer between the kernel that makes them and the sum of them all."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import dotted_name

_HALF = frozenset({"torch.float16", "torch.half", "torch.bfloat16"})
_ALLOCATIONS = frozenset({"empty", "zeros", "new_empty", "new_zeros"})


@dataclass(frozen=True, eq=False)
class Partials:
    """A buffer for `parameter` with elements of the dtype that `dtype` gives, which `sum` adds up after a launch."""

    parameter: str
    dtype: ast.expr
    sum: ast.Call


def narrow_partials(launches: Sequence[Launch], stored: Container[str]) -> Iterator[Partials]:
    """The buffers of 16 bits, or of an input's dtype, that the kernel fills and the wrapper sums."""
    for launch in launches:
        for parameter, argument in launch.arguments.items():
            if parameter not in stored or not isinstance(argument, ast.Name) or launch.wrapper is None:
                continue
            dtypes = [_dtype(launch, node) for node in launch.definitions(argument)]
            total = _sum_of(launch, argument.id)
            if total is not None and len(dtypes) == 1 and dtypes[0] is not None:
                yield Partials(parameter, dtypes[0], total)


def _dtype(launch: Launch, node: ast.expr) -> ast.expr | None:
    """Where an allocation says its dtype, when that is narrow or an input's."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ALLOCATIONS):
        return None
    given = next((keyword.value for keyword in node.keywords if keyword.arg == "dtype"), None)
    if given is None:
        return None
    dotted = dotted_name(given) or ""
    if launch.module.origin(dotted) in _HALF:
        return given
    owner, _, attribute = dotted.partition(".")
    return given if attribute == "dtype" and owner in _parameters(launch) else None


def _parameters(launch: Launch) -> frozenset[str]:
    """The names of the wrapper's own tensors: what it is given, or keeps for its backward pass."""
    assert launch.wrapper is not None
    arguments = launch.wrapper.args
    names = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for node in launch.nodes.of(ast.Assign):
        if isinstance(node.value, ast.Attribute) and node.value.attr == "saved_tensors":
            names |= set().union(*map(names_in, node.targets))
    return frozenset(names)


def _sum_of(launch: Launch, buffer: str) -> ast.Call | None:
    """The first `buffer.sum(…)` or `torch.sum(buffer, …)` after the launch, if the buffer is then as it was.

    What is laid out again before is no buffer of parts: the gradients of heads that share a key are added so.
    """
    later = (node for node in launch.nodes.of(ast.Call) if node.lineno > launch.call.lineno)
    sums = [node for node in later if _sums(launch, node, buffer)]
    first = min(sums, key=lambda node: node.lineno, default=None)
    if first is None or any(_sets(node, buffer, launch.call, first) for node in launch.nodes.of(ast.Assign)):
        return None
    return first


def _sets(node: ast.Assign, name: str, after: ast.Call, before: ast.Call) -> bool:
    return after.lineno < node.lineno < before.lineno and any(_is_name(target, name) for target in node.targets)


def _sums(launch: Launch, node: ast.Call, buffer: str) -> bool:
    if launch.module.origin_of(node.func) == "torch.sum":
        return bool(node.args) and _is_name(node.args[0], buffer)
    return isinstance(node.func, ast.Attribute) and node.func.attr == "sum" and _is_name(node.func.value, buffer)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
