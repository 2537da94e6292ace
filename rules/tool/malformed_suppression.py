"""TAX003: a suppression comment that cannot be understood."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.suppressions import Malformed


class MalformedSuppression(Rule):
    code, name = "TAX003", "malformed-suppression"
    summary = "A suppression comment cannot be understood, so it suppresses nothing."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, malformed: Malformed) -> Iterator[Hit]:
        yield Hit(malformed.span, malformed.message, malformed.remedy)
