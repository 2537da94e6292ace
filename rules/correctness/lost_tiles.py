"""TAC143: the kernel's own tiles, or the rounds of its loops, leave out a part of what it bounds."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.covers import Short, covers, single_tilings
from tritonaudit.queries.lost_tiles import Skipped, Unreached, skipped_tiles, unreached_tiles
from tritonaudit.rule import Hit, Rule


class LostTiles(Rule):
    code, name = "TAC143", "lost-tiles"
    summary = "The tiles of a kernel have gaps between them, or end before what its masks go on to."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for skipped in skipped_tiles(kernel):
            yield _skipped(skipped)
        for unreached in unreached_tiles(kernel):
            yield _unreached(unreached)
        for short in _single(kernel):
            yield _short(kernel, short)


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


def _short(kernel: KernelFlow, found: Refuted[Short]) -> Hit:
    short, tiling = found.shown, found.shown.tiling
    return Hit(
        tiling.access.node,
        f"its only tile has `{tiling.width}` = {short.covered:,} lanes, and the mask goes on to `{tiling.bound}` ="
        f" {short.bound:,}: the rest is left out",
        remedy=f"go over the tiles of `{tiling.bound}` in a loop or by programs, or make the tile as wide",
        related=((kernel.place(short.site.call), "by this launch"),),
    )
