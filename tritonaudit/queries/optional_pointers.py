"""Pointers that may be None, and where a kernel uses them though it knows no better."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.finding import Span
from tritonaudit.kernel.optional import is_always_given, optional_pointers
from tritonaudit.queries.updates import parameter_of
from tritonaudit.source.nodes import names_in, spans
from tritonaudit.source.outline import span_of

if TYPE_CHECKING:
    from libcst import CSTNode


@dataclass(frozen=True, eq=False)
class Unguarded:
    """The kernel accesses, or computes with, the parameter at `where`; it is None where `flag` is false."""

    parameter: str
    flag: str
    where: CSTNode | Span


def unguarded_pointers(flow: KernelFlow) -> Iterator[Unguarded]:
    """The first use of each pointer that may be None which no flag guards, where the kernel asks its flag."""
    modules = (flow.module, *(launch.module for launch in flow.launches.launches))
    if flow.is_helper or not any(module.says("None") for module in modules):
        return
    for pointer, flags in optional_pointers(flow.module, flow.function, flow.launches).items():
        asked = sorted(flags & _tested(flow))
        found = (_computed(flow, pointer) or _accessed(flow, pointer, flags)) if asked else None
        if found is not None and not is_always_given(flow.launches, pointer):
            yield Unguarded(pointer, asked[0], found)


def _tested(flow: KernelFlow) -> set[str]:
    """The names in the conditions of the kernel."""
    nodes = flow.function.nodes
    tests = [*(node.test for node in nodes.of(ast.If)), *(node.test for node in nodes.of(ast.IfExp))]
    return set().union(*map(names_in, tests))


def _computed(flow: KernelFlow, pointer: str) -> Span | None:
    """Where something is added to the pointer before any condition is met."""
    for statement in flow.function.node.body:
        if isinstance(statement, ast.If):
            return None
        if isinstance(statement, ast.AugAssign) and _is(statement.target, pointer):
            return span_of(statement, flow.module.lines)
        if isinstance(statement, ast.Assign):
            if isinstance(statement.value, ast.BinOp) and _adds_to(statement.value, pointer):
                return span_of(statement, flow.module.lines)
            if any(_is(target, pointer) for target in statement.targets):
                return None
    return None


def _adds_to(node: ast.BinOp, name: str) -> bool:
    """Whether the name is a part of the sum."""
    return any(
        _is(side, name) or (isinstance(side, ast.BinOp) and _adds_to(side, name)) for side in (node.left, node.right)
    )


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _accessed(flow: KernelFlow, pointer: str, flags: set[str]) -> CSTNode | None:
    """The first access that runs whatever the constants of the kernel are."""
    accesses = (access for access in flow.accesses if parameter_of(access) == pointer)
    return next((access.node for access in accesses if _is_free(flow, access, pointer, flags)), None)


def _is_free(flow: KernelFlow, access: Access, pointer: str, flags: set[str]) -> bool:
    """Whether it runs whatever the constants of the kernel are, and the pointer is what the launch passes."""
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(flags | {pointer})))})\b")
    if any(guard.constexpr or named.search(guard.condition) for guard in access.path):
        return False
    span = flow.tree.span(access.node)
    chosen = (node for node in flow.function.nodes.of(ast.IfExp) if names_in(node.test) & (flags | {pointer}))
    if any(spans(node, span.line) for node in chosen):
        return False
    stored = (node for node in flow.function.nodes.of(ast.Name) if isinstance(node.ctx, ast.Store))
    return not any(node.id == pointer and node.lineno < span.line for node in stored)
