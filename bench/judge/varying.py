"""Other ways to call a wrapper than the one that is known: other sizes, what is optional, other options, layouts."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.judge.noted import GAPS, SMALL, Change, Noted, Passed, passed
from tritonaudit.subject.guess import conventions

if TYPE_CHECKING:
    from tritonaudit.subject.model import Case, Subject

_DISTINCT = (97, 61, 83, 41, 73, 53, 67, 37)
_SHORT = (19, 23, 5, 29, 7, 13, 11, 3)
_LONG = (151, 131, 197, 167, 139, 181, 157, 211)
"""Sizes that differ, of which no block is a divisor: those of a tile and more, of less than one, of several."""
_FEW = 16
"""Counts, such as those of batches and heads, are smaller."""
_COUNTS = (3, 5, 2, 6, 7, 4)
_MOST_WORDS = 4
_OTHERS = (0.5, 2)
_FILL = "1000+normal"


def other_sizes(subject: Subject, one: Noted) -> Iterator[Noted]:
    """All sizes at once: such as differ from one another, and that no block divides."""
    sizes = dict(one.sizes)
    for allowed in ({}, subject.sizes) if subject.sizes else ({},):
        for large in (_LONG, _DISTINCT, _SHORT):
            yield one.of_sizes(_drawn(allowed, sizes, large))
        for turned in (list(reversed(sizes)), [*list(sizes)[1:], *list(sizes)[:1]]):
            yield one.of_sizes(_drawn(allowed, {name: sizes[name] for name in turned}, _LONG))


def other_size(subject: Subject, one: Noted) -> Iterator[Sequence[Mapping[str, int]]]:
    """Of each size for itself, others, the largest first."""
    for number, (name, size) in enumerate(one.sizes):
        others = (2 * size, _COUNTS[number % len(_COUNTS)]) if size <= _FEW else (_LONG[number % len(_LONG)], _SHORT[0])
        yield [{name: other} for other in (*others, *subject.sizes.get(name, ())) if other != size]


def _drawn(allowed: Mapping[str, Sequence[int]], sizes: Mapping[str, int], large: Sequence[int]) -> dict[str, int]:
    """A size for each that no other has, one of those that are allowed where it is said which are."""
    found: dict[str, int] = {}
    for name, size in sizes.items():
        wanted = allowed.get(name) or (_COUNTS if size <= _FEW else large)
        found[name] = next((other for other in wanted if other not in found.values()), wanted[-1])
    return found


def longer(one: Noted, tile: int) -> Iterator[tuple[Noted, Noted]]:
    """One size at a time of two tiles and a half, the others as small as they may be, or else as they are."""
    several = 5 * tile // 2 + 3
    for name, size in one.sizes:
        if _FEW < size <= 2 * tile:
            least = {other: min(known, _SHORT[2]) for other, known in one.sizes if other != name}
            yield one.of_sizes({**least, name: several}), one.of_sizes({name: several})


def optional(subject: Subject, one: Noted) -> Iterator[tuple[str, Sequence[Noted]]]:
    """For each parameter that is left out, by its name, calls in which it is given: the likeliest first."""
    for parameter in passed(one.applied(subject)):
        if parameter.value is None:
            yield parameter.name, [_with(one, change) for change in _given(subject, one, parameter)]


def _with(one: Noted, change: Change) -> Noted:
    """Sequences of unequal lengths lie one after the other in the first of a batch."""
    if change.dtype == "offsets":
        first = next(iter(dict(one.sizes)))
        one = one.of_sizes({first: 1}) if change.dims[1] != first else one
    return one.changed(change)


def _given(subject: Subject, one: Noted, parameter: Passed) -> Iterator[Change]:
    """What an optional parameter may be given, by what its annotation says, else a tensor first."""
    hint, name = parameter.annotation.lower(), parameter.name
    if "bool" in hint:
        yield from (Change(name, text) for text in ("True", "False"))
    if "tensor" in hint or not hint:
        yield from _tensors(subject, one, parameter)
    if "float" in hint or not hint:
        yield Change(name, "0.5")
    if "int" in hint:
        yield from (Change(name, text) for text in ("16", "2", "64"))
    if "str" in hint:
        yield from _texts(subject, name)


def _tensors(subject: Subject, one: Noted, parameter: Passed) -> Iterator[Change]:
    """Tensors of the dimensions that the others have, the smallest first: one that is too large would hide faults."""
    name, given = parameter.name, subject.tensors
    if not given:
        return
    first = _text(given[0].dims)
    if conventions.is_offsets(name):
        yield from (Change(name, dims=("3", total), dtype="offsets") for total in reversed(first[:2]))
        return
    is_whole = conventions.is_index(name) or conventions.is_lengths(name) or "Long" in parameter.annotation
    dtype = "bool" if conventions.is_mask(name) else conventions.index_dtype(name) if is_whole else ""
    for shape in sorted(dict.fromkeys(filter(None, _shapes(subject))), key=partial(_elements, one.case)):
        yield Change(name, dims=shape, dtype=dtype)


def _elements(case: Case, shape: Sequence[str]) -> int:
    return math.prod(case[int(dim) if dim.isdigit() else dim] for dim in shape)


def _shapes(subject: Subject) -> Iterator[tuple[str, ...]]:
    """The dimensions of all but one of them together, and those of each: all, the last, all but the last."""
    given = subject.tensors
    named = _text(tuple(dict.fromkeys(dim for one in given for dim in one.dims)))
    if len(named) > 3:
        yield from (named[:place] + named[place + 1 :] for place in range(1, len(named)))
    for one in given:
        yield from (_text(one.dims), _text(one.dims[-1:]), _text(one.dims[:-1]))
    yield from ((dim,) for dim in named)


def _text(dims: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(str, dims))


def options(subject: Subject, one: Noted) -> Iterator[tuple[str, Sequence[Noted]]]:
    """For each flag, text and number, by the parameter's name, calls in which it is another."""
    for parameter in passed(one.applied(subject)):
        changes: list[Change] = []
        match parameter.value:
            case bool():
                changes = [Change(parameter.name, repr(not parameter.value))]
            case str():
                changes = [
                    change for change in _texts(subject, parameter.name) if change.value != repr(parameter.value)
                ]
            case float():
                changes = [Change(parameter.name, repr(_other(parameter.value)))]
            case int():
                changes = [Change(parameter.name, repr(other)) for other in _integers(parameter.value)]
        if changes:
            yield parameter.name, [one.changed(change) for change in changes]


