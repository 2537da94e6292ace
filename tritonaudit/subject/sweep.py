"""The cases that a subject is tried on. Imports neither torch nor triton."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tritonaudit.subject.dimension import names_in, size_of
from tritonaudit.subject.model import Case, Layout, Subject, Tensor
from tritonaudit.subject.size_kind import SizeKind, size_kind, size_names, takes_dtype


@dataclass(frozen=True)
class _Sweep:
    """What a dimension is tried with: a size that blocks divide, one that they do not, the least.

    All of `growing` are divisible by 16 and rounded up to the same power of 2, so that a kernel has no need to be
    compiled again for any of them.
    """

    base: int
    unaligned: int
    growing: tuple[int, ...]
    least: int


_SWEEPS = {
    SizeKind.LARGE: _Sweep(SizeKind.LARGE.usual, 1000, (1040, 1104, 1168, 1232), SizeKind.LARGE.least),
    SizeKind.BATCH: _Sweep(SizeKind.BATCH.usual, 4, (144, 176, 208, 240), SizeKind.BATCH.least),
    SizeKind.COUNT: _Sweep(SizeKind.COUNT.usual, 8, (144, 176, 208, 240), SizeKind.COUNT.least),
    SizeKind.HEAD_DIM: _Sweep(SizeKind.HEAD_DIM.usual, 80, (), SizeKind.HEAD_DIM.least),
}
_MAX_ELEMENTS = 1 << 27  # of a tensor: half a GB of float32


def compile_cases(subject: Subject) -> tuple[Case, ...]:
    """The cases for the compiler: each is likely to be specialised differently.

    Every dtype with sizes that blocks divide; then, with the first dtype, sizes that they do not divide, all together
    and one at a time, the least sizes, the further sizes that the subject names, and tensors that are transposed or
    begin at an odd place. A function that makes the inputs has no layouts, and as many sizes as it has names for. It
    is tried with every dtype of the subject, unless its keywords show that it takes none: what a function does with a
    case cannot be seen from outside.
    """
    base = {name: _sweep_of(subject, name).base for name in size_names(subject)}
    unaligned = {name: _sweep_of(subject, name).unaligned for name in base}
    sizes = [
        unaligned,
        {name: _sweep_of(subject, name).least for name in base},
        *({**base, name: unaligned[name]} for name in base if 2 <= len(base) <= 4),
        *({**base, name: size} for name, given in subject.sizes.items() for size in given),
    ]
    dtypes = tuple(subject.dtypes)
    first = _fitting(subject, base)
    cases = [Case(first, dtype) for dtype in (dtypes if takes_dtype(subject) else dtypes[:1])]
    cases += [Case(_fitting(subject, changed), dtypes[0]) for changed in sizes]
    if not callable(subject.inputs):
        cases += [Case(first, dtypes[0], layout) for layout in _layouts(subject)]
    return _distinct(cases)


def storm_cases(subject: Subject) -> tuple[tuple[str, tuple[Case, ...]], ...]:
    """For each dimension, cases in which it alone grows, by sizes for which one compiled kernel would do.

    A kernel that is specialised again for each of them has a recompile storm. Dimensions whose sizes the subject names
    do not grow.
    """
    base = {name: _sweep_of(subject, name).base for name in size_names(subject)}
    found: list[tuple[str, tuple[Case, ...]]] = []
    for name in base:
        if growing := _sweep_of(subject, name).growing:
            others = _fitting(subject, {**base, name: max(growing)}, keep=name)
            found.append((name, tuple(Case({**others, name: size}, subject.dtypes[0]) for size in growing)))
    return tuple(found)


def _fitting(subject: Subject, sizes: Mapping[str, int], keep: str | None = None) -> dict[str, int]:
    """The sizes, where a tensor would be too large with its first dimensions made small, but for the one to keep."""
    fitting = dict(sizes)
    for tensor in subject.tensors:
        for name in (name for dim in tensor.dims for name in names_in(dim)):
            if name != keep and name not in subject.sizes and _elements(tensor, fitting) > _MAX_ELEMENTS:
                fitting[name] = min(fitting[name], SizeKind.COUNT.usual)
    return fitting


def _elements(tensor: Tensor, sizes: Mapping[str, int]) -> int:
    return math.prod(size_of(dim, sizes) for dim in tensor.dims)


def _sweep_of(subject: Subject, name: str) -> _Sweep:
    """What a dimension is tried with: the subject says, or what it counts."""
    if name in subject.sizes:
        first = subject.sizes[name][0]
        return _Sweep(first, first, (), first)
    return _SWEEPS[size_kind(subject, name)]


def is_least(subject: Subject, case: Case) -> bool:
    """Whether a case has the least size of every dimension for which the subject names none, and there are such."""
    sweeps = {name: _sweep_of(subject, name) for name in size_names(subject) if name not in subject.sizes}
    return bool(sweeps) and all(case.sizes[name] == sweep.least < sweep.base for name, sweep in sweeps.items())


def _layouts(subject: Subject) -> Iterator[Layout]:
    """Those in which some tensor of the subject lies otherwise than contiguously."""
    if any(len(tensor.dims) >= 2 for tensor in subject.tensors):
        yield Layout.TRANSPOSED
    if any(tensor.dims for tensor in subject.tensors):
        yield Layout.OFFSET


def _distinct(cases: Iterable[Case]) -> tuple[Case, ...]:
    found: dict[str, Case] = {}
    for case in cases:
        found.setdefault(case.label, case)
    return tuple(found.values())
