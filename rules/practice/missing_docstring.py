"""TAB103: nothing says what a kernel computes."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.documented import is_documented
from tritonaudit.rule import Hit, Rule


class MissingDocstring(Rule):
    code, name = "TAB103", "missing-docstring"
    summary = "Neither a kernel nor the function that launches it says what it computes."
    severity, confidence, since = Severity.INFO, Confidence.LOW, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if kernel.is_helper or is_documented(kernel.module, kernel.function, kernel.launches):
            return
        yield Hit(
            kernel.tree.function.name,
            f"nothing says what `{kernel.name}` computes: neither it nor a function that launches it has a docstring",
            remedy="write one, and name what its result can be compared with, such as a function of torch",
        )
