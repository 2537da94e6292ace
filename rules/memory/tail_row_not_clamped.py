"""TAM103: an access at the last row of a tile that may be partial."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.flow.tails import unclamped_tails
from tritonaudit.rule import Hit, Rule

_CLAMP = "clamp the row: `min(start + BLOCK, n) - 1`"


class TailRowNotClamped(Rule):
    code, name = "TAM103", "tail-row-not-clamped"
    summary = "An access at the last row of a tile is past the end where the tile is partial."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for tail in unclamped_tails(kernel):
            tile = tail.tile
            verb = "goes in its loop up to" if tail.in_loop else "is at"
            yield Hit(
                tail.access.node,
                f"this {tail.access.what} {verb} `{tile.last}`, the last row of its tile, which does not exist "
                f"where the tile is cut off at `{tile.bound}`",
                remedy="end the loop at `min(BLOCK, n - start)`" if tail.in_loop else _CLAMP,
                cause=Cause.OUT_OF_BOUNDS,
                related=((tail.bounded_by.node, "this access masks the rows of the same tile"),),
            )
