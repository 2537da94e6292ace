"""What a value in a kernel comes from: parameters that it points to, whose data or whose number went into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from tritonaudit.ir.values import FLOATS, Const, Descriptor, Dtype, Tensor, Value


class Nature(Enum):
    """What kind of number a value surely is."""

    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "truth value"


_NONE: frozenset[str] = frozenset()
_MOST_WAYS = 16


@dataclass(frozen=True)
class Trail:
    """The parameters that a value comes from.

    `sums` are, for each way that it may have come about, the parameters that it is a sum of, the leftmost first: one
    of them is the pointer where it is an address.
    `loads` are pointers whose data went into it, `whole` those whose element it is unchanged but for casts and shape;
    `scalars` are parameters that went into it as numbers, `direct` is the one that it is, `typed` the one that gives it
    its dtype. `factors` are the pointers whose elements it is a matrix product of.
    """

    sums: tuple[tuple[str, ...], ...] = ()
    loads: frozenset[str] = _NONE
    whole: frozenset[str] = _NONE
    scalars: frozenset[str] = _NONE
    nature: Nature | None = None
    direct: str | None = None
    typed: str | None = None
    factors: frozenset[str] = _NONE

    @property
    def bases(self) -> tuple[str, ...]:
        """Every parameter that it may be an address in, each once."""
        return tuple(dict.fromkeys(name for names in self.sums for name in names))

    @property
    def sources(self) -> frozenset[str]:
        """Every parameter that it comes from in any way."""
        return self.loads | self.scalars | frozenset(self.bases)

    def but(self, **changes: Any) -> Trail:
        return replace(self, **changes)


NOTHING = Trail()
INDEX = Trail(nature=Nature.INTEGER)


def joined(trails: Iterable[Trail]) -> Trail:
    """What one of several values comes from."""
    result: Trail | None = None
    for trail in trails:
        result = trail if result is None or result is trail else _joined(result, trail)
    return NOTHING if result is None else result


def _joined(left: Trail, right: Trail) -> Trail:
    return Trail(
        sums=left.sums if left.sums == right.sums else tuple(dict.fromkeys((*left.sums, *right.sums)))[:_MOST_WAYS],
        loads=left.loads | right.loads,
        whole=left.whole | right.whole,
        scalars=left.scalars | right.scalars,
        nature=left.nature if left.nature is right.nature else None,
        direct=left.direct if left.direct == right.direct else None,
        typed=left.typed or right.typed,
        factors=left.factors | right.factors,
    )


def combined(trails: Iterable[Trail], nature: Nature | None = None) -> Trail:
    """What a number computed from several values comes from."""
    trails = tuple(trails)
    return Trail(
        loads=_NONE.union(*(trail.loads for trail in trails)),
        scalars=_NONE.union(*(trail.scalars for trail in trails)),
        nature=nature,
        typed=next((trail.typed for trail in trails if trail.typed is not None), None),
    )


def added(left: Trail, right: Trail, nature: Nature | None) -> Trail:
    """What a sum comes from."""
    pairs = ((one, other) for one in left.sums or ((),) for other in right.sums or ((),))
    ways = [(*one, *(name for name in other if name not in one)) for one, other in pairs]
    sums = tuple(dict.fromkeys(way for way in ways if way))[:_MOST_WAYS]
    return combined((left, right), nature).but(sums=sums)


def nature_of_type(value: Value) -> Nature | None:
    """The nature of a value by the type that it has, or of a constant."""
    if isinstance(value, Const):
        kinds = {bool: Nature.BOOLEAN, int: Nature.INTEGER, float: Nature.FLOAT}
        return kinds.get(type(value.value))
    dtype = value.dtype if isinstance(value, (Tensor, Descriptor)) else None
    return None if dtype is None else nature_of_dtype(dtype)


def nature_of_dtype(dtype: str) -> Nature | None:
    """The nature of what has this dtype; an address has none."""
    if dtype.startswith("*"):
        return None
    return Nature.BOOLEAN if dtype == "i1" else Nature.FLOAT if dtype in FLOATS else Nature.INTEGER


def nature_asked(value: Value) -> Nature | None:
    """The nature that a dtype gives to what is cast to it."""
    return nature_of_dtype(value.value) if isinstance(value, Const) and isinstance(value.value, Dtype) else None


def nature_of(left: Trail, right: Trail) -> Nature | None:
    """The nature of a result; Python's own numbers take the other's."""
    if Nature.FLOAT in (left.nature, right.nature):
        return Nature.FLOAT
    if left.nature is right.nature:
        return left.nature
    for one, other in ((left, right), (right, left)):
        if one.nature is Nature.INTEGER and not other.loads:
            return Nature.INTEGER  # an index, whatever number is added to it
    return None
