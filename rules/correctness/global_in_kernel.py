"""TAC121: a kernel reads a global variable that is no `tl.constexpr`."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.frontend.hits import Words, told
from tritonaudit.frontend.mistakes import Kind
from tritonaudit.rule import Hit, Rule

_REMEDY = "make it `{name} = tl.constexpr(…)`, or pass it as a `tl.constexpr` parameter"

_WORDS = {
    (Kind.GLOBAL, "value"): Words("`{name}` is a global of the host's, which a kernel cannot read", _REMEDY),
    (Kind.GLOBAL, "none"): Words("`{name}` is a global that is None, which a kernel cannot read", _REMEDY),
    (Kind.GLOBAL, "annotated"): Words(
        "`{name}` is a global annotated as `tl.constexpr`, and the annotation alone does not make it one", _REMEDY
    ),
    (Kind.GLOBAL, "class"): Words(
        "`{name}` is a class of the host's, whose attributes a kernel cannot read",
        "pass the value as a `tl.constexpr` parameter, or make a global `tl.constexpr(…)` of it",
    ),
}


class GlobalInKernel(Rule):
    code, name = "TAC121", "global-in-kernel"
    summary = "A kernel reads a global variable that is not a `tl.constexpr`, so it does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from told(kernel, _WORDS)
