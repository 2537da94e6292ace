"""Loads in a loop that read the same in each turn."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.ir.model import Loop, Operation
from tritonaudit.ir.values import Tuple, Value
from tritonaudit.ir.writing import made_of
from tritonaudit.queries.dependence import loops_of, operations_of
from tritonaudit.queries.effects import access_of, each_time, is_volatile, may_write


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
    choices = flow.function.nodes.of(ast.IfExp)
    arms = {id(node) for one in choices for arm in (one.body, one.orelse) for node in ast.walk(arm)}
    for loop in () if flow.kernel is None else loops_of(flow.kernel.body):
        inside = list(operations_of(loop.body))
        stores = [one for one in inside if one.name == "store"]
        written = [access_of(flow, one) for one in stores]
        others = tuple(access for access in written if access is not None)
        if len(others) < len(stores) or any(may_write(one) for one in inside if one not in stores):
            continue
        fixed = _Fixed(loop, inside)
        for load in each_time(loop.body):
            access = access_of(flow, load) if load.name == "load" and not is_volatile(load) else None
            if access is None or access.pointer.origin is None or id(load.node) in arms or not fixed.has(load):
                continue
            if all(store.pointer.origin not in (None, access.pointer.origin) for store in others):
                assert isinstance(load.node, ast.Call)
                assert isinstance(loop.node, ast.For)
                yield InvariantLoad(load.node, access.pointer.origin.name, loop.node, others)


class _Fixed:
    """What is the same in each turn of a loop: it is computed from what was there before, and from nothing loaded."""

    def __init__(self, loop: Loop, inside: list[Operation]) -> None:
        self._moving = {carried.head for carried in loop.carried} | ({loop.counter} if loop.counter else set())
        self._inside = set(inside)
        self._known: dict[Operation, bool] = {}

    def has(self, load: Operation) -> bool:
        """Whether a load reads the same place, under the same mask."""
        return all(self._is_fixed(value) for value, _ in load.arguments.values())

    def _is_fixed(self, value: Value) -> bool:
        if isinstance(value, Tuple):
            return all(map(self._is_fixed, value.items))
        made = made_of(value)
        return not isinstance(made, Operation) or self._is_made_of_fixed(made)

    def _is_made_of_fixed(self, operation: Operation) -> bool:
        if operation in self._moving:
            return False
        if operation not in self._inside:
            return True
        if operation not in self._known:
            self._known[operation] = False  # one that is made of itself
            loads = operation.name in ("load", "carried", "counter", "left")
            values = (value for value, _ in operation.arguments.values())
            self._known[operation] = not loads and all(map(self._is_fixed, values))
        return self._known[operation]
