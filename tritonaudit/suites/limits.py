"""Which sizes make a case that is quick to execute, and that can be made at all. Imports neither torch nor triton."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tritonaudit.subject.dimension import Dimension, names_in, size_of
from tritonaudit.subject.model import INTEGER, Subject, Tensor
from tritonaudit.subject.size_kind import SizeKind, size_kind, size_names

LARGEST = 1 << 20
"""The largest size that is tried: a tensor may have so many elements, which take the CPU engine tenths of a second."""

_SCORES = 1 << 24  # every position with every other, which a reference makes and a kernel goes through
_PRODUCTS = 1 << 26  # multiplications of a matrix product


class _Needs(NamedTuple):
    """Numbers of elements of what a case makes, and of multiplications."""

    inputs: int
    output: int = 0
    scores: int = 0
    products: int = 0


_EXCESS = {
    "inputs": "its tensors would have more than {} elements",
    "output": "what is made of its tensors may have more than {} elements",
    "scores": "its positions, each with every other, would be more than {}",
    "products": "it may take more than {} multiplications",
}


class Limits:
    """How large a subject's cases may be: as its tensors show, and as its outputs and its work are likely to be.

    `least` are the least sizes that its dimensions can have: what these need is allowed.
    """

    def __init__(self, subject: Subject, least: Mapping[str, int]) -> None:
        self._subject = subject
        self._least = dict(least)
        self._shapes = tuple(tuple(tensor.dims) for tensor in subject.tensors)
        self._attending = tuple(_attending(subject.tensors))
        self._multiplied = _names_of_products(subject)
        self._found: dict[tuple[int, ...], str] = {}
        usual = _Needs(LARGEST * max(2, len(self._shapes)), 2 * LARGEST, _SCORES, _PRODUCTS)
        self._most = _Needs(*map(max, usual, self._of(self._least)))

    @property
    def are_for_products(self) -> bool:
        """Whether an output may be made of the tensors as a matrix product is."""
        return bool(self._multiplied)

    def allow(self, sizes: Mapping[str, int], share: int = 1) -> bool:
        """Whether a case may have these sizes; those not given are the least. `share` divides the limits."""
        return not self.excess(sizes, share)

    def excess(self, sizes: Mapping[str, int], share: int = 1) -> str:
        """In what a case of these sizes would be too large, in a report's words; nothing where it would not."""
        complete = {**self._least, **sizes}
        key = (share, *complete.values())
        if key not in self._found:
            most = _Needs(*(limit // share for limit in self._most))
            over = zip(_Needs._fields, self._of(complete), most, strict=True)
            self._found[key] = next((_EXCESS[kind].format(limit) for kind, needed, limit in over if needed > limit), "")
        return self._found[key]

    def _of(self, sizes: Mapping[str, int]) -> _Needs:
        if callable(self._subject.inputs):
            # What it makes of sizes that the subject names for it cannot be known.
            return _Needs(math.prod(size for name, size in sizes.items() if name not in self._subject.sizes))
        multiplied = sorted(sizes[name] for name in self._multiplied)
        return _Needs(
            inputs=sum(_elements(dims, sizes) for dims in self._shapes),
            output=math.prod(multiplied[1:] if len(multiplied) > 2 else multiplied) if multiplied else 0,
            scores=max((self._scores(dims, sizes) for dims in self._attending), default=0),
            products=math.prod(multiplied) if multiplied else 0,
        )

    def _scores(self, dims: Sequence[Dimension], sizes: Mapping[str, int]) -> int:
        names = {name for dim in dims for name in names_in(dim)}
        positions = [sizes[name] for name in names if size_kind(self._subject, name) is SizeKind.LARGE]
        return _elements(dims, sizes) * max(positions, default=1)


def can_be_made(subject: Subject, sizes: Mapping[str, int]) -> bool:
    """Whether the tensors can have these sizes: none is negative, and there is an integer that each may hold."""
    try:
        return all(_can_be_made(tensor, sizes) for tensor in subject.tensors)
    except ZeroDivisionError:
        return False


def _can_be_made(tensor: Tensor, sizes: Mapping[str, int]) -> bool:
    shape = [size_of(dim, sizes) for dim in tensor.dims]
    if min(shape, default=0) < 0:
        return False
    is_bounded = tensor.dtype in INTEGER and 0 not in shape
    return not is_bounded or size_of(tensor.low, sizes) < size_of(tensor.high, sizes)


def _elements(dims: Sequence[Dimension], sizes: Mapping[str, int]) -> int:
    try:
        return math.prod(max(0, size_of(dim, sizes)) for dim in dims)
    except ZeroDivisionError:
        return 0


def _names_of_products(subject: Subject) -> tuple[str, ...]:
    """All names, where no tensor has them all: an output may then have all but one, as a matrix product's does."""
    of_tensors = [{name for dim in tensor.dims for name in names_in(dim)} for tensor in subject.tensors]
    names = set().union(*of_tensors)
    return () if names in of_tensors else tuple(name for name in size_names(subject) if name in names)


def _attending(tensors: Sequence[Tensor]) -> list[tuple[Dimension, ...]]:
    """What queries, keys and values have besides the features that they share: the positions may meet each other."""
    vectors = [tensor.dims for tensor in tensors if len(tensor.dims) >= 3 and tensor.dtype is None]
    last = [dims[-1] for dims in vectors]
    return [dims[:-1] for dims in vectors if last.count(dims[-1]) >= 3]
