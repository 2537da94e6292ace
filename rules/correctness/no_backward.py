"""TAC210: a kernel that autograd does not see, and a fallback that hides that a kernel failed."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Extent, Severity
from tritonaudit.kernel.fallbacks import fallbacks
from tritonaudit.kernel.lost_gradients import lost_gradients
from tritonaudit.rule import Hit, Rule


class NoBackward(Rule):
    code, name = "TAC210", "no-backward"
    summary = "Training code calls a kernel with no backward, or silently swallows any failure of a kernel."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"
    once_in = Extent.FILE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        launches = kernel.launches.here
        for found in fallbacks(kernel.module, launches):
            yield Hit(
                kernel.place(found.answer),
                "this silently replaces the kernel whenever anything goes wrong: a kernel that no longer"
                " compiles, or fails on some input, shows only in the time it takes",
                remedy="catch only what is expected, or warn with the exception before falling back",
                related=((kernel.place(found.launch), "the launch whose failures are hidden"),),
            )
        for lost in lost_gradients(kernel.module, launches):
            yield Hit(
                kernel.place(lost.call),
                f"no gradient comes to `{lost.parameter}` through this launch, which autograd does not see",
                remedy="put the launch into a `torch.autograd.Function` with a `backward`, or under `torch.no_grad()`",
                confidence=Confidence.LOW,
            )
