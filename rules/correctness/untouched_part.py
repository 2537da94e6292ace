"""TAC142: a launch leaves a part of a tensor out."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.elements import Untouched, untouched
from tritonaudit.queries.lost_tiles import skipped_tiles, unreached_tiles
from tritonaudit.queries.races import repeated_work
from tritonaudit.queries.strays import meetings
from tritonaudit.queries.updates import parameter_of
from tritonaudit.rule import Hit, Rule


class UntouchedPart(Rule):
    code, name = "TAC142", "untouched-part"
    summary = "The tiles of a launch leave a part of a tensor unread, or of a new output unwritten."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        found = list(untouched(kernel))
        for one in () if found and _is_explained(kernel) else found:
            if all(parameter_of(met.shown.access) != one.shown.parameter for met in meetings(kernel)):
                yield _hit(kernel, one)


def _is_explained(kernel: KernelFlow) -> bool:
    """Whether another rule says why: by TAC143 its own tiles have gaps, by TAC109 its programs do the same."""
    reasons = (skipped_tiles(kernel), unreached_tiles(kernel), repeated_work(kernel))
    return any(next(iter(found), None) is not None for found in reasons)


def _hit(kernel: KernelFlow, found: Refuted[Untouched]) -> Hit:
    shown = found.shown
    verb = "reads" if shown.accesses[0].kind == "load" else "writes"
    index = ", ".join(str(shown.index) if axis == shown.axis else ":" for axis in range(len(shown.layout.sizes)))
    grid = shown.grid if any(size > 1 for size in shown.grid[1:]) else shown.grid[0]
    return Hit(
        shown.accesses[-1].node,
        f"no program {verb} `{shown.parameter}[{index}]`: with `{shown.tensor}` of shape {shown.layout.sizes} and a"
        f" grid of {grid} the tiles of the launch leave it out",
        remedy="let the tiles begin where the one before ends, and the grid have one for each",
        related=((kernel.place(shown.site.call), "this is the launch"),),
        way=kernel.way_from(shown.site.call),
    )
