"""TAM402: programs meet at one place of memory, and one of them writes."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import RunKernel, Symptom

_REMEDY = (
    "give each program its own place, use an atomic, or read from one tensor and write to another; between lanes"
    " of one program, `tl.debug_barrier()`"
)
_HARMLESS = (Severity.INFO, Confidence.MEDIUM)
"""All of them write the same."""


class Race(Rule):
    code, name = "TAM402", "race"
    summary = "Programs that nothing orders access one place, and one of them writes to it."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.RACE,)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            message = f"programs of `{run.name}` race {sentences.cases(run, seen)}: {seen.text}"
            yield sentences.hit(seen, message, _REMEDY, _HARMLESS)
