"""TAC209: a hint to the compiler that does not hold."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.false_hints import UNCERTAIN, Flaw, false_hints
from tritonaudit.rule import Hit, Rule

_REMEDY = {
    "max_contiguous": "remove the hint: the compiler reads what lies beside the first element instead",
    "multiple_of": "remove the hint, or make sure of it in the wrapper: a wide access at any other address fails",
}


class FalseHint(Rule):
    code, name = "TAC209", "false-hint"
    summary = "`tl.multiple_of` or `tl.max_contiguous` makes the compiler a false promise."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in false_hints(kernel):
            holds = "is not known to hold" if found.flaw in UNCERTAIN else "does not hold"
            yield Hit(
                found.node,
                f"`tl.{found.name}(…, {found.claim})` {holds}: {found.flaw.value.format(found.detail, found.claim)}",
                remedy=_REMEDY[found.name],
                confidence=Confidence.LOW if found.flaw in UNCERTAIN - {Flaw.LOADED} else None,
            )