def _other(number: float) -> float:
    return number * _OTHERS[0] if number else _OTHERS[0]


def _integers(number: int) -> Sequence[int]:
    """Such as no block divides first: what is a block itself refuses that."""
    if number > _FEW:
        return (number // 2 + 3, number // 2, 2 * number)
    return (2, 1) if number in (-1, 0) else (number + 1, 2 * number, number // 2)


def _texts(subject: Subject, parameter: str) -> Iterator[Change]:
    """The texts with which the wrapper's file compares anything."""
    try:
        path = inspect.getsourcefile(inspect.unwrap(subject.function))
    except TypeError:
        path = getattr(inspect.getmodule(subject.function), "__file__", None)
    for word in _words(Path(path))[:_MOST_WORDS] if path else ():
        yield Change(parameter, repr(word))


@lru_cache(maxsize=64)
def _words(path: Path) -> tuple[str, ...]:
    tree = ast.parse(path.read_bytes())
    sides = [
        side for node in ast.walk(tree) if isinstance(node, ast.Compare) for side in (node.left, *node.comparators)
    ]
    constants = [node for side in sides for node in ast.walk(side) if isinstance(node, ast.Constant)]
    return tuple(dict.fromkeys(node.value for node in constants if isinstance(node.value, str) and node.value))


def laid_out(one: Noted) -> Iterator[Noted]:
    """The same tensors, lying otherwise."""
    yield replace(one, layout="transposed")
    yield replace(one, made=GAPS)


def otherwise(subject: Subject, one: Noted) -> Iterator[Noted]:
    """The same sizes with other numbers, with other configs of an autotuner, in other dtypes."""
    yield replace(one, made=SMALL)
    yield from (replace(one, chosen=number) for number in (1, 2, 5))
    yield from (replace(one, dtype=dtype) for dtype in subject.dtypes if dtype != one.dtype)
    yield replace(one, fill=_FILL)
