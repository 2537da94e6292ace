"""TAC130: a matrix product or a moved pointer that nothing uses, a loop option that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.fixes.assignments import assigned_back
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Fixable, Hit, Rule

_WORDS = {
    (MistakeKind.DOT_DROPPED, "acc"): Words(
        "the result of `tl.dot` is dropped: it does not add to `{acc}` in place, and nothing is computed",
        "assign it: `{acc} = tl.dot(…, {acc})`",
    ),
    (MistakeKind.DOT_DROPPED, "dot"): Words(
        "the result of `tl.dot` is dropped, and nothing is computed", "assign it: `acc += tl.dot(…)`"
    ),
    (MistakeKind.RESULT_DROPPED, "silent"): Words(
        "`tl.advance` returns the new pointer, and the result is dropped: every round loads the same block",
        "write `{pointer} = tl.advance({pointer}, …)`",
        fix=assigned_back,
    ),
    (MistakeKind.LOOP_KEYWORD, "ignored"): Words(
        "Python's `range` silently ignores `{name}` in a kernel",
        "loop over `tl.range`, which takes it",
        severity=Severity.WARNING,
    ),
}


class ResultDropped(Rule):
    code, name = "TAC130", "result-dropped"
    summary = "A result or an option is silently dropped, so the kernel does less than it says."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    fixable = Fixable.SAFE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
