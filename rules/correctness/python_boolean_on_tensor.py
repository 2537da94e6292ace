"""TAC107: `and`, `or`, `not` or a chained comparison on blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tritonaudit.domains.facts import BooleanUse, KernelFlow
from tritonaudit.finding import Confidence, Elsewhere, Extent, Fix, Severity, Span
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Fixable, Hit, Rule
from tritonaudit.source.outline import span_of

_REMEDY = "write `{}`, with each comparison in parentheses"
_REMEDIES = {"and": _REMEDY.format("(a) & (b)"), "or": _REMEDY.format("(a) | (b)"), "not": "write `~mask`"}
_BOTH = _REMEDY.format("(a) & (b)` and `(a) | (b)")

_DEPRECATED = "with a block has been deprecated since Triton 3.4, and gives a different result under TRITON_INTERPRET=1"
_MESSAGES = {
    "and": f"`and` {_DEPRECATED}",
    "or": f"`or` {_DEPRECATED}",
    "not": "`not` of a block gives one Python truth value under TRITON_INTERPRET=1",
}


_WORDS = {
    (MistakeKind.BLOCK_CONDITION, "if"): Words(
        "the condition `{text}` is a block, and an `if` takes one truth value",
        "choose lanes with `tl.where` or a mask, or reduce the block: `tl.max(mask.to(tl.int32), 0) != 0`",
    ),
    (MistakeKind.BLOCK_CONDITION, "one"): Words(
        "the condition `{text}` is a block, and an `if` takes one truth value", "reduce it: `tl.max(…, 0)`"
    ),
    (MistakeKind.BLOCK_CONDITION, "while"): Words(
        "the condition `{text}` is a block, and a `while` takes one truth value",
        "reduce it: `while tl.max(mask.to(tl.int32), 0) != 0`",
    ),
    (MistakeKind.BLOCK_CONDITION, "ternary"): Words(
        "the condition `{text}` is a block, and a conditional expression takes one truth value",
        "use `tl.where(condition, a, b)`",
    ),
    (MistakeKind.BOOLEAN_OF_NUMBERS, "*"): Words(
        "`{text}` combines {type}, which is not a condition", "compare it: `x != 0`"
    ),
    (MistakeKind.LONG_CHAIN, "comparison"): Words(
        "the chained comparison `{text}` does not compile", "write `(a < b) & (b < c)`"
    ),
    (MistakeKind.LONG_CHAIN, "precedence"): Words(
        "`&` binds more tightly than comparisons, so that `{part}` makes a chain of them, which does not compile",
        "put each comparison in parentheses: `(a > b) & (c < d)`",
    ),
    (MistakeKind.LONG_CHAIN, "*"): Words(
        "three operands in one chain of `{operator}` do not compile", "put two of them in parentheses"
    ),
    (MistakeKind.NONE_EQUALS, "*"): Words(
        "`{text}` compares a value with None, which does not compile", "write `is None`"
    ),
}


class PythonBooleanOnTensor(Rule):
    code, name = "TAC107", "python-boolean-on-tensor"
    summary = "A Python boolean operator combines blocks; Triton deprecates it and its interpreter gets it wrong."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"
    once_in = Extent.KERNEL
    fixable = Fixable.EITHER

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        conditions = set(_conditions(kernel))
        hits = tuple(hits_of(kernel, _WORDS))
        uses = {kernel.tree.span(use.node): use for use in (kernel.booleans if hits else ())}
        rejected: set[Span] = set()
        for hit in hits:
            span = _span(kernel, hit)
            rejected.add(span)
            is_fixable = span in uses and span not in conditions
            yield replace(hit, severity=Severity.ERROR, fix=_fix(kernel, uses[span]) if is_fixable else None)
        yield from (hit for hit in self._deprecated(kernel) if not rejected or _span(kernel, hit) not in rejected)

    def _deprecated(self, kernel: KernelFlow) -> Iterator[Hit]:
        uses = [use for use in kernel.booleans if use.operator in _MESSAGES and any(o.is_block for o in use.operands)]
        both = {"and", "or"} <= {use.operator for use in uses}  # is one thing to do
        for use in uses:
            is_one_of_both = both and use.operator != "not"
            yield Hit(
                use.node,
                f"`and` or `or` {_DEPRECATED}" if is_one_of_both else _MESSAGES[use.operator],
                remedy=_BOTH if is_one_of_both else _REMEDIES[use.operator],
                severity=Severity.INFO if use.operator == "not" else None,
                fix=_fix(kernel, use),
            )


def _span(kernel: KernelFlow, hit: Hit) -> Span:
    assert not isinstance(hit.where, Elsewhere)
    return hit.where if isinstance(hit.where, Span) else kernel.tree.span(hit.where)


def _conditions(kernel: KernelFlow) -> Iterator[Span]:
    """Those that are blocks: another operator between its operands makes no truth value of one."""
    for mistake in kernel.mistakes:
        if mistake.kind is MistakeKind.BLOCK_CONDITION:
            node: Any = mistake.node
            yield span_of(node, kernel.module.lines)


def _fix(kernel: KernelFlow, use: BooleanUse) -> Fix | None:
    from tritonaudit.fixes.booleans import lane_by_lane

    return lane_by_lane(kernel.tree, use)
