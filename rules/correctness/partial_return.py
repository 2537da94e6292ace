"""TAC131: a helper that returns a value on some paths only."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Hit, Rule

_WORDS = {
    (MistakeKind.RETURN_IN_ONE, "undefined"): Words(
        "`{name}` returns a value here and nothing at its end: there its result is undefined, not None",
        "return a value on every path",
    ),
}


class PartialReturn(Rule):
    code, name = "TAC131", "partial-return"
    summary = "A helper returns a value only on some paths, and an undefined one on the others."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
