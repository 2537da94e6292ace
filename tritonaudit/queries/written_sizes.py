"""Sizes of tiles that the kernel has as numbers, and its launch as the same numbers again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonaudit.domains.affine import AtomKind
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.host.arithmetic import QUOTIENT, ROUNDED_UP
from tritonaudit.host.host import LaunchSite

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
        again = [divisor for site in flow.launches.sites for divisor in _divisors(site, value)]
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


def _divisors(site: LaunchSite, value: int) -> Iterator[ast.expr]:
    """Where an axis of the grid is something divided by the number."""
    for axis in range(3):
        programs = site.axis(axis)
        atoms = set() if programs is None else programs.atoms_inside()
        if any(atom.name in (QUOTIENT, ROUNDED_UP) and atom.inner[1].value == value for atom in atoms):
            written = site.written[axis] if axis < len(site.written) else site.call
            constants = (node for node in ast.walk(written) if isinstance(node, ast.Constant) and node.value == value)
            yield next(constants, written)


def _of_programs(flow: KernelFlow) -> set[int]:
    """What the kernel multiplies its programs' numbers with."""
    return {
        number
        for product in flow.products
        for one, other in (product.operands, product.operands[::-1])
        if one.affine is not None and one.affine.atom is not None and one.affine.atom.kind is AtomKind.PID
        if other.affine is not None and (number := other.affine.value) is not None
    }
