"""TAC206: a wrapper makes a tensor on the current GPU, and its caller's tensors may lie on another."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.devices import fixed_device
from tritonaudit.rule import Hit, Rule

_MOST_PLACES = 8


class FixedDevice(Rule):
    code, name = "TAC206", "fixed-device"
    summary = "A wrapper makes a tensor on the current GPU, whichever GPU its caller's tensors are on."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        found = fixed_device(kernel.module, kernel.function, kernel.launches.here)
        if found is not None:
            which = "first" if found.first else "current"
            yield Hit(
                kernel.place(found.made),
                f"this tensor is made on the {which} GPU, and `{found.beside}` lies where the caller made it: on any"
                " other GPU the kernel is given memory of two",
                remedy=f"make it where the other tensors are: `device={found.beside}.device`",
                related=tuple((kernel.place(other), "here too") for other in found.others[:_MOST_PLACES]),
            )
