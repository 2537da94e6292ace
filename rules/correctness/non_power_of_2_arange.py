"""TAC102: the length of a `tl.arange` is not a power of two, or need not be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import Affine, Atom, AtomKind
from tritonaudit.domains.facts import Arange, KernelFlow
from tritonaudit.domains.value import Less
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, also
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.kernel.launch import Origin, Size
from tritonaudit.queries.admits import admits
from tritonaudit.queries.answer import Refuted, Unknown
from tritonaudit.queries.arms import comes_to
from tritonaudit.queries.passed_sizes import rounded_beside, sizes_passed
from tritonaudit.rule import Fixable, Hit, Rule

if TYPE_CHECKING:
    from libcst import CSTNode


_WORDS = {
    (MistakeKind.ARANGE, "kind"): Words(
        "the bound `{text}` of this `tl.arange` is {value}, and a bound must be a whole constant", "divide with `//`"
    ),
    (MistakeKind.ARANGE, "negative"): Words(
        "this `tl.arange` starts at {start}, and a negative start does not compile",
        "start at 0 and subtract: `tl.arange(0, {length}) - …`",
    ),
    (MistakeKind.ARANGE, "empty"): Words("the end of this `tl.arange` is not greater than its start", "raise the end"),
    (MistakeKind.ARANGE, "length"): Words(
        "the length of this `tl.arange` is {length}, which is not a power of two",
        "use a length of {wider} and mask the lanes from {length} on",
    ),
    (MistakeKind.BLOCK_SHAPE, "size"): Words(
        "a dimension of this block is {size}, which is not a power of two", "use {wider} and mask what is past {size}"
    ),
    (MistakeKind.BLOCK_SHAPE, "dtype"): Words(
        "`{text}` is a dtype, and `{where}` takes the sizes of a block", "give a whole constant"
    ),
    (MistakeKind.BLOCK_SHAPE, "float"): Words("a dimension of this block, `{text}`, is {size}", "divide with `//`"),
    (MistakeKind.NOT_A_SHAPE, "*"): Words(
        "the shape of `{where}` is `{text}`, and must be a tuple or list", "write `({text},)`, with the comma"
    ),
    (MistakeKind.TOO_LARGE, "*"): Words(
        "this block has {count} elements, shape {shape}, and Triton allows {limit}", "use smaller blocks in a loop"
    ),
}

_BLOCK_MAKERS = frozenset({"tl.zeros", "tl.full", "tl.reshape", "tl.broadcast_to"})


class NonPowerOf2Arange(Rule):
    code, name = "TAC102", "non-power-of-2-arange"
    summary = "The length of a `tl.arange` or block is not a power of two, so the kernel does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    fixable = Fixable.UNSAFE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from also(kernel, self._sizes(kernel), _WORDS)

    def _sizes(self, kernel: KernelFlow) -> Iterator[Hit]:
        reported: set[str] = set()
        for arange in kernel.aranges:
            node, start, end = arange.node, arange.start.affine, arange.end.affine
            if start is None or end is None:
                continue
            length = end - start
            if (begin := start.value) is not None and begin < 0:
                yield Hit(
                    node,
                    f"this `tl.arange` starts at {begin}, and a negative start does not compile",
                    remedy=f"start at 0 and subtract: `tl.arange(0, {length}) - {-begin}`",
                )
            if length.value is not None:
                if not _is_power_of_2(length.value):
                    yield self._certain(node, length.value)
            elif (hit := self._launched(kernel, arange, length, reported)) is not None:
                yield hit
        yield from self._blocks(kernel)

    def _blocks(self, kernel: KernelFlow) -> Iterator[Hit]:
        """Dimensions of other blocks, which must be powers of two as well."""
        for use in kernel.shape_uses:
            size = None if use.value.affine is None else use.value.affine.value
            if use.where in _BLOCK_MAKERS and size is not None and size > 0 and not _is_power_of_2(size):
                yield Hit(
                    use.node,
                    f"a dimension of this block is {size}, which is not a power of two",
                    remedy=f"use {1 << (size - 1).bit_length()} and mask what is past {size}",
                )

    def _certain(self, node: CSTNode, length: int) -> Hit:
        if length <= 0:
            return Hit(node, "the end of this `tl.arange` is not greater than its start", remedy="raise the end")
        wider = 1 << (length - 1).bit_length()
        return Hit(
            node,
            f"the length of this `tl.arange` is {length}, which is not a power of two",
            remedy=f"use a length of {wider} and mask the lanes from {length} on",
        )

    def _launched(self, kernel: KernelFlow, arange: Arange, length: Affine, reported: set[str]) -> Hit | None:
        """A length that is a constexpr parameter, times a number: what do launches and configs pass for it?"""
        (product, factor), *rest = length.terms.items()
        if rest or len(product) != 1 or product[0].kind is not AtomKind.CONSTEXPR or product[0].name in reported:
            return None
        node, parameter, weak = arange.node, product[0].name, None
        for size in (*kernel.launches.sizes(parameter), *sizes_passed(kernel, parameter)):
            hit: Hit | None = None
            if size.value is not None and not comes_to(arange.path, parameter, size.value):
                continue
            if size.value is not None and not _is_power_of_2(size.value * factor):
                message = f"`{parameter}` is {size.value} at a launch, so this `tl.arange` has {size.value * factor} "
                message += "elements, which is not a power of two"
                hit = self._host_hit(kernel, node, message, product[0], size, Confidence.HIGH)
            elif size.origin in (Origin.SIZE, Origin.LAST_SIZE) and self._is_free(kernel, product[0]):
                message = f"`{parameter}` is `{size.text}`, the size of a tensor: unless it is a power of two "
                message += "this `tl.arange` does not compile"
                answer = admits(kernel, parameter, lambda number: not _is_power_of_2(number * factor), size.text)
                if isinstance(answer, Unknown) and answer.held:
                    continue  # the host code refuses others
                is_sure = size.origin is Origin.SIZE and isinstance(answer, Refuted)
                sure = Confidence.MEDIUM if is_sure else Confidence.LOW
                hit = self._host_hit(kernel, node, message, product[0], size, sure)
            if hit is not None and hit.confidence is not Confidence.LOW:
                reported.add(parameter)
                return hit
            weak = weak or hit
        rounded = rounded_beside(kernel, parameter)
        if rounded is not None and self._is_free(kernel, product[0]) and not _is_refused(kernel, parameter, factor):
            message = f"`{parameter}` is passed as it is (`{rounded.text}`), and the launch rounds it up for another"
            message += " parameter: unless it is a power of two this `tl.arange` does not compile"
            weak = self._host_hit(kernel, node, message, product[0], rounded, Confidence.MEDIUM)
        if weak is not None:
            reported.add(parameter)
        return weak

    def _is_free(self, kernel: KernelFlow, parameter: Atom) -> bool:
        """Whether nothing says that the size is chosen."""
        return not self._is_tile(kernel, parameter) and parameter.name not in kernel.launches.tuned

    def _is_tile(self, kernel: KernelFlow, parameter: Atom) -> bool:
        """Whether masks count tiles by the parameter: then it is a tile's size, chosen, and not the data's."""
        masks = (access.mask.mask for access in kernel.accesses if access.mask is not None and access.mask.mask)
        gaps = (condition.gap for mask in masks for condition in mask if isinstance(condition, Less))
        return any(parameter in product and len(product) > 1 for gap in gaps for product in gap.terms)

    def _host_hit(
        self, kernel: KernelFlow, node: CSTNode, message: str, parameter: Atom, size: Size, confidence: Confidence
    ) -> Hit:
        from tritonaudit.fixes.sizes import rounded_up

        return Hit(
            node,
            message,
            remedy="pass `triton.next_power_of_2(…)` at the launch and mask the lanes past the size",
            confidence=confidence,
            severity=Severity.ERROR if confidence is Confidence.HIGH else Severity.WARNING,
            related=((kernel.place(size.node), "it is passed here"),),
            fix=rounded_up(kernel, parameter, size),
        )


def _is_refused(kernel: KernelFlow, parameter: str, factor: int) -> bool:
    """Whether the host code raises wherever the size is no power of two."""
    answer = admits(kernel, parameter, lambda number: not _is_power_of_2(number * factor))
    return isinstance(answer, Unknown) and answer.held


def _is_power_of_2(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
