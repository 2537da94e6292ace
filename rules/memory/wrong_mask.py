"""TAM102: a mask is given, and does not keep the access inside its tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Cause, Confidence, Place, Severity
from tritonaudit.queries.bounds import in_all_launches
from tritonaudit.queries.overruns import Overrun, overruns
from tritonaudit.queries.wrong_masks import BadMask, false_promise, wrong_mask
from tritonaudit.rule import Hit, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


class WrongMask(Rule):
    code, name = "TAM102", "wrong-mask"
    summary = "A mask does not bound the index that is accessed."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        seen: set[tuple[object, str]] = set()
        for access in kernel.accesses:
            wrong = wrong_mask(kernel, access) or false_promise(kernel, access)
            if wrong is not None and (key := (wrong.host or access.pointer.origin, wrong.why)) not in seen:
                seen.add(key)
                answer = False if wrong.loses else in_all_launches(kernel, wrong.access)
                if answer is not True:
                    yield _hit(kernel, wrong, Severity.WARNING if answer is False else Severity.ERROR)
        for overrun in overruns(kernel):
            yield _of_overrun(kernel, overrun)


def _hit(kernel: KernelFlow, wrong: BadMask, severity: Severity) -> Hit:
    node, what = wrong.access.node, wrong.access.what
    related: tuple[tuple[CSTNode | Place, str], ...] = ()
    if wrong.host is not None:
        related = ((node, "this is the access"),)
    elif wrong.sibling is not None:
        seen = "it is read here" if wrong.loses else "this access masks the same index"
        related = ((wrong.sibling.node, seen),)
    harm = "leaves out the last elements" if wrong.loses else "can leave its tensor"
    return Hit(
        node if wrong.host is None else kernel.place(wrong.host),
        f"{'this' if wrong.host is None else 'a'} {what} {harm}: {wrong.why}",
        remedy=wrong.remedy,
        severity=severity,
        cause=None if wrong.loses else Cause.OUT_OF_BOUNDS,
        related=related,
    )


def _of_overrun(kernel: KernelFlow, overrun: Overrun) -> Hit:
    bound, stride, access = overrun.bound, overrun.stride, overrun.access
    times = f"({overrun.times})" if "*" in overrun.times else overrun.times
    return Hit(
        overrun.place,
        f"a {access.what} can leave its tensor: an index goes up to `{bound}` in steps of `{stride}`, and the launch"
        f" passes `{' * '.join(overrun.shape)}` elements: `{overrun.times}` times as far",
        remedy=f"let it go up to `{bound} // {times}`, or multiply it by what it counts",
        cause=Cause.OUT_OF_BOUNDS,
        related=(
            (access.node, "this is the access"),
            (kernel.place(overrun.site.call), "this is the launch"),
        ),
    )
