"""TAN102: an exponential of something not bounded above, where its overflow does harm."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Fixable, Hit, Rule

_LIMITS = {"exp": 88, "exp2": 128}  # natural logarithm and binary logarithm of the largest fp32

_HARMS = {
    "softmax": (
        "its overflow makes the quotient of it and its sum inf / inf = nan",
        "subtract the row's maximum before the exponential",
    ),
    "logsumexp": (
        "its overflow makes the logarithm of its sum inf",
        "subtract the row's maximum before the exponential and add it to the logarithm",
    ),
    "softplus": (
        "its overflow makes log(1 + exp(x)) inf where the answer is x",
        "keep large arguments: `tl.where(x > 20, x, log1p(exp(x)))`",
    ),
    "sigmoid": (
        "its overflow makes exp(x) / (1 + exp(x)) inf / inf = nan",
        "use `tl.sigmoid(x)` or `1 / (1 + exp(-x))`",
    ),
}


class ExpWithoutMax(Rule):
    code, name = "TAN102", "exp-without-max"
    summary = "An exponential whose argument is not bounded above overflows."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"
    fixable = Fixable.UNSAFE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        from tritonaudit.fixes.clamps import clamped

        seen: set[int] = set()
        for term, harm, use in kernel.overflows:
            if id(term.node) in kernel.guarded or id(term.node) in seen or term.difference:
                continue
            seen.add(id(term.node))
            consequence, remedy = _HARMS[harm]
            yield Hit(
                term.node,
                f"`tl.{term.base}` of data with nothing subtracted overflows above {_LIMITS[term.base]}: {consequence}",
                remedy=remedy,
                related=((use, "where the overflow does harm"),),
            )
        for term in kernel.exps:
            if term.difference and id(term.node) not in kernel.guarded and id(term.node) not in seen:
                seen.add(id(term.node))
                yield Hit(
                    term.node,
                    f"`tl.{term.base}` of every pairwise difference of a row overflows where the difference is "
                    "large and positive, and no `tl.where` drops those pairs on every path",
                    remedy="clamp the difference first: `tl.minimum(a - b, 0.0)`, or mask it with -inf",
                    confidence=Confidence.MEDIUM,
                    fix=clamped(kernel, term.node, "0.0"),
                )
