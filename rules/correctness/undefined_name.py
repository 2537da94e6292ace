"""TAC120: a name that has no value where the kernel uses it."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.kernel.flagged_names import FlaggedName, flagged_names
from tritonaudit.rule import Hit, Rule

_WORDS = {
    (MistakeKind.UNDEFINED, "*"): Words(
        "`{name}` is not defined, in the kernel or in its file",
        "define it, pass it as a parameter, or correct its name",
    ),
    (MistakeKind.ONE_PATH, "if"): Words(
        "`{name}` is set only where the condition in line {line} holds; it has no value after the `if`",
        "set `{name}` before the `if`, with the type that it has inside",
    ),
    (MistakeKind.ONE_PATH, "else"): Words(
        "`{name}` is set only in the `else` of line {line}; it has no value after it",
        "set `{name}` before the `if`, with the type that it has inside",
    ),
    (MistakeKind.ONE_PATH, "loop"): Words(
        "`{name}` is set first inside the loop in line {line}; it has no value after the loop",
        "set `{name}` before the loop, with the type that it has inside",
    ),
}


class UndefinedName(Rule):
    code, name = "TAC120", "undefined-name"
    summary = "A name has no value where the kernel uses it, because nothing sets it or only one path does."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
        if not kernel.for_vendor:
            for found in flagged_names(kernel.module, kernel.function, kernel.launches):
                yield _unset_without(kernel, found)


def _unset_without(kernel: KernelFlow, found: FlaggedName) -> Hit:
    name = found.use.id
    return Hit(
        kernel.place(found.use),
        f"`{name}` is set only where `{found.flag}` is {not found.value}, and is used here in either case: with"
        f" `{found.flag}` {found.value} the kernel does not compile",
        remedy=f"set `{name}` in the other arm of the `if`, too",
        severity=Severity.WARNING,
        confidence=Confidence.MEDIUM,
        related=((kernel.place(found.setting), f"`{name}` is set here"),),
    )
