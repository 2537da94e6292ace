"""The sizes that a subject is timed at: small, medium and large. Imports neither torch nor triton."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from tritonaudit.subject.dimension import names_in, size_of
from tritonaudit.subject.model import TIMED, Case, Offsets, Subject, Tensor
from tritonaudit.subject.size_kind import SizeKind, size_kind, size_names

SMALL, MEDIUM, LARGE = TIMED
BYTES = {SMALL: 1 << 20, MEDIUM: 64 << 20, LARGE: 1 << 30}
"""What the tensors of a subject take together, about: the first fits into every last cache, the last into none."""

_LEAST = 16  # of a dimension that grows: matrix instructions need it
_LONG = 4096
_MOST_BATCHES = 1 << 14  # a grid has at most 65535 programs in its second dimension
_MOST_ELEMENTS = 1 << 31  # of a tensor
_ITEM_BYTES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4, "bool": 1}


def timed_cases(subject: Subject, memory: int | None = None) -> tuple[tuple[str, Case], ...]:
    """The cases that a subject is timed on, each with the name of its size, in its first dtype.

    They have the sizes that the subject gives for them. Of the others the dimensions grow by doubling, the smallest
    first, until its tensors take what `BYTES` says, or `memory` bytes if that is less. Dimensions that count heads and
    the like keep their usual size, and those of which the subject names the sizes have these alone. Where there is a
    batch it grows last, in place of dimensions beyond `_LONG`: in those the work of a reference may be quadratic. A
    size that comes to the same case as a smaller one is left out.
    """
    cases: dict[str, Case] = {}
    for name, wanted in BYTES.items():
        sizes = _grown(subject, wanted if memory is None else min(wanted, memory))
        case = Case({**sizes, **subject.timed.get(name, {})}, subject.dtypes[0])
        if case not in cases.values():
            cases[name] = case
    return tuple(cases.items())


def fits(subject: Subject, case: Case, memory: int) -> bool:
    """Whether the tensors of a case take at most so many bytes, and none has too many elements to be addressed.

    They are its inputs, and what may come of two that have dimensions which the other lacks: a product, or what is
    looked up in a table. Inputs that a function makes are taken for one tensor of all dimensions.
    """
    return _fits(subject, case.sizes, case.dtype, memory)


def _fits(subject: Subject, sizes: Mapping[str, int], dtype: str, memory: int) -> bool:
    parts = [(_elements(part, sizes), part.dtype or dtype) for part in _tensors(subject)]
    return all(elements <= _MOST_ELEMENTS for elements, _ in parts) and memory >= sum(
        elements * item_bytes(name) for elements, name in parts
    )


def item_bytes(dtype: str) -> int:
    """How many bytes an element of a dtype takes."""
    return _ITEM_BYTES.get(dtype) or (2 if dtype.endswith("16") else 1)


def _tensors(subject: Subject) -> tuple[Tensor | Offsets, ...]:
    if callable(subject.inputs):
        return (Tensor(*size_names(subject)),)
    results = (_result(one, other) for one, other in combinations(subject.tensors, 2))
    return (*subject.tensors, *subject.offsets, *filter(None, results))


def _result(one: Tensor, other: Tensor) -> Tensor | None:
    """What may come of two tensors: it has the dimensions that only one of them has, but not one that is indexed."""
    indexed = {one.high, other.high}
    own = [dim for dim in one.dims if dim not in other.dims and dim not in indexed]
    others = [dim for dim in other.dims if dim not in one.dims and dim not in indexed]
    return Tensor(*own, *others) if own and others else None


def _elements(part: Tensor | Offsets, sizes: Mapping[str, int]) -> int:
    if isinstance(part, Offsets):
        return size_of(part.parts, sizes) + 1
    return math.prod(max(0, size_of(dim, sizes)) for dim in part.dims)


@dataclass(frozen=True)
class _Ladder:
    """The sizes that a dimension may have: those listed, or else `least` doubled up to `most`; the `last` grow last."""

    least: int
    most: float = math.inf
    listed: tuple[int, ...] = ()
    last: bool = False

    def above(self, size: int) -> int | None:
        steps = self.listed or ((size * 2,) if size < self.most else ())
        return next((step for step in steps if step > size), None)


def _ladder(subject: Subject, name: str, has_batch: bool) -> _Ladder:
    if name in subject.sizes:
        listed = tuple(sorted(size for size in subject.sizes[name] if size)) or (0,)
        return _Ladder(listed[0], listed=listed)
    kind = size_kind(subject, name)
    if kind is SizeKind.LARGE:
        return _Ladder(_LEAST, _LONG if has_batch else math.inf)
    is_batch = kind is SizeKind.BATCH
    return _Ladder(kind.usual, _MOST_BATCHES if is_batch else kind.usual, last=is_batch)


def _grown(subject: Subject, memory: int) -> dict[str, int]:
    """The sizes whose tensors come nearest to so many bytes without taking more."""
    names = size_names(subject)
    has_batch = any(size_kind(subject, name) is SizeKind.BATCH and name not in subject.sizes for name in names)
    ladders = {name: _ladder(subject, name, has_batch) for name in names}
    sizes = {name: ladder.least for name, ladder in ladders.items()}
    weighing = {name for part in _tensors(subject) for name in _names(part)}
    growing = [name for name in sizes if name in weighing]
    while growing:
        name = min(growing, key=lambda name: (ladders[name].last, sizes[name]))
        step = ladders[name].above(sizes[name])
        if step is not None and _fits(subject, {**sizes, name: step}, subject.dtypes[0], memory):
            sizes[name] = step
        else:
            growing.remove(name)
    return sizes


def _names(part: Tensor | Offsets) -> tuple[str, ...]:
    dims = part.dims if isinstance(part, Tensor) else (part.parts,)
    return tuple(name for dim in dims for name in names_in(dim))
