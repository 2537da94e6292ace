"""TAC127: an assertion about constants that does not hold, or that nothing checks."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Hit, Rule

_WORDS = {
    (MistakeKind.STATIC_ASSERT, "*"): Words(
        "`{text}` does not hold for the constants that the launches pass",
        "pass constants for which it holds",
    ),
    (MistakeKind.STATIC_ASSERT_RUNTIME, "*"): Words(
        "`{text}` is known only when the kernel runs, and `tl.static_assert` is decided when it is compiled",
        "use `tl.device_assert`, or make what it compares `tl.constexpr`",
    ),
    (MistakeKind.PLAIN_ASSERT, "*"): Words(
        "`assert {text}` does not hold for the constants that launches pass, and compiles anyway",
        "use `tl.static_assert({text})`",
        severity=Severity.WARNING,
    ),
}


class FailingStaticAssert(Rule):
    code, name = "TAC127", "failing-static-assert"
    summary = "An assertion about constants fails when the kernel is compiled, or is never checked."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
