"""TAP202: sizes of tiles, or of the grid, that are fixed at the launch."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.affine import AtomKind
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.fixed_sizes import fixed_grids, fixed_sizes
from tritonaudit.rule import Hit, Rule


class NoAutotune(Rule):
    code, name = "TAP202", "no-autotune"
    summary = "The sizes of tiles or the grid are fixed numbers, regardless of the data and the GPU."
    severity, confidence, since = Severity.INFO, Confidence.LOW, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if not kernel.launches.launches:
            return
        for size in fixed_sizes(kernel.module, kernel.function, kernel.launches, _of_tiles(kernel)):
            yield Hit(
                kernel.place(size.node),
                f"`{size.parameter}` of `{kernel.name}` is {size.value}, regardless of the data and the GPU",
                remedy="try several with `@triton.autotune`, or compute it from the size of the data",
            )
        for grid in fixed_grids(kernel.launches):
            yield Hit(
                kernel.place(grid.node),
                f"`{kernel.name}` is launched with {grid.value} programs, regardless of the data and the GPU",
                remedy="compute the grid from the size of the data, or from the multiprocessors of the GPU",
            )


def _of_tiles(kernel: KernelFlow) -> frozenset[str]:
    """The parameters that split the data among programs, or among the turns of a loop."""
    factors = [
        other
        for product in kernel.products
        for one, other in (product.operands, product.operands[::-1])
        if one.affine is not None and one.affine.atom is not None and one.affine.atom.kind is AtomKind.PID
    ]
    steps = (atom.step for access in kernel.accesses if access.pointer.affine for atom in access.pointer.affine.atoms())
    found = (*(value.affine for value in factors), *steps)
    return frozenset(part.atom.name for part in found if part is not None and part.atom is not None)
