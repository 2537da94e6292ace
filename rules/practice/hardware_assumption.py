"""TAB201: a launch is made for the number of multiprocessors, or of lanes in a warp, of one GPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Extent, Severity
from tritonaudit.kernel.hardware_numbers import Counted, bare_ptx, full_grids, hardware_numbers, open_ended_tests
from tritonaudit.rule import Hit, Rule

_ASK_DEVICE = "ask the device: `torch.cuda.get_device_properties(x.device).multi_processor_count`"
_ASK_TRITON = "ask Triton: `triton.runtime.driver.active.get_current_target().warp_size`"
_IDLE = "on every GPU: on a larger one multiprocessors idle, on a smaller one programs wait for others"


class HardwareAssumption(Rule):
    code, name = "TAB201", "hardware-assumption"
    summary = "The number of multiprocessors, or of lanes in a warp, of one GPU is hard-coded for all."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"
    once_in = Extent.FILE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if kernel.for_vendor:
            return
        for number in hardware_numbers(kernel.function, kernel.launches):
            counts_lanes = number.counts is Counted.LANES
            yield Hit(
                kernel.place(number.node),
                f"`{number.name}` is {number.value} {_lanes(number.value) if counts_lanes else _IDLE}",
                remedy=_ASK_TRITON if counts_lanes else _ASK_DEVICE,
                severity=Severity.INFO if counts_lanes else None,
                confidence=Confidence.LOW if number.is_default else None,
            )
        for node in full_grids(kernel.launches):
            yield Hit(kernel.place(node), f"the grid has {ast.unparse(node)} programs {_IDLE}", remedy=_ASK_DEVICE)
        for test in open_ended_tests(kernel.launches):
            yield Hit(
                kernel.place(test),
                f"`{ast.unparse(test)}` is true of every later GPU, too, some of which have less shared memory",
                remedy="ask for what is needed, or name the capabilities that were tried: `capability in ((9, 0), …)`",
                severity=Severity.INFO,
                confidence=Confidence.LOW,
            )
        for call in bare_ptx(kernel.module, kernel.function):
            yield Hit(
                kernel.place(call.func),
                "this assembly is PTX, which compiles only for NVIDIA's GPUs",
                remedy="write it with `tl` or `libdevice`, or choose it by a `tl.constexpr` of the launch",
                severity=Severity.INFO,
                confidence=Confidence.LOW,
            )


def _lanes(value: int) -> str:
    others = "of AMD's Instinct GPUs has 64" if value == 32 else "of NVIDIA's GPUs has 32"
    return f"on every GPU, and a warp {others} lanes"
