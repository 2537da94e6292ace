"""TAC129: masks are added, subtracted or negated in one bit, or `&` takes what a comparison should."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Hit, Rule

_WORDS = {
    (MistakeKind.MASK_ARITHMETIC, "+"): Words(
        "`{text}` adds two conditions in one bit: 1 + 1 is 0",
        "cast one of them to count, `.to(tl.int32)`, or join them with `|`",
    ),
    (MistakeKind.MASK_ARITHMETIC, "-"): Words(
        "`{text}` subtracts conditions in one bit: 0 - 1 is 1",
        "cast one of them, `.to(tl.int32)`, or write `a & ~b`",
    ),
    (MistakeKind.MASK_ARITHMETIC, "minus"): Words(
        "`{text}` negates a condition in one bit, which changes nothing: -1 is 1", "cast it first: `-(…).to(tl.int32)`"
    ),
    (MistakeKind.PRECEDENCE, "*"): Words(
        "`&` and `|` bind more tightly than comparisons: `{text}` compares with `{part}`, and chains the comparisons",
        "put each comparison in parentheses: `(a > b) & (c < d)`",
    ),
}


class MaskArithmetic(Rule):
    code, name = "TAC129", "mask-arithmetic"
    summary = "Conditions are added, negated or chained in a way that compiles and gives a wrong mask or count."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
