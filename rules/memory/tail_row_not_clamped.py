"""TAM103: an access at the last row of a tile that may be partial."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.queries.bounds import in_all_launches
from tritonaudit.queries.tails import Reach, unclamped_tails
from tritonaudit.rule import Hit, Rule

_WORDS = {
    Reach.LAST: (
        "is at `{tile.last}`, the last row of its tile, which does not exist where the tile is cut off at"
        " `{tile.bound}`",
        "clamp the row: `min(start + BLOCK, n) - 1`",
    ),
    Reach.IN_LOOP: (
        "goes in its loop up to `{tile.last}`, the last row of its tile, which does not exist where the tile is cut off"
        " at `{tile.bound}`",
        "end the loop at `min(BLOCK, n - start)`",
    ),
    Reach.FIRST: (
        "is at `{tile.start}`, the first row of a part of a tile, which does not exist where the tile is cut off before"
        " it, at `{tile.bound}`",
        "return where the row is past the end, or mask it: `mask=start < n`",
    ),
}


class TailRowNotClamped(Rule):
    code, name = "TAM103", "tail-row-not-clamped"
    summary = "An access at one row of a tile, such as its last, is past the end where the tile is partial."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for tail in unclamped_tails(kernel):
            what, remedy = _WORDS[tail.reach]
            answer = in_all_launches(kernel, tail.access)
            if answer is True:
                continue
            yield Hit(
                tail.access.node,
                f"this {tail.access.what} {what.format(tile=tail.tile)}",
                remedy=remedy,
                severity=Severity.WARNING if answer is False else Severity.ERROR,
                cause=Cause.OUT_OF_BOUNDS,
                related=((tail.bounded_by.node, "this access masks the rows of the same tile"),),
            )
