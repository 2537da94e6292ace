"""Sizes of tiles that the kernel has as numbers, and its launch as the same numbers again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonaudit.domains.affine import Kind
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.kernel.launch import Launch

_SMALL = 32
"""Up to here a tile is as wide as it is because of a format, or of the lanes of a warp."""


@dataclass(frozen=True, eq=False)
class WrittenSize:
    """`node` is a tile's size in the kernel; `again` the same number in the grid, None where only the kernel has it."""

    node: cst.Integer
    value: int
    again: ast.expr | None


def written_sizes(flow: KernelFlow) -> Iterator[WrittenSize]:
    """The numbers in `tl.arange` that the grid divides by, too; without a launch, those that program ids have."""
    written = [size for arange in flow.aranges if (size := _written(arange.node)) is not None]
    if not written:
        return
    seen: set[int] = set()
    for node in written:
        value = node.evaluated_value
        if value in seen:
            continue
        seen.add(value)
        again = [divisor for launch in flow.launches.launches for divisor in _divisors(launch, value)]
        if again or (not flow.launches.launches and value in _of_programs(flow)):
            yield WrittenSize(node, value, again[0] if again else None)


def _written(call: cst.CSTNode) -> cst.Integer | None:
    """The number in `tl.arange(0, number)`, where it is not small."""
    if not isinstance(call, cst.Call) or len(call.args) != 2:
        return None
    start, end = (argument.value for argument in call.args)
    if not (isinstance(start, cst.Integer) and start.evaluated_value == 0 and isinstance(end, cst.Integer)):
        return None
    return end if end.evaluated_value > _SMALL else None


def _divisors(launch: Launch, value: int) -> Iterator[ast.expr]:
    """Where the grid is computed with the number."""
    for axis in launch.axes:
        for node in ast.walk(launch.definition(axis)):
            found = launch.definition(node) if isinstance(node, ast.Name) else node
            if isinstance(found, ast.Constant) and type(found.value) is int and found.value == value:
                yield found


def _of_programs(flow: KernelFlow) -> set[int]:
    """What the kernel multiplies its programs' numbers with."""
    return {
        number
        for product in flow.products
        for one, other in (product.operands, product.operands[::-1])
        if one.affine is not None and one.affine.atom is not None and one.affine.atom.kind is Kind.PID
        if other.affine is not None and (number := other.affine.value) is not None
    }
