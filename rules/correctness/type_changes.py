"""TAC122: a variable changes its type in a loop or a branch, or a helper returns several types."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.fixes.assignments import begun_as_float
from tritonaudit.fixes.integers import divided_down_bound
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Fixable, Hit, Rule

_WORDS = {
    (MistakeKind.LOOP_TYPE, "*"): Words(
        "`{name}` is {before} before the loop and {after} after a round; a loop must keep its variables' types",
        "give `{name}` its later type before the loop (`0.0`, `tl.zeros(…)`, `.to(…)`), or cast what is assigned",
        fix=begun_as_float,
    ),
    (MistakeKind.BRANCH_TYPES, "redefined"): Words(
        "`{name}` is {before} before the `if` and {after} inside it; a branch must keep its variables' types",
        "cast the value in the branch, or give `{name}` that type before it",
    ),
    (MistakeKind.BRANCH_TYPES, "arms"): Words(
        "`{name}` is {before} in one arm of the `if` and {after} in the other",
        "cast one of them, so that both arms give `{name}` one type",
    ),
    (MistakeKind.TERNARY_TYPES, "*"): Words(
        "one arm of this conditional expression is {before}, the other {after}",
        "give both arms one type (`1.0 if … else 0.0`), or choose lanes with `tl.where`",
    ),
    (MistakeKind.RETURN_TYPES, "*"): Words(
        "`{name}` returns {before} in one place and {after} here",
        "cast one of them, so that every `return` has one type",
    ),
    (MistakeKind.LOOP_BOUND, "dtype"): Words(
        "the loop's bound `{text}` is {type}, not an integer",
        "divide with `//`, or cast it with `.to(tl.int32)`",
        fix=divided_down_bound,
    ),
    (MistakeKind.LOOP_BOUND, "constant"): Words(
        "the loop's bound `{text}` is {value}, not an integer",
        "divide with `//`, or convert it with `int(…)`",
        fix=divided_down_bound,
    ),
    (MistakeKind.LOOP_BOUND, "block"): Words(
        "the loop's bound `{text}` is {type}, not one number", "reduce it, `tl.max({text}, 0)`, or loop to the largest"
    ),
}


class TypeChanges(Rule):
    code, name = "TAC122", "type-changes"
    summary = "A variable changes its type in a loop or a branch, which Triton does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    fixable = Fixable.EITHER

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
