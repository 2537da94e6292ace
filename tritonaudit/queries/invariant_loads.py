"""Loads in a loop that read the same in each turn."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.finding import Span
from tritonaudit.source.nodes import names_in, spans
from tritonaudit.source.outline import Module, span_of

_LOAD = "triton.language.load"
_LANGUAGE = "triton.language."
_WRITES = ("store", "atomic", "barrier", "asm", "async", "wait")
"""What a function that writes, or waits for what others write, has in its name."""
_BUILT_IN = frozenset(dir(builtins)) - {"print"}


@dataclass(frozen=True, eq=False)
class InvariantLoad:
    """The load of `tensor` at `node` is in `loop`, which changes neither its address nor its mask.

    `stores` are the loop's own stores, all to other tensors: because of them the compiler leaves the load where it is.
    """

    node: ast.Call
    tensor: str
    loop: ast.For
    stores: tuple[Access, ...]


def invariant_loads(flow: KernelFlow) -> Iterator[InvariantLoad]:
    """The loads that every turn of a loop makes, and that nothing in the loop can change."""
    nodes = flow.function.nodes
    loops = nodes.of(ast.For)
    calls = nodes.of(ast.Call) if loops else []
    loads = [(call, names_in(call)) for call in calls if flow.module.origin_of(call.func) == _LOAD]
    for loop in loops:
        target = names_in(loop.target)
        fixed = [(load, names) for load, names in loads if spans(loop, load.lineno) and not names & target]
        if fixed and all(_is_quiet(flow.module, call) for call in calls if spans(loop, call.lineno)):
            changing = {
                node.id for node in nodes.of(ast.Name) if isinstance(node.ctx, ast.Store) and spans(loop, node.lineno)
            }
            for load, names in fixed:
                if not names & changing and _is_each_turn(flow, loop, load) and _is_pure(flow.module, load):
                    yield from _elsewhere(flow, loop, load)


def _is_each_turn(flow: KernelFlow, loop: ast.For, load: ast.Call) -> bool:
    """Whether it is in the loop's body, and no condition and no inner loop is around it."""
    nodes = flow.function.nodes
    around: tuple[ast.stmt | ast.expr, ...] = (
        *nodes.of(ast.For),
        *nodes.of(ast.While),
        *nodes.of(ast.If),
        *nodes.of(ast.IfExp),
    )
    return load.lineno >= loop.body[0].lineno and not any(
        node is not loop and node.lineno >= loop.lineno and spans(node, load.lineno) for node in around
    )


def _is_quiet(module: Module, call: ast.Call) -> bool:
    """Whether it is a load, a store or a computation: no atomic, no barrier, no helper of which nothing is known."""
    origin = module.origin_of(call.func)
    if origin.startswith(_LANGUAGE):
        name = origin.rpartition(".")[2]
        return name == "store" or not any(word in name for word in _WRITES)
    if isinstance(call.func, ast.Attribute):
        return not any(word in call.func.attr for word in _WRITES)
    return origin in _BUILT_IN


def _is_pure(module: Module, load: ast.Call) -> bool:
    inner = (node for node in ast.walk(load) if isinstance(node, ast.Call))
    is_volatile = any(keyword.arg in ("volatile", None) for keyword in load.keywords)
    return not is_volatile and all(module.origin_of(call.func).startswith(_LANGUAGE) for call in inner)


def _elsewhere(flow: KernelFlow, loop: ast.For, load: ast.Call) -> Iterator[InvariantLoad]:
    """The load, where the stores of the loop are known to be to other tensors."""
    accesses = list(_within(flow, span_of(loop, flow.module.lines)))
    place = span_of(load, flow.module.lines)
    read = next((access.pointer.origin for access in accesses if flow.tree.span(access.node) == place), None)
    stores = tuple(access for access in accesses if access.kind != "load")
    if read is not None and all(store.pointer.origin not in (None, read) for store in stores):
        yield InvariantLoad(load, read.name, loop, stores)


def _within(flow: KernelFlow, loop: Span) -> Iterator[Access]:
    for access in flow.accesses:
        if loop.line <= flow.tree.span(access.node).line <= loop.end_line:
            yield access
