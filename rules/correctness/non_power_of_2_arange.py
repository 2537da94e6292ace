"""TAC102: the length of a `tl.arange` is not a power of two, or need not be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.affine import Affine, Kind
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.kernel.launch import Origin, Size
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import span_of

if TYPE_CHECKING:
    from libcst import CSTNode


class NonPowerOf2Arange(Rule):
    code, name = "TAC102", "non-power-of-2-arange"
    summary = "The length of a `tl.arange` is not a power of two, so the kernel does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for node, start, end in kernel.aranges:
            if start.affine is None or end.affine is None:
                continue
            length = end.affine - start.affine
            if length.value is not None:
                if not _is_power_of_2(length.value):
                    yield self._certain(node, length.value)
            elif (hit := self._launched(kernel, node, length)) is not None:
                yield hit

    def _certain(self, node: CSTNode, length: int) -> Hit:
        if length <= 0:
            message = f"`tl.arange` from its start to its end holds {length} elements; the end must be greater"
            return Hit(node, message, remedy="swap the bounds")
        wider = 1 << (length - 1).bit_length()
        return Hit(
            node,
            f"the length of this `tl.arange` is {length}, which is not a power of two",
            remedy=f"use a length of {wider} and mask the lanes from {length} on",
        )

    def _launched(self, kernel: KernelFlow, node: CSTNode, length: Affine) -> Hit | None:
        """A length that is a constexpr parameter, times a number: what do launches and configs pass for it?"""
        (product, factor), *rest = length.terms.items()
        if rest or len(product) != 1 or product[0].kind is not Kind.CONSTEXPR:
            return None
        parameter = product[0].name
        for size in kernel.launches.sizes(parameter):
            if size.value is not None and not _is_power_of_2(size.value * factor):
                message = f"`{parameter}` is {size.value} here, so this `tl.arange` has {size.value * factor} elements"
                return self._host_hit(kernel, node, f"{message}, which is not a power of two", size, Confidence.HIGH)
        for size in kernel.launches.sizes(parameter):
            if size.origin is Origin.SIZE and not kernel.launches.asserts_power_of_2(parameter):
                message = f"`{parameter}` is `{size.text}`, the size of a tensor: unless it is a power of two"
                message += " this `tl.arange` does not compile"
                return self._host_hit(kernel, node, message, size, Confidence.MEDIUM)
        return None

    def _host_hit(self, kernel: KernelFlow, node: CSTNode, message: str, size: Size, confidence: Confidence) -> Hit:
        return Hit(
            node,
            message,
            remedy="pass `triton.next_power_of_2(…)` at the launch and mask the lanes past the size",
            confidence=confidence,
            severity=Severity.ERROR if confidence is Confidence.HIGH else Severity.WARNING,
            related=((span_of(size.node, kernel.module.lines), "it is passed here"),),
        )


def _is_power_of_2(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
