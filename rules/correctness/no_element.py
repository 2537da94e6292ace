"""TAC141: an access goes to a place of memory that is no element of its tensor."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Cause, Confidence, Severity
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.strays import Astray, astray
from tritonaudit.rule import Hit, Rule

_VERBS = {"load": "reads", "store": "writes"}


class NoElement(Rule):
    code, name = "TAC141", "no-element"
    summary = "An access goes where its tensor has no element: between its rows, or past them."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for found in astray(kernel):
            yield _hit(kernel, found)


def _hit(kernel: KernelFlow, found: Refuted[Astray]) -> Hit:
    shown = found.shown
    verb = _VERBS.get(shown.access.kind, "changes")
    return Hit(
        shown.access.node,
        f"this {shown.access.what} goes where its tensor has no element: for `{shown.tensor}` of shape"
        f" {shown.layout.sizes} and strides {shown.layout.strides} program {_program(shown.program)} {verb} place"
        f" {shown.place:,}, where none is",
        remedy="add up each index times the stride of its dimension of this tensor",
        cause=Cause.OUT_OF_BOUNDS,
        related=((kernel.place(shown.site.call), "by this launch"),),
        way=kernel.way_from(shown.site.call),
    )


def _program(program: tuple[int, int, int]) -> str:
    return str(program if any(program[1:]) else program[0])
