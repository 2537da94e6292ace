"""TAC135: a compile-time flag in an `and` does not keep older compilers out of the branch."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.late_flags import LateFlag as Found
from tritonaudit.kernel.late_flags import is_dropped, late_flags
from tritonaudit.rule import Hit, Rule


class LateFlag(Rule):
    code, name = "TAC135", "late-flag"
    summary = "A flag joined by `and` to a run-time condition does not drop its branch before Triton 3.4."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if is_dropped(kernel.target.versions):
            return
        for found in late_flags(kernel.module, kernel.function):
            yield Hit(
                kernel.place(found.test),
                f"before Triton 3.4 this branch is compiled even where `{found.flag}` is false, and {_harm(found)} "
                f"(target {kernel.target.text})",
                remedy=f"nest the conditions: `if {found.flag}:`, and the other one inside",
                severity=Severity.INFO if found.pointer is None else None,
            )


def _harm(found: Found) -> str:
    if found.pointer is not None:
        return f"`{found.pointer}` is None there"
    return f"`{found.variable}`, which was a number as written, must not change its type in it"
