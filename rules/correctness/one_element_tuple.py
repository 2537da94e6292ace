"""TAC133: a trailing comma makes a tuple of a value that the kernel computes with."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.one_element_tuples import one_element_tuples
from tritonaudit.rule import Hit, Rule


class OneElementTuple(Rule):
    code, name = "TAC133", "one-element-tuple"
    summary = "A trailing comma makes a tuple of a value that the kernel then computes with."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in one_element_tuples(kernel.module, kernel.function):
            yield Hit(
                kernel.place(found.value),
                f"the comma makes `{found.name}` a tuple of one element, which does not compile where it is used as "
                "the element since Triton 3.3",
                remedy="leave out the comma",
                related=((kernel.place(found.use), "it is used as the element here"),),
            )
