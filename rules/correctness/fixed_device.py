"""TAC206: a wrapper makes a tensor on the current GPU, and its caller's tensors may lie on another."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.kernel.devices import fixed_device
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import span_of

_MOST_PLACES = 8


class FixedDevice(Rule):
    code, name = "TAC206", "fixed-device"
    summary = "A wrapper makes a tensor on the current GPU, whichever GPU its caller's tensors lie on."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        found = fixed_device(kernel.module, kernel.function, kernel.launches.launches)
        if found is not None:
            lines, which = kernel.module.lines, "first" if found.first else "current"
            yield Hit(
                span_of(found.made, lines),
                f"this tensor is made on the {which} GPU, and `{found.beside}` lies where the caller made it: on any"
                " other GPU the kernel is given memory of two",
                remedy=f"make it where the other tensors are: `device={found.beside}.device`",
                related=tuple((span_of(other, lines), "here too") for other in found.others[:_MOST_PLACES]),
            )
