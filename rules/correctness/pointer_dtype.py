"""TAC136: the type of a pointer is compared with the dtype of a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.pointer_types import pointers_compared
from tritonaudit.rule import Hit, Rule


class PointerDtype(Rule):
    code, name = "TAC136", "pointer-dtype"
    summary = "The type of a pointer is compared with the dtype of a number, which is never the same."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in pointers_compared(kernel):
            differs = isinstance(found.comparison.ops[0], (ast.NotEq, ast.NotIn, ast.IsNot))
            yield Hit(
                kernel.place(found.comparison),
                f"`{found.pointer}` is a pointer, and its type is never `{found.dtype}`: the comparison is always"
                f" {'true' if differs else 'false'}",
                remedy=f"ask for what it points to: `{found.pointer}.dtype.element_ty`",
            )
