"""TAC203: a grid with more programs along an axis than a GPU takes, or with fewer than the data needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.finding import Confidence, Extent, Severity, Span
from tritonaudit.flow.coverage import uncovered
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.kernel.extents import MOST_PROGRAMS, CountedProgram, LongAxis, counted_programs, long_axes
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import dotted_name, span_of


class GridLimit(Rule):
    code, name = "TAC203", "grid-limit"
    summary = "The grid has more programs along an axis than GPUs take, or too few for the data."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"
    once_in = Extent.FILE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if kernel.for_vendor:
            return
        for found in long_axes(kernel.launches):
            yield _too_long(kernel, found)
        for counted in counted_programs(kernel.function, kernel.launches):
            yield _one_each(kernel, counted)
        for short in uncovered(kernel):
            yield Hit(
                kernel.place(short.node),
                f"axis {short.tiling.axis} of the grid {short.why}",
                remedy=short.remedy,
                severity=Severity.ERROR,
                related=((short.tiling.access.node, f"`{short.tiling.size}` bounds the tiles here"),),
            )


def _one_each(kernel: KernelFlow, found: CountedProgram) -> Hit:
    return Hit(
        kernel.place(found.node),
        f"`{found.name}` has a program of its own along axis {found.axis} of the grid, and NVIDIA GPUs take"
        f" {MOST_PROGRAMS:,} programs at most on it: the launch fails from {MOST_PROGRAMS + 1:,} on",
        remedy="put it on axis 0, whose limit is 2**31 - 1",
        severity=Severity.INFO,
    )


def _too_long(kernel: KernelFlow, found: LongAxis) -> Hit:
    grid, each = kernel.place(found.node), found.extent.divisor
    elements = f" ({MOST_PROGRAMS * each + 1:,} elements)" if each > 1 else ""
    place = _program_id(kernel, found.axis)
    return Hit(
        grid if place is None else place,
        f"axis {found.axis} of the grid is `{ast.unparse(found.node)}`, and NVIDIA GPUs take {MOST_PROGRAMS:,} programs"
        f" at most on it: the launch fails from {MOST_PROGRAMS + 1:,} on{elements}",
        remedy="put it on axis 0, whose limit is 2**31 - 1, or fold the axes into axis 0",
        severity=None if found.extent.counted else Severity.INFO,
        confidence=Confidence.LOW if found.beside_positions and not found.extent.counted else None,
        related=() if place is None else ((grid, "this is the axis of the grid"),),
    )


def _program_id(kernel: KernelFlow, axis: int) -> Span | None:
    """Where the kernel asks for its number along the axis."""
    for node in kernel.function.nodes.of(ast.Call):
        if (dotted_name(node.func) or "").endswith("program_id"):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value == axis:
                return span_of(node, kernel.module.lines)
    return None
