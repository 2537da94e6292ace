"""Cases of more elements than an int32 counts. Imports neither torch nor triton until a function makes the inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import prod

from tritonaudit.subject.dimension import names_in, size_of
from tritonaudit.subject.given import Given, GivenTensor
from tritonaudit.subject.model import Case, Layout, Subject, Tensor
from tritonaudit.subject.size_kind import size_names
from tritonaudit.suites import axes as axes_of_cases

ELEMENTS = 1 << 31
"""What an int32 does not count any more."""
BESIDE = 1 << 10
"""More elements than that, so that the last program of a grid is beyond it, too."""
_USUAL = (4096, 512)
"""What the other dimensions have at most: rows as long as models have them, and no more than it takes."""

_MOST_PARTS = 1 << 22
"""Parts of which the offsets are made whatever the tensors are."""
_MENU = 8
"""What sizes are multiples of that a kernel is compiled for, as heads' are, and others are not."""
_UNIT = 1 << 10
"""What tells a tensor that has a dimension twice from one that has it once."""


def large_cases(subject: Subject) -> Iterator[Case]:
    """For each dimension that may grow, the least case in which a tensor has more elements than an int32 counts.

    A dimension of which the subject names the sizes grows if they follow no rule. Where a function makes the inputs the
    other dimensions are as given, and a dimension grows if the reference takes it; or what the function calls a size
    does. One that only offsets have grows beside rows as long as models have them, one for each part of a result.
    """
    if callable(subject.inputs):
        yield from _LargeGiven(subject).cases
        return
    ordinary = {axis.name: int(axis.ordinary) for axis in axes_of_cases.axes_of(subject, ()).sizes}
    growing = [name for name in ordinary if may_grow(subject, name)]
    parts = [sizes for name in growing if (sizes := _grown_parts(subject, name, ordinary)) is not None]
    yield from (Case(sizes, subject.dtypes[0]) for sizes in parts)
    for name in growing:
        for layout in (Layout.CONTIGUOUS, Layout.TRANSPOSED)[: 1 + any(len(one.dims) > 1 for one in subject.tensors)]:
            sizes = _grown(subject, name, ordinary, layout)
            if sizes is not None:
                yield Case(sizes, subject.dtypes[0], layout)


def may_grow(subject: Subject, name: str) -> bool:
    """Whether a dimension may have sizes that the subject does not name: those that it names have nothing in common."""
    named = [size for size in subject.sizes.get(name, ()) if size > 0]
    return not named or (len(set(named)) > 1 and any(size % _MENU for size in named if size > 1))


def _grown(subject: Subject, name: str, ordinary: dict[str, int], layout: Layout) -> dict[str, int] | None:
    """The sizes in which this dimension makes a tensor so large, and alone moves an address so far.

    So the dimensions have the least size of which the strides are larger than its own.
    """
    holding = [tensor for tensor in subject.tensors if any(name in names_in(dim) for dim in tensor.dims)]
    if not holding:
        return None
    largest = max(holding, key=lambda tensor: len(tensor.dims))
    sizes = dict(ordinary)
    for other, most in zip((one for one in reversed(_names(largest)) if one != name), _USUAL, strict=False):
        if other not in subject.sizes:
            sizes[other] = most
    for other in _outside(largest, name, layout):
        sizes[other] = min((size for size in subject.sizes.get(other, ()) if size > 0), default=1)
    sizes[name] = 1
    each = _elements(largest, sizes)
    sizes[name] = ELEMENTS // max(each, 1) + BESIDE
    return sizes if _elements(largest, sizes) > ELEMENTS else None


