"""What a function for the inputs gives, and how far that may be varied. Imports neither torch nor triton."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tritonaudit.subject.dimension import Dimension, size_of
from tritonaudit.subject.model import FLOATING, INTEGER, Case, Layout

AMONG = " among given"
"""What a fill ends in that puts a few special values among those given."""
AMONG_NORMAL = " among normal"
"""The same of tensors that are filled with normal numbers."""
OF_TENSOR = " of tensor "
"""What follows that in a fill which does so to one tensor only, by its number among all."""
SCALED = "scaled "
SPECIAL = ("nan", "inf", "-inf")
REARRANGED = ("constant", "ties", "sorted")
"""Fills of the values given themselves: all one of them, many of them equal, in ascending order."""
RUNS = "integers in runs"
"""A fill of integers of which many in a row are the same: the least, the largest, or those beside them."""
INTEGERS = ("integers sorted", "integers permuted", RUNS, "integers least", "integers largest")
"""Fills of integers and booleans, by nothing but what was given."""
_REARRANGING = ("integers sorted", "integers permuted")
REACHING = "integers up to the dimension"
"""A fill of integers that point into a dimension, also where those given do not go so far."""
ANY_INTEGERS = "any integers"
"""A fill of integers of which nobody says how large they may be."""

_NUMBERS = {"zeros": (0.0,), "ones": (1.0,), "alternating": (1.0, -1.0)}
_UNKNOWN = (0.0, 1.0)
"""Of values that are not known: what nearly every function takes."""
_OF_8_BITS = frozenset(dtype for dtype in FLOATING if dtype.startswith("float8"))
"""Whose numbers are too few to be scaled: what has a scale besides holds that in another tensor."""
MOST_ALONE = 4
"""Tensors of which each has special values alone."""


@dataclass(frozen=True)
class GivenTensor:
    """A tensor as it was given: its dimensions, those that may have other sizes by name, its dtype and its range.

    `is_ordered` integers ascend, as offsets do: neither they nor what they may point into are varied. Those that are
    `is_distinct`, as places to write to are, stay so. The reference takes integers below the size `below` and refuses
    that itself; nothing where it was not asked, or takes any.
    """

    dims: tuple[Dimension, ...]
    dtype: str
    low: float = _UNKNOWN[0]
    high: float = _UNKNOWN[1]
    is_contiguous: bool = True
    is_ordered: bool = False
    is_distinct: bool = False
    below: Dimension | None = None

    @property
    def is_floating(self) -> bool:
        return self.dtype in FLOATING

    def takes(self, fill: str, number: int) -> bool:
        """Whether the fill changes it, as the tensor of that number, within what was given.

        Numbers that were all 0 or more stay so, and so do those from 0 to 1; NaN is no number.
        """
        if fill == REACHING:
            return self.below is not None
        if fill in INTEGERS:
            keeps = fill in _REARRANGING or not self.is_distinct
            return self.dtype in INTEGER and not self.is_ordered and self.low < self.high and keeps
        if not self.is_floating or (fill.startswith(SCALED) and self.dtype in _OF_8_BITS):
            return False
        if (special := special_of(fill)) is not None:
            value, only = special
            return only in (None, number) and self._may_hold(value)
        if fill in REARRANGED:
            return self.low < self.high
        return all(map(self._may_hold, self._numbers(fill)))

    def _numbers(self, fill: str) -> tuple[float, ...]:
        """The numbers up to which a fill goes."""
        if fill.startswith(SCALED):
            factor = float(fill.removeprefix(SCALED))
            return (factor * self.low, factor * self.high)
        if fill in _NUMBERS:
            return _NUMBERS[fill]
        if fill.endswith("+normal"):
            number = float(fill.removesuffix("+normal"))
            return (number + self.low, number + self.high)
        return tuple(float(number) for number in fill.removesuffix(" rows").replace("|", ",").split(","))

    def _may_hold(self, number: float) -> bool:
        if math.isnan(number) or self.low < 0:
            return True
        return number >= 0 and (self.high > 1 or number <= 1)


@dataclass(frozen=True)
class Given:
    """All that a function for the inputs gives: `sizes` are those that may be others, by name, as they were given.

    `kept` says of the rest why they may not. What the function makes of a fill is its own affair where it
    `heeds_fills`. `is_remade`: with other sizes it makes tensors of those; else its tensors are cut. `why_not` says why
    the reference does not take other sizes, and nothing where it does.
    """

    tensors: tuple[GivenTensor, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, str] = field(default_factory=dict)
    heeds_fills: bool = False
    is_remade: bool = False
    why_not: Callable[[Mapping[str, int]], str] = field(default=lambda _: "", compare=False)

    def changed(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Those of a case's sizes that are not as given. Raises ValueError for one that cannot be chosen."""
        if unknown := [name for name in sizes if name not in self.sizes]:
            why = self.kept.get(unknown[0], f"there are: {', '.join(self.sizes) or 'none'}")
            raise ValueError(f"{unknown[0]!r} is not a dimension whose size can be chosen: {why}")
        return {name: size for name, size in sizes.items() if size != self.sizes[name]}

    def is_elsewhere(self, case: Case) -> bool:
        """Whether tensors of a case have other sizes than given, or lie otherwise: whoever says so may refuse these."""
        return case.layout is not Layout.CONTIGUOUS or (bool(self.sizes) and bool(self.changed(case.sizes)))

    def elements(self, sizes: Mapping[str, int] | None = None) -> int:
        """How many all tensors have together."""
        full = {**self.sizes, **(sizes or {})}
        return sum(math.prod(size_of(dim, full) for dim in tensor.dims) for tensor in self.tensors)

    def repeats(self, sizes: Mapping[str, int]) -> bool:
        """Whether distinct integers cannot stay so with these sizes, as there are more than may differ."""
        smaller = [size for name, size in sizes.items() if size < self.sizes[name]]
        return any(
            tensor.is_distinct
            and math.prod(size_of(dim, {**self.sizes, **sizes}) for dim in tensor.dims)
            > min((size for size in smaller if size <= tensor.high), default=tensor.high - tensor.low + 1)
            for tensor in self.tensors
        )

    def takes(self, fill: str) -> bool:
        """Whether some tensor can be filled so, each within what was given."""
        return any(tensor.takes(fill, number) for number, tensor in enumerate(self.tensors))

    @property
    def fills(self) -> tuple[str, ...]:
        """Those that only given values have, what tells most first."""
        floating = [number for number, tensor in enumerate(self.tensors) if tensor.is_floating]
        alone = [f"nan{AMONG}{OF_TENSOR}{number}" for number in floating[:MOST_ALONE] if len(floating) > 1]
        among = [f"{special}{AMONG}" for special in SPECIAL]
        scaled = (f"{SCALED}1e4", f"{SCALED}1e-4")
        reaching = (REACHING,) if self.takes(REACHING) else ()
        return (among[0], *REARRANGED, f"0{AMONG}", *among[1:], *alone, *scaled, *reaching, *INTEGERS)


def special_of(fill: str) -> tuple[float, int | None] | None:
    """What a fill puts among other values, and into which tensor only; None where it does no such thing."""
    for among in (AMONG, AMONG_NORMAL):
        value, found, only = fill.partition(among)
        if found:
            return float(value), int(only.removeprefix(OF_TENSOR)) if only else None
    return None


def dimension_name(size: int) -> str:
    """What a dimension is called that was given with this size."""
    return f"dim_{size}"
