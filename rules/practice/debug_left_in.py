"""TAB101: a kernel prints, whatever its launch says."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.prints import bare_prints
from tritonaudit.rule import Hit, Rule


class DebugLeftIn(Rule):
    code, name = "TAB101", "debug-left-in"
    summary = "A kernel prints, and no constant of its launch decides whether."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in bare_prints(kernel.module, kernel.function):
            when = "each time it is compiled" if found.is_static else "from every lane of every program"
            yield Hit(
                kernel.place(found.node),
                f"`{found.text}` prints {when}",
                remedy="take it out, or put it under `if DEBUG:` with `DEBUG: tl.constexpr`",
                severity=Severity.INFO if found.is_static else None,
            )
