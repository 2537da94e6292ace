"""TAC121: a kernel reads a global variable that is no `tl.constexpr`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, hit
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Hit, Rule

_REMEDY = "make it `{name} = tl.constexpr(…)`, or pass it as a `tl.constexpr` parameter"

_WORDS = {
    (MistakeKind.GLOBAL, "value"): Words("`{name}` is a global of the host code, which a kernel cannot read", _REMEDY),
    (MistakeKind.GLOBAL, "none"): Words("`{name}` is a global that is None, which a kernel cannot read", _REMEDY),
    (MistakeKind.GLOBAL, "annotated"): Words(
        "`{name}` is a global annotated as `tl.constexpr`, and the annotation by itself does not make it one", _REMEDY
    ),
    (MistakeKind.GLOBAL, "class"): Words(
        "`{name}` is a class of the host code, whose attributes a kernel cannot read",
        "pass the value as a `tl.constexpr` parameter, or make a global `tl.constexpr(…)` of it",
    ),
}


class GlobalInKernel(Rule):
    code, name = "TAC121", "global-in-kernel"
    summary = "A kernel reads a global variable that is not a `tl.constexpr`, so it does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        """A global that the file sets once is reported there, where it is to be changed; another where it is read."""
        uses: dict[str, list[Hit]] = {}
        for mistake in kernel.mistakes:
            words = _WORDS.get((mistake.kind, mistake.what))
            if words is not None and mistake.words.get("helper"):
                yield hit(kernel, mistake, words)
            elif words is not None:
                uses.setdefault(str(mistake.words["name"]), []).append(hit(kernel, mistake, words))
        for name, hits in uses.items():
            definition = _definition(kernel, name)
            if definition is None:
                yield from hits
            else:
                related = tuple((use.where, f"`{kernel.name}` reads it here") for use in hits)
                yield replace(hits[0], where=kernel.place(definition), related=related)


def _definition(kernel: KernelFlow, name: str) -> ast.expr | None:
    """The name where the file's own level sets it, once."""
    found = [
        target
        for statement in kernel.module.tree.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name) and target.id == name
    ]
    return found[0] if len(found) == 1 else None
