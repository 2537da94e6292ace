"""TAC143: the kernel's own tiles, or the rounds of its loops, leave out a part of what it bounds."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.covers import Short, covers, short_axes, single_tilings
from tritonaudit.queries.elements import untouched
from tritonaudit.queries.lost_tiles import Skipped, Unreached, skipped_tiles, unreached_tiles
from tritonaudit.queries.overruns import overruns
from tritonaudit.queries.races import repeated_work
from tritonaudit.queries.unbounded import spelled
from tritonaudit.queries.unvisited import Unvisited, unvisited
from tritonaudit.queries.updates import parameter_of
from tritonaudit.queries.wrong_masks import wrong_mask
from tritonaudit.rule import Hit, Rule


class LostTiles(Rule):
    code, name = "TAC143", "lost-tiles"
    summary = "The tiles of a kernel have gaps between them, or end before what its masks go on to."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        skipped, unreached, single = list(skipped_tiles(kernel)), list(unreached_tiles(kernel)), list(_single(kernel))
        yield from map(_skipped, skipped)
        yield from map(_unreached, unreached)
        yield from (_short(kernel, short) for short in single)
        told = {one.access for one in skipped} | {one.access for one in unreached}
        told |= {one.shown.tiling.access for one in single}
        seen = {one.bound for one in unreached} | {one.shown.tiling.bound for one in single}
        for found in unvisited(kernel):
            bound = found.shown.group[0].bound
            is_new = bound not in seen and told.isdisjoint(one.access for one in found.shown.group)
            seen.add(bound)
            if is_new and not _is_told(kernel, found.shown):
                yield _unvisited(kernel, found)


def _is_told(kernel: KernelFlow, found: Unvisited) -> bool:
    """Whether another rule says it: of the grid, of programs that do the same, of the tensor, or of the bound."""
    bound, parameters = found.group[0].bound, {parameter_of(one.access) for one in found.group}
    return (
        any(short.shown.tiling.bound == bound for short in short_axes(kernel))
        or next(repeated_work(kernel), None) is not None
        or any(part.shown.parameter in parameters for part in untouched(kernel))
        or any(overrun.bound == bound for overrun in overruns(kernel))
        or any(wrong_mask(kernel, one.access) is not None for one in found.group)
    )


def _single(kernel: KernelFlow) -> Iterator[Refuted[Short]]:
    """The first launch whose only tile is shorter than what the kernel bounds its lanes by."""
    for tiling in single_tilings(kernel.accesses) if kernel.launches.launches else ():
        for site in kernel.launches.sites:
            answer = covers(kernel.launches.host, site, tiling)
            if isinstance(answer, Refuted):
                yield answer
                break


def _skipped(found: Skipped) -> Hit:
    return Hit(
        found.access.node,
        f"a tile of `{found.index}` has `{found.width}` elements, and the next one begins {found.times} times as far"
        " behind it: what lies between is left out",
        remedy="add the start of the tile once",
    )


def _unreached(found: Unreached) -> Hit:
    return Hit(
        found.access.node,
        f"the mask goes on to `{found.bound}`, and the tiles that the kernel counts end at `{found.end}`: the elements"
        " between are left out",
        remedy=f"count the tiles of `{found.bound}` by `tl.cdiv`, so that the last one, which is cut off, counts too",
    )


def _unvisited(kernel: KernelFlow, found: Refuted[Unvisited]) -> Hit:
    shown, one = found.shown, found.shown.group[0]
    grid = shown.grid if any(size > 1 for size in shown.grid[1:]) else shown.grid[0]
    return Hit(
        one.access.node,
        f"no program, lane or round has `{spelled(kernel, one.index)}` at {shown.first:,}, and it is bounded by"
        f" `{one.bound}` = {shown.bound:,}: with a grid of {grid} that part is left out",
        remedy="let the tiles begin where the one before ends, and count the last one, which is cut off, too",
        severity=Severity.WARNING if shown.is_supposed else None,
        related=((kernel.place(shown.site.call), "by this launch"),),
        way=kernel.way_from(shown.site.call),
    )


def _short(kernel: KernelFlow, found: Refuted[Short]) -> Hit:
    short, tiling = found.shown, found.shown.tiling
    return Hit(
        tiling.access.node,
        f"its only tile has `{tiling.width}` = {short.covered:,} lanes, and the mask goes on to `{tiling.bound}` ="
        f" {short.bound:,}: the rest is left out",
        remedy=f"go over the tiles of `{tiling.bound}` in a loop or by programs, or make the tile as wide",
        related=((kernel.place(short.site.call), "by this launch"),),
    )
