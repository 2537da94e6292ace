"""TAC106: a name or a parameter that a targeted Triton has removed, or warns of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tritonaudit.api.facts import ApiFacts, Misuse
from tritonaudit.api.hits import hits
from tritonaudit.api.problems import ProblemKind
from tritonaudit.finding import Confidence, Extent, Severity
from tritonaudit.rule import Fixable, Hit, Rule


class DeprecatedApi(Rule):
    code, name = "TAC106", "deprecated-api"
    summary = "A name or a keyword that the targeted Triton has removed or deprecated."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    once_in = Extent.FILE
    fixable = Fixable.EITHER

    def check(self, file: ApiFacts) -> Iterator[Hit]:
        for misuse, hit in hits(file, (ProblemKind.GONE, ProblemKind.DEPRECATED)):
            yield replace(hit, severity=_severity(misuse), confidence=None if misuse.sure else Confidence.LOW)


def _severity(misuse: Misuse) -> Severity | None:
    if misuse.problem.kind is ProblemKind.GONE:
        return None
    return Severity.INFO if misuse.problem.documented else Severity.WARNING
