"""Prefix sums over several blocks whose carry is added up in another way than the prefix itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.source.outline import JitFunction, Module


@dataclass(frozen=True, eq=False)
class CarriedScan:
    """In a loop, `carry + tl.cumsum(operand)` is compared with something, and `tl.sum(operand)` is added to `carry`."""

    carry: str
    operand: str
    prefix: ast.BinOp
    total: ast.expr


def carried_scans(module: Module, function: JitFunction) -> Iterator[CarriedScan]:
    """The prefix sums of a kernel's loops whose carry is a sum of its own."""
    calls = function.nodes.of(ast.Call)
    if any(module.origin_of(call.func) == "triton.language.cumsum" for call in calls):
        loops: list[ast.For | ast.While] = [*function.nodes.of(ast.For), *function.nodes.of(ast.While)]
        for loop in loops:
            yield from _Body(module, loop).scans()


class _Body:
    """The statements of one loop."""

    def __init__(self, module: Module, loop: ast.For | ast.While) -> None:
        self._module = module
        self._nodes = [inner for statement in loop.body for inner in ast.walk(statement)]
        self._values = {
            node.targets[0].id: node.value
            for node in self._nodes
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        }

    def scans(self) -> Iterator[CarriedScan]:
        totals = dict(self._totals())
        for name, value in self._values.items():
            if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)) or not self._is_compared(name):
                continue
            for one, other in ((value.left, value.right), (value.right, value.left)):
                carry, operand = _name(one), self._argument(other, "cumsum")
                found = None if carry is None else totals.get(carry)
                if carry is not None and operand is not None and found is not None and found[0] == operand:
                    yield CarriedScan(carry, operand, value, found[1])

    def _totals(self) -> Iterator[tuple[str, tuple[str, ast.expr]]]:
        """What is added to a name in each round, by name: the operand of the sum, and where it stands."""
        for node in self._nodes:
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
                operand = self._argument(node.value, "sum")
                if operand is not None:
                    yield node.target.id, (operand, node.value)

    def _argument(self, node: ast.expr, function: str) -> str | None:
        """The name that `tl.function` is called with, by a name of the loop's own as well."""
        if isinstance(node, ast.Name):
            node = self._values.get(node.id, node)
        if not (isinstance(node, ast.Call) and node.args):
            return None
        origin = self._module.origin_of(node.func)
        return _name(node.args[0]) if origin == f"triton.language.{function}" else None

    def _is_compared(self, name: str) -> bool:
        """Whether it is compared for order, as one that looks for a threshold does."""
        return any(
            isinstance(node, ast.Compare)
            and any(isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for operator in node.ops)
            and any(_name(side) == name for side in (node.left, *node.comparators))
            for node in self._nodes
        )


def _name(node: ast.expr) -> str | None:
    """The name that an expression is, broadcast or not."""
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
