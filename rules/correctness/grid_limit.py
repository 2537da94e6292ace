"""TAC203: a grid with more programs along an axis than a GPU takes, or with fewer than the data needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Extent, Severity, Span
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.covers import Short, short_axes
from tritonaudit.queries.limits import MOST_PROGRAMS, LongAxis, long_axes
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
        for found in long_axes(kernel.launches.sites if _has_axes(kernel) else (), kernel.accesses):
            yield _too_long(kernel, found)
        for short in short_axes(kernel):
            yield _of_short(kernel, short)


def _of_short(kernel: KernelFlow, found: Refuted[Short]) -> Hit:
    short, tiling = found.shown, found.shown.tiling
    block = f"`{tiling.step}` = {short.step:,}" if tiling.step.value is None else f"{short.step:,} elements a program"
    programs = "1 program" if short.programs == 1 else f"{short.programs:,} programs"
    written = short.site.written
    node = written[tiling.axis] if tiling.axis < len(written) else short.site.call
    return Hit(
        kernel.place(node),
        f"`{tiling.bound}` = {short.bound:,}, {block}: axis {tiling.axis} of the grid has {programs}, and none covers"
        f" element {short.covered:,}",
        remedy=f"launch `triton.cdiv({tiling.bound}, {tiling.step})` programs along the axis",
        severity=Severity.ERROR,
        related=((tiling.access.node, f"`{tiling.bound}` bounds the tiles here"),),
    )


def _has_axes(kernel: KernelFlow) -> bool:
    """Whether the kernel may have more than one axis of programs."""
    return any(len(launch.axes) != 1 for launch in kernel.launches.launches)


def _too_long(kernel: KernelFlow, found: LongAxis) -> Hit:
    grid, each = kernel.place(found.node), found.extent.divisor
    elements = f" ({MOST_PROGRAMS * each + 1:,} elements)" if each > 1 else ""
    place = _program_id(kernel, found.axis)
    return Hit(
        grid if place is None else place,
        f"axis {found.axis} of the grid is `{ast.unparse(found.node)}`, and NVIDIA GPUs take at most {MOST_PROGRAMS:,}"
        f" programs on it: the launch fails from {MOST_PROGRAMS + 1:,} on{elements}",
        remedy="put it on axis 0, whose limit is 2**31 - 1, or fold the axes into axis 0",
        severity=None if found.extent.counted else Severity.INFO,
        confidence=Confidence.LOW
        if not found.extent.sure or (found.beside_tiles and not found.extent.counted)
        else None,
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
