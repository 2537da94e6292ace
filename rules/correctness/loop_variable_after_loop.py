"""TAC128: the variable of a loop is used after the loop."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Hit, Rule

_WORDS = {
    (MistakeKind.LOOP_VARIABLE, "*"): Words(
        "`{name}` is the variable of the loop in line {line}; after the loop its value is undefined, not the last one",
        "count in a variable of your own, `last = {name}` set before the loop and in it, or compute it from the bounds",
    ),
}


class LoopVariableAfterLoop(Rule):
    code, name = "TAC128", "loop-variable-after-loop"
    summary = "The variable of a `for` loop is read after the loop, where compiled Triton leaves it undefined."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
