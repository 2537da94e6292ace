"""TAC201: an autotuned kernel changes memory by what it holds, and every config that is tried changes it again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.tuning import Autotune, sets_up, tuners
from tritonaudit.queries.updates import Update, updates
from tritonaudit.rule import Hit, Rule


class AutotuneMutation(Rule):
    code, name = "TAC201", "autotune-mutation"
    summary = "An autotuned kernel updates memory in place, so that trying its configs spoils the memory."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for autotune, own in tuners(kernel.module, kernel.function):
            protected = _protected(autotune)
            if protected is None or _tries_one(autotune) or sets_up(kernel.module, autotune):
                continue
            for update in updates(kernel):
                if update.parameter not in protected:
                    yield self._hit(kernel, autotune, update, own)

    def _hit(self, kernel: KernelFlow, autotune: Autotune, update: Update, own: bool) -> Hit:
        name = update.parameter
        what = "adds to" if update.adds else "reads and then overwrites"
        option = "reset_to_zero" if update.adds else "restore_value"
        related = [(update.written.node, "it is added to here" if update.adds else "it is overwritten here")]
        if not update.adds:
            related.insert(0, (update.read.node, "it is read here"))
        return Hit(
            kernel.place(_place(autotune)),
            f"the kernel {what} `{name}`, and the autotuner runs it many times: the first call for a key leaves "
            "what all these runs made of it",
            remedy=f'pass `{option}=["{name}"]` to the autotuner',
            confidence=None if own else Confidence.MEDIUM,
            related=tuple(related),
        )


def _protected(autotune: Autotune) -> set[str] | None:
    """The parameters whose memory the autotuner puts back; None where that is unknown."""
    found: set[str] = set()
    for argument in ("reset_to_zero", "restore_value"):
        value = autotune.arguments.get(argument)
        if value is None or (isinstance(value, ast.Constant) and value.value is None):
            continue
        names = {name for name, _ in autotune.names(argument)}
        if not isinstance(value, (ast.List, ast.Tuple)) or len(names) < len(value.elts):
            return None
        found |= names
    return found


def _tries_one(autotune: Autotune) -> bool:
    """Whether there is one config alone, which nobody has to time."""
    return autotune.whole and len(autotune.configs) == 1


def _place(autotune: Autotune) -> ast.expr:
    """The key, after which the missing argument belongs."""
    return autotune.arguments.get("key", autotune.node.func)
