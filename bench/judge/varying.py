"""Other ways to call a wrapper than the one that is known: other sizes, what is optional, other options, layouts."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.judge.noted import Change, Noted, Passed, passed

if TYPE_CHECKING:
    from tritonaudit.subject.model import Subject

_DISTINCT = (97, 61, 83, 41, 73, 53, 67, 37)
_SHORT = (19, 23, 5, 29, 7, 13, 11, 3)
_LONG = (150, 131, 197, 167, 139, 181, 157, 211)
"""Sizes that differ, of which no block is a divisor: those of a tile and more, of less than one, of several."""
_FEW = 16
"""Counts, such as those of batches and heads, are smaller."""
_COUNTS = (2, 3, 5, 4, 7, 6)
_MOST_WORDS = 4
_OTHERS = (0.5, 2)
_LAYOUTS = ("transposed", "spread")
_FILL = "1000+normal"


def other_sizes(subject: Subject, one: Noted) -> Iterator[Noted]:
    """All sizes at once, then each for itself: such as differ from one another, and that no block divides."""
    sizes = dict(one.sizes)
    for large in (_DISTINCT, _LONG, _SHORT):
        yield one.of_sizes(_drawn(subject, sizes, large))
    for turned in (list(reversed(sizes)), [*list(sizes)[1:], *list(sizes)[:1]]):
        drawn = _drawn(subject, {name: sizes[name] for name in turned}, _DISTINCT)
        yield one.of_sizes(drawn)
    for number, (name, size) in enumerate(sizes.items()):
        others = (2 * size, _COUNTS[number % len(_COUNTS)]) if size <= _FEW else (_LONG[number % len(_LONG)], _SHORT[0])
        for other in _allowed(subject, name) or others:
            if other != size:
                yield one.of_sizes({name: other})


def _drawn(subject: Subject, sizes: Mapping[str, int], large: Sequence[int]) -> dict[str, int]:
    """A size for each that no other has, as far as the subject says which there may be."""
    found: dict[str, int] = {}
    for name, size in sizes.items():
        wanted = _allowed(subject, name) or (_COUNTS if size <= _FEW else large)
        found[name] = next((other for other in wanted if other not in found.values()), wanted[-1])
    return found


def _allowed(subject: Subject, name: str) -> Sequence[int]:
    return tuple(subject.sizes.get(name, ()))


def longer(one: Noted, tile: int) -> Iterator[Noted]:
    """One size at a time that is more than two tiles, the others as small as they may be."""
    for name, size in one.sizes:
        if size > _FEW:
            least = {other: min(known, _SHORT[2]) for other, known in one.sizes if other != name}
            yield one.of_sizes({**least, name: 2 * tile + 3})
            yield one.of_sizes({name: 2 * tile + 3})


def optional(subject: Subject, one: Noted) -> Iterator[tuple[str, Sequence[Noted]]]:
    """For each parameter that is left out, by its name, calls in which it is given: the likeliest first."""
    for parameter in passed(one.applied(subject)):
        if parameter.value is None:
            yield parameter.name, [_with(one, change) for change in _given(subject, parameter)]


def _with(one: Noted, change: Change) -> Noted:
    """Sequences of unequal lengths lie one after the other in the first of a batch."""
    if change.dtype == "offsets":
        first = next(iter(dict(one.sizes)))
        one = one.of_sizes({first: 1}) if change.dims[1] != first else one
    return one.changed(change)


def _given(subject: Subject, parameter: Passed) -> Iterator[Change]:
    """What an optional parameter may be given, by what its annotation says, else a tensor first."""
    hint, name = parameter.annotation.lower(), parameter.name
    if "bool" in hint:
        yield from (Change(name, text) for text in ("True", "False"))
    if "tensor" in hint or not hint:
        yield from _tensors(subject, parameter)
    if "float" in hint or not hint:
        yield Change(name, "0.5")
    if "int" in hint:
        yield from (Change(name, text) for text in ("16", "2", "64"))
    if "str" in hint:
        yield from _texts(subject, name)


def _tensors(subject: Subject, parameter: Passed) -> Iterator[Change]:
    """Tensors of the dimensions that the others have: of one, of the last, of all but one."""
    name, given = parameter.name, subject.tensors
    if not given:
        return
    if any(part in parameter.annotation for part in ("Long", "Int")):
        totals = dict.fromkeys(str(dim) for one in given[:1] for dim in one.dims[:2])
        yield from (Change(name, dims=("3", total), dtype="offsets") for total in reversed(totals))
        yield from (Change(name, dims=_text(one.dims[:1]), dtype="int64") for one in given[:1])
        return
    named = _text(tuple(dict.fromkeys(dim for one in given for dim in one.dims)))
    shapes = [_text(one.dims) for one in given]
    shapes += [named[:place] + named[place + 1 :] for place in range(len(named)) if len(named) > 3]
    shapes += [_text(one.dims[-1:]) for one in given] + [_text(one.dims[:-1]) for one in given if len(one.dims) > 1]
    shapes += [(dim,) for dim in named]
    for shape in dict.fromkeys(shapes):
        if shape:
            yield Change(name, dims=shape)
    first = _text(given[0].dims)
    yield Change(name, dims=first, dtype="bool")
    yield from (Change(name, dims=("3", total), dtype="offsets") for total in reversed(first[:2]))


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
    return (2, 1) if number in (-1, 0) else (2 * number, number // 2) if number > 1 else (2, 0)


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


def laid_out(subject: Subject, one: Noted) -> Iterator[Noted]:
    """The same tensors, lying otherwise; other configs of an autotuner; other dtypes; numbers that are large."""
    for layout in _LAYOUTS:
        yield replace(one, layout=layout)


def otherwise(subject: Subject, one: Noted) -> Iterator[Noted]:
    """The same sizes with other configs of an autotuner, in other dtypes, with large numbers."""
    yield from (replace(one, chosen=number) for number in (1, 2, 5))
    yield from (replace(one, dtype=dtype) for dtype in subject.dtypes if dtype != one.dtype)
    yield replace(one, fill=_FILL)
