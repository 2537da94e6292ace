"""TAC207: a pointer that may be None is used where the kernel does not ask the flag that says so."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.optional_pointers import unguarded_pointers
from tritonaudit.rule import Hit, Rule


class OptionalPointer(Rule):
    code, name = "TAC207", "optional-pointer"
    summary = "A pointer that may be None is used outside the condition that says that it is not."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in unguarded_pointers(kernel):
            name, flag = found.parameter, found.flag
            yield Hit(
                found.where,
                f"`{name}` may be None, which `{flag}` says, and it is used here regardless of `{flag}`: with "
                "None the kernel does not compile",
                remedy=f"use it under `if {flag}:`",
            )
