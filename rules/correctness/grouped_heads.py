"""TAC118: a head of the keys chosen by a remainder, where neighbouring heads of the queries share one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.grouped_heads import interleaved
from tritonaudit.rule import Hit, Rule


class GroupedHeads(Rule):
    code, name = "TAC118", "grouped-heads"
    summary = "The key head is computed as a remainder of the query head, but grouped heads are neighbours."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in interleaved(kernel):
            head = ast.unparse(found.remainder.left)
            yield Hit(
                kernel.place(found.remainder),
                f"`{ast.unparse(found.remainder)}` gives neighbouring query heads different key heads, and where heads"
                " are grouped, neighbours share one",
                remedy=f"divide by the size of a group: `{head} // (query_heads // {found.count})`",
                related=((found.whole.node, "here the same number is a query head"),),
            )
