"""TAC105: a name or a parameter that a targeted Triton does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tritonaudit.api.facts import ApiFacts
from tritonaudit.api.hits import hits
from tritonaudit.api.problems import ProblemKind
from tritonaudit.finding import Confidence, Extent, Severity
from tritonaudit.rule import Fixable, Hit, Rule

_KINDS = (ProblemKind.UNKNOWN, ProblemKind.NOT_YET, ProblemKind.TOO_MANY, ProblemKind.MISSING, ProblemKind.BY_PATH)


class UnknownApi(Rule):
    code, name = "TAC105", "unknown-api"
    summary = "A name, a keyword or an argument that the targeted Triton does not have."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    once_in = Extent.FILE
    fixable = Fixable.EITHER

    def check(self, file: ApiFacts) -> Iterator[Hit]:
        for misuse, hit in hits(file, _KINDS):
            some = misuse.problem.versions != file.target.versions
            # That older releases matter was asked for by nobody.
            unasked = some and not file.target.asked_in
            is_new = unasked and file.target.versions[-1] not in misuse.problem.versions
            confidence = Confidence.LOW if is_new or not misuse.sure else None
            yield replace(hit, severity=Severity.WARNING if unasked else None, confidence=confidence)
