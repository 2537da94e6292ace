"""TAP504: the time grows faster than the work."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.measure import sentences
from tritonaudit.measure.facts import MeasuredKernel, Row
from tritonaudit.rule import Hit, Rule

_LOST = 1.5


class Superlinear(Rule):
    code, name = "TAP504", "superlinear"
    summary = "The time grows faster than the work does."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: MeasuredKernel) -> Iterator[Hit]:
        best: dict[str, tuple[Row, float]] = {}
        for row, reached in sorted(sentences.worth_a_roof(kernel), key=lambda found: sentences.roof(found[0])):
            smaller = best.get(row.case.dtype)
            if smaller is not None and smaller[1] > _LOST * reached:
                yield self._hit(kernel, smaller, (row, reached))
                return
            if smaller is None or reached > smaller[1]:
                best[row.case.dtype] = row, reached

    def _hit(self, kernel: MeasuredKernel, smaller: tuple[Row, float], larger: tuple[Row, float]) -> Hit:
        work = sentences.roof(larger[0]) / sentences.roof(smaller[0])
        return Hit(
            kernel.span,
            f"the time of `{kernel.subject}` grows {work * smaller[1] / larger[1]:.3g} times"
            f" from {smaller[0].case.label} to {larger[0].case.label}, and its work {work:.3g} times",
            remedy="see whether a program's work grows with the size, or what is read again no longer fits the cache",
            witness=sentences.witness(kernel),
        )
