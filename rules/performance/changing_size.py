"""TAP201: a kernel is compiled or tuned again for each value of a size that changes from call to call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Extent, Severity
from tritonaudit.kernel.tuning import tuners
from tritonaudit.queries.changing_sizes import Changing, ChangingArgument, recompiling, sequence_counts
from tritonaudit.rule import Hit, Rule


class ChangingSize(Rule):
    code, name = "TAP201", "changing-size"
    summary = "A kernel is recompiled or retuned for each value of a size that changes from call to call."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"
    once_in = Extent.FILE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for autotune, _ in tuners(kernel.module, kernel.function):
            for size in sequence_counts(kernel, autotune):
                yield Hit(
                    kernel.place(size.node),
                    f"`{size.name}` is in the key as `{ast.unparse(size.value)}`, the number of sequences in a batch: "
                    "the autotuner times all configs again for each new number",
                    remedy="leave it out of the key, or add a parameter for the key that is rounded to a power of two",
                    related=((kernel.place(size.value), "it is passed as this"),),
                )
        if not kernel.for_vendor:
            for argument in recompiling(kernel):
                yield _recompiled(kernel, argument)


def _recompiled(kernel: KernelFlow, argument: ChangingArgument) -> Hit:
    name, given = argument.node.arg, argument.given
    shown = given if isinstance(argument.value, ast.Subscript) else argument.value
    what = f"`{name}` is {'a compile-time constant' if argument.constexpr else 'read by nothing in the kernel'}"
    unread = ", though nothing in the kernel reads it" if argument.constexpr and argument.unused else ""
    few = argument.changes is Changing.BATCH
    each = "for each value" if argument.constexpr else "for values that are 1, divisible by 16, or neither"
    return Hit(
        kernel.place(argument.node),
        f"{what} and is passed `{ast.unparse(shown)}`, {argument.changes.value}: the kernel is compiled again {each}"
        f"{unread}",
        remedy="remove the parameter"
        if argument.unused
        else f"make it a plain argument: `{name}` without a `constexpr`",
        severity=Severity.INFO if few or not argument.constexpr else None,
        confidence=Confidence.LOW if few and not argument.unused else None,
        related=((kernel.place(given), "it is passed here"),),
    )
