"""TAN110: partial sums are rounded to 16 bits on their way to the sum of them all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.partials import narrow_partials
from tritonaudit.queries.updates import parameter_of
from tritonaudit.rule import Hit, Rule


class RoundedPartials(Rule):
    code, name = "TAN110", "rounded-partials"
    summary = "Partial sums are kept in 16 bits or in an input's dtype before the wrapper adds them up."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if not kernel.reductions and not kernel.dots and not _loops(kernel):
            return  # it adds nothing up
        stored = {parameter_of(access) or "" for access in kernel.accesses if access.kind == "store"}
        for partials in narrow_partials(kernel.launches.launches, stored):
            yield Hit(
                kernel.place(partials.dtype),
                f"the buffer that `{kernel.name}` fills as `{partials.parameter}` is summed afterwards, and keeps each "
                f"part in `{ast.unparse(partials.dtype)}`: every part is rounded before they are added",
                remedy="allocate it with `dtype=torch.float32` and cast the sum",
                related=((kernel.place(partials.sum), "the parts are added up here"),),
            )


def _loops(kernel: KernelFlow) -> bool:
    return bool(kernel.function.nodes.of(ast.For)) or bool(kernel.function.nodes.of(ast.While))
