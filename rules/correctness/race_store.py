"""TAC109: programs or threads that store to one place without waiting for each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.missing_terms import missing_term
from tritonaudit.queries.races import Overwrite, Repeated, early_loads, early_releases, overwrites, repeated_work
from tritonaudit.queries.strays import Meeting, astray, meetings
from tritonaudit.rule import Hit, Rule


class RaceStore(Rule):
    code, name = "TAC109", "race-store"
    summary = "Programs store different values to one place, or threads go on before the others have stored."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        told = {one.shown.access for one in astray(kernel)}
        for overwrite in overwrites(kernel):
            told.add(overwrite.store)
            yield _overwrite(kernel, overwrite)
        for met in meetings(kernel):
            if met.shown.access not in told and missing_term(kernel, met.shown.access) is None:
                yield _meeting(kernel, met)
        for repeated in repeated_work(kernel):
            yield _repeated(kernel, repeated)
        if kernel.for_vendor:
            return
        for found in early_loads(kernel):
            yield Hit(
                found.load.node,
                "this loads what other threads of the program store, and nothing waits until they have",
                remedy="put `tl.debug_barrier()` before it, or keep the values instead of loading them",
                severity=Severity.WARNING,
                related=((found.store.node, "it is stored here"),),
            )
        if kernel.target.supports((3, 9)) == "all":
            return
        for early in early_releases(kernel):
            yield Hit(
                kernel.place(early.release),
                "this releases the lock, and before Triton 3.9 nothing waits until all threads of the program have"
                f" stored (target {kernel.target.text})",
                remedy="put `tl.debug_barrier()` before it",
                related=((kernel.place(early.store), "this is stored under the lock"),),
            )


def _overwrite(kernel: KernelFlow, found: Overwrite) -> Hit:
    axis = f"the `{ast.unparse(found.counted)}` programs along axis {found.axis} of the grid"
    if found.shared is not None:
        axis = f"the `{found.shared.text}` programs along axis {found.axis} whose number divided by it is the same"
    harm = "updates it without an atomic operation" if found.updates else "stores its own value: one of them is kept"
    counted = (kernel.place(found.counted), "the programs are counted here")
    address = found.address
    is_made_apart = address is not None and address.lineno != kernel.tree.span(found.store.node).line
    return Hit(
        kernel.place(address) if is_made_apart and address is not None else found.store.node,
        f"each of {axis} has the same place in `{found.parameter}` and {harm}",
        remedy="give each program its own place and add them up, or use `tl.atomic_add`",
        related=((found.store.node, "it is stored to here"), counted) if is_made_apart else (counted,),
    )


def _meeting(kernel: KernelFlow, found: Refuted[Meeting]) -> Hit:
    shown = found.shown
    one, other = shown.programs
    who = f"two lanes of program {one}" if one == other else f"programs {one} and {other}"
    return Hit(
        shown.access.node,
        f"{who} store to the same place: for `{shown.tensor}` of shape {shown.layout.sizes} and strides"
        f" {shown.layout.strides} both are at place {shown.place:,}",
        remedy="multiply each index by the stride of its dimension of this tensor",
        severity=Severity.WARNING,
        related=((kernel.place(shown.site.call), "this is the launch"),),
        way=kernel.way_from(shown.site.call),
    )


def _repeated(kernel: KernelFlow, found: Repeated) -> Hit:
    return Hit(
        found.store.node,
        f"all of the `{ast.unparse(found.counted)}` programs along axis {found.axis} of the grid store the same to the"
        " same places: nothing that the kernel stores depends on their number",
        remedy=f"use `tl.program_id({found.axis})`, or leave the axis out of the grid",
        severity=Severity.WARNING,
        related=((kernel.place(found.counted), "the programs are counted here"),),
    )
