"""TAC132: integers that wrap, or have no defined value, where nothing says so."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.fixes.integers import widened_factor
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Fixable, Hit, Rule

_WORDS = {
    (MistakeKind.OUT_OF_RANGE, "wraps"): Words(
        "{value} does not fit into {dtype}, the dtype of the other operand, and silently wraps",
        "cast the operand: `.to(tl.int64)`",
    ),
    (MistakeKind.NARROW_SUM, "condition"): Words(
        "`tl.sum` of a condition adds up in one bit, and says only whether the count of `{text}` is odd",
        "cast it first: `tl.sum(({text}).to(tl.int32), 0)`",
        silent=True,
    ),
    (MistakeKind.NARROW_SUM, "integer"): Words(
        "`tl.sum` of {dtype} adds up in {dtype}, and wraps",
        "cast it first: `tl.sum({text}.to(tl.int32), 0)`",
    ),
    (MistakeKind.INTEGER_INFINITY, "*"): Words(
        "`other={text}` fills {dtype} elements, and an infinity has no defined value as an integer",
        "use the smallest or largest integer: `-2147483648`, `2147483647`",
    ),
    (MistakeKind.LATE_WIDENING, "*"): Words(
        "`{text}` is computed in 32 bits, and widened when it may have wrapped already",
        "widen a factor: `{factor}.to(tl.int64) * …`",
        severity=Severity.WARNING,
        confidence=Confidence.MEDIUM,
        fix=widened_factor,
    ),
}


class IntegerWraps(Rule):
    code, name = "TAC132", "integer-wraps"
    summary = "An integer wraps, or has no defined value, in a kernel that compiles without a warning."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    fixable = Fixable.SAFE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