def _grown_parts(subject: Subject, name: str, ordinary: dict[str, int]) -> dict[str, int] | None:
    """The sizes in which a result that has a row for each part of a tensor is so large, where nothing else has this.

    Such rows are as long as those of tensors. None where some tensor has the dimension, or rows are so short that not
    all offsets fit into memory.
    """
    named = {one for tensor in subject.tensors for one in _names(tensor)}
    rows = [names_in(tensor.dims[-1]) for tensor in subject.tensors if len(tensor.dims) > 1]
    if name in named or all(name not in names_in(one.parts) for one in subject.offsets) or not rows:
        return None
    sizes = dict(ordinary)
    for other in {one for names in rows for one in names}:
        sizes[other] = _USUAL[0] if may_grow(subject, other) else max(subject.sizes.get(other, (sizes[other],)))
    widest = max(size_of(tensor.dims[-1], sizes) for tensor in subject.tensors if len(tensor.dims) > 1)
    sizes[name] = ELEMENTS // max(widest, 1) + BESIDE
    return sizes if sizes[name] <= _MOST_PARTS else None


def _outside(tensor: Tensor, name: str, layout: Layout) -> Iterator[str]:
    """The dimensions of larger strides than this one's."""
    dims = tensor.dims if layout is Layout.CONTIGUOUS else tuple(reversed(tensor.dims))
    for dim in dims:
        if name in names_in(dim):
            return
        yield from names_in(dim)


def why_none(subject: Subject) -> str:
    """Why there is no such case; nothing where there is one."""
    if callable(subject.inputs):
        return _LargeGiven(subject).why_none
    if next(large_cases(subject), None) is not None:
        return ""
    names = {name for tensor in subject.tensors for dim in tensor.dims for name in names_in(dim)}
    is_named = any(not may_grow(subject, name) for name in names)
    return "the subject names the sizes to try" if is_named else "no tensor has a dimension that may grow"


class _LargeGiven:
    """The cases of a subject whose inputs a function makes, or why there are none."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        dtype = self._subject.dtypes[0]
        cases = [Case(sizes, dtype) for sizes in self._found[0]]
        ranks = [] if self._subject.given is None else [len(one.dims) for one in self._subject.given.tensors]
        return (*cases, *(replace(one, layout=Layout.TRANSPOSED) for one in cases if max(ranks, default=0) > 1))

    @cached_property
    def why_none(self) -> str:
        sizes, reasons = self._found
        return "" if sizes else reasons[0]

    @cached_property
    def _found(self) -> tuple[list[dict[str, int]], list[str]]:
        """The sizes of the cases, and why there are no others: one reason at least where there is none."""
        subject = self._subject
        if (given := subject.given) is None:
            return [], ["what the function for the inputs gives is not known"]
        if names := size_names(subject):
            from tritonaudit.suites.large_sizes import grown

            asked = [name for name in names if may_grow(subject, name)]
            found = [grown(subject, name) for name in asked] or ["the subject names the sizes to try"]
        else:
            found = [_grown_given(given, name) for name in given.sizes]
            found += [f"{name}: {why}" for name, why in given.kept.items()] or ["no tensor is given that may grow"]
        return [one for one in found if not isinstance(one, str)], [one for one in found if isinstance(one, str)]


def _grown_given(given: Given, name: str) -> dict[str, int] | str:
    """The size with which this dimension makes a tensor so large, or why it cannot have it."""
    alone = {**given.sizes, name: 1}
    holding = [one for one in given.tensors if name in one.dims]
    largest = max(holding, key=lambda one: _elements(one, alone) * _UNIT ** one.dims.count(name))
    times = ELEMENTS // max(_elements(largest, alone), 1) + 1
    sizes = {name: int(times ** (1 / largest.dims.count(name))) + BESIDE}
    why = given.why_not(sizes)
    return f"{name}: {why}" if why else sizes


def _names(tensor: Tensor) -> list[str]:
    return list(dict.fromkeys(name for dim in tensor.dims for name in names_in(dim)))


def _elements(tensor: Tensor | GivenTensor, sizes: dict[str, int]) -> int:
    return prod(size_of(dim, sizes) for dim in tensor.dims)
