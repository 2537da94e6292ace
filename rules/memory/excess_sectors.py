"""TAM501: an access asks the L2 cache for many more sectors than its bytes fill."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.measure import sentences
from tritonaudit.measure.counters import IDEAL, SECTORS
from tritonaudit.measure.profiled import ProfiledKernel
from tritonaudit.rule import Hit, Rule

_EXCESS = 2.0
_LEAST_SHARE = 0.1
"""Of the sectors of the whole kernel: what fetches less costs little."""


class ExcessSectors(Rule):
    code, name = "TAM501", "excess-sectors"
    summary = "An access was seen to ask the L2 cache for at least twice the sectors that its bytes fill."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: ProfiledKernel) -> Iterator[Hit]:
        asked, ideal = kernel.by_line(SECTORS), kernel.by_line(IDEAL)
        enough = _LEAST_SHARE * sum(asked.values())
        for line, sectors in asked.items():
            needed = ideal.get(line, 0.0)
            if needed and sectors >= max(enough, _EXCESS * needed):
                place = kernel.places[line]
                yield Hit(
                    place.span,
                    f"at {kernel.case.label}, this {place.what} asks L2 for {sectors / needed:.1f} times the sectors"
                    f" that its bytes fill: {sectors:,.0f} of 32 bytes instead of {needed:,.0f}",
                    remedy="let neighbouring lanes access neighbouring elements: swap the tile's axes, or load what"
                    " lies together and pick from it",
                    witness=sentences.witness_by_profiler(kernel),
                )
