"""TAC144: each round of a loop overwrites what the rounds before it have computed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.lost_rounds import lost_rounds
from tritonaudit.rule import Hit, Rule


class LostRounds(Rule):
    code, name = "TAC144", "lost-rounds"
    summary = "A loop sets a variable in each round, and only what the last round leaves is used."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in lost_rounds(kernel):
            node = found.node
            assert isinstance(node, (ast.expr, ast.stmt))
            yield Hit(
                kernel.place(node),
                f"each round of the loop overwrites `{found.name}`, and nothing uses what the round before left there:"
                " only the last round counts",
                remedy=f"add to `{found.name}`, or compute it behind the loop",
                related=((kernel.place(found.loop.target), "in this loop"),),
            )
