"""TAX002: a suppression comment that suppresses nothing."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.selection import ALL
from tritonaudit.source.suppressions import Unused


class UnusedSuppression(Rule):
    code, name = "TAX002", "unused-suppression"
    summary = "A suppression comment suppresses nothing."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, unused: Unused) -> Iterator[Hit]:
        named = ", ".join(selector for selector in unused.selectors if selector != ALL)
        yield Hit(
            unused.directive.span,
            f"nothing is suppressed here for {named}" if named else "nothing is suppressed here",
            remedy="remove the comment" if unused.whole else f"remove {named} from the comment",
        )
