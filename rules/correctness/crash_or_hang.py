"""TAC407: a call fails, ends its process or never returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites import sentences
from tritonaudit.suites.facts import NOT_COMPILED, RunKernel, Symptom

_DOUBTFUL = (Severity.WARNING, Confidence.MEDIUM)
"""Empty tensors alone: few callers have them."""
_REMEDIES = {
    Symptom.CRASH: "make it work, or refuse the case with a `ValueError` that says why",
    Symptom.HANG: "wait only for what another program is sure to do, and give back each lock",
}


class CrashOrHang(Rule):
    code, name = "TAC407", "crash-or-hang"
    summary = "A call fails, ends its process or does not return."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    symptoms = (Symptom.CRASH, Symptom.HANG)

    def check(self, run: RunKernel) -> Iterator[Hit]:
        for seen in run.of(*self.symptoms):
            does = "does not end" if seen.symptom is Symptom.HANG else "fails"
            message = f"`{run.name}` {does} {sentences.cases(run, seen)}: {seen.text}"
            hit = sentences.hit(seen, message, _REMEDIES[seen.symptom], _DOUBTFUL)
            yield replace(hit, cause=Cause.DOES_NOT_COMPILE) if seen.text.startswith(NOT_COMPILED) else hit
