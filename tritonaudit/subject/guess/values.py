"""What the expressions of host code are known to be, in terms of the parameters of a wrapper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """A parameter as it was given, or a tensor made of it.

    `is_itself` says that it has the same data, `order` are its axes as this one has them (None: as given), `sizes`
    those of this one where it has another shape (in it None: not known).
    """

    name: str
    is_itself: bool = True
    order: Order | None = None
    sizes: tuple[object, ...] | None = None


@dataclass(frozen=True)
class Absent:
    """A parameter that is left at its default, None."""

    name: str


@dataclass(frozen=True)
class Order:
    """The axes of a transposed tensor: pairs that were swapped, the last ones last, or all of them in a new order."""

    swaps: tuple[tuple[int, int], ...] = ()
    permutation: tuple[int, ...] | None = None

    def axis(self, axis: int, rank: int | None = None) -> int | None:
        """Which axis of the parameter this one is; None where it is unknown without the rank."""
        if rank is None and self.permutation is not None:
            rank = len(self.permutation)
        if rank is not None:
            axis %= rank
        for swap in reversed(self.swaps):
            one, other = (place % rank for place in swap) if rank is not None else swap
            if rank is None and len({axis < 0, one < 0, other < 0}) > 1:
                return None
            axis = other if axis == one else one if axis == other else axis
        return axis if self.permutation is None else self.permutation[axis]


@dataclass(frozen=True)
class Dim:
    """The size of an axis of a parameter, counted as the code does."""

    of: str
    axis: int


@dataclass(frozen=True)
class Shape:
    """The sizes of a parameter from axis `start` up to `stop` (None: all that follow)."""

    of: str
    start: int = 0
    stop: int | None = None
    order: Order | None = None

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.stop is None


@dataclass(frozen=True)
class Rank:
    of: str


@dataclass(frozen=True)
class Count:
    """The number of elements of a parameter."""

    of: str


@dataclass(frozen=True)
class Strides:
    of: str
    order: Order | None = None


@dataclass(frozen=True)
class Stride:
    of: str
    axis: int


@dataclass(frozen=True)
class Dtype:
    of: str


@dataclass(frozen=True)
class DtypeName:
    name: str


@dataclass(frozen=True)
class Literal:
    """A constant of the text."""

    value: object


@dataclass(frozen=True)
class Group:
    """A tuple or list; `Shape`s in it stand for as many members as they have."""

    members: tuple[object, ...]


@dataclass(frozen=True)
class Formula:
    """Arithmetic on sizes: `operator` is +, -, *, // or cdiv (a quotient rounded up)."""

    operator: str
    left: Extent
    right: Extent


Extent = Dim | Given | Count | Literal | Formula
"""What a size can be said to equal."""


def dim_of(tensor: str, axis: int | None) -> Dim | None:
    """The size of an axis, None where it is not known which one it is."""
    return None if axis is None else Dim(tensor, axis)


def stride_of(tensor: str, axis: int | None) -> Stride | None:
    """The stride of an axis, None where it is not known which one it is."""
    return None if axis is None else Stride(tensor, axis)


def formula(operator: str, left: object, right: object) -> Formula | None:
    """Arithmetic on two sizes, None where one of them is no size."""
    sides = [side for side in (left, right) if isinstance(side, (Dim, Given, Count, Formula)) or _is_number(side)]
    return Formula(operator, sides[0], sides[1]) if len(sides) == 2 else None  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, Literal) and type(value.value) is int


def numbers_in(values: Iterable[object]) -> list[int]:
    """Those of the values that are whole numbers of the text."""
    return [value.value for value in values if isinstance(value, Literal) and type(value.value) is int]
