"""The cases that an audit tries a subject on, in their order. Imports neither torch nor triton."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, zip_longest
from types import MappingProxyType

from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.subject.size_kind import size_kind
from tritonaudit.suites.axes import QUICK, Axes, Axis, AxisValue, LeftOut, Value, axes_of, is_huge, shrunk
from tritonaudit.suites.fresh import fresh_cases, fresh_seeds
from tritonaudit.suites.given_sizes import MOST_EVER, MOST_EVER_ON_ENGINE, MOST_FIRST, MOST_FIRST_ON_ENGINE
from tritonaudit.suites.limits import can_be_made

SEEDS = 5
"""How often a subject is tried of which all cases are the same."""

FRESH = 12
"""Cases that nobody can foresee."""
_MOST_AS_GIVEN = {False: (MOST_FIRST, MOST_EVER), True: (MOST_FIRST_ON_ENGINE, MOST_EVER_ON_ENGINE)}


@dataclass(frozen=True)
class Plan:
    """The cases in the order in which they are to run, the values for whose sake they are, and what they leave out."""

    cases: tuple[Case, ...]
    values: tuple[AxisValue, ...]
    left_out: tuple[LeftOut, ...]

    def uncovered(self, cases: Iterable[Case]) -> tuple[AxisValue, ...]:
        """The values that an audit has not tried which came no further than these cases."""
        tried = {value for case in cases for value in values_of(case)}
        return tuple(value for value in self.values if value not in tried)


def audit_cases(
    subject: Subject,
    blocks: Sequence[int] = (),
    later: Sequence[int] = (),
    thresholds: Sequence[int] = (),
    *,
    launches: int = 0,
    on_engine: bool = False,
    seed: int = 0,
) -> Plan:
    """The cases for the correctness of a subject whose launches, so many in a call, used blocks of these sizes.

    Those of `later` came with other than ordinary sizes: sizes next to them are tried alone, and so are those next to
    the `thresholds`, with which its code compares. What runs `on_engine`
    has smaller tensors before those given where these take long.

    First an ordinary case of each dtype, and one of odd sizes: beside an ordinary one, no size makes a number of
    elements that no block divides. Then each value of each axis with ordinary ones of the others and the first dtype
    that can hold it, so that a failure has one cause: the axes take turns, huge sizes are last. Then every two values
    of two axes, those of ordinary numbers first, the most new ones first. A size that leaves no room for the others'
    ordinary sizes has smaller ones beside it, and two values meet only where there is room for both. Empty tensors,
    sizes next to the smaller blocks and huge sizes of matrix products are tried alone; huge tensors have no special
    fills. Where a function gives the inputs they come first as they are given, unless they are huge; sizes as given are
    in no case's `sizes`. By the `seed` come some that nobody can foresee. Inputs that never differ are made of several
    seeds.
    """
    axes = axes_of(subject, blocks, later, thresholds, launches)
    rows = _alone(subject, axes)
    left_out = list(axes.left_out)
    if not _always_the_same(subject, rows):
        left_out += _as_given(subject, axes, on_engine=on_engine)[2]
    cases = list({case.label: case for case in _in_order(subject, axes, rows, on_engine=on_engine, seed=seed)}.values())
    had = {value for case in cases for value in values_of(case)}
    values = [
        AxisValue(axis.name, value) for axis in axes.all for value in axis.values if axes.given.get(axis.name) != value
    ]
    never = [LeftOut(value, "the tensors cannot be made with it") for value in values if value not in had]
    return Plan(tuple(cases), tuple(value for value in values if value in had), (*left_out, *never))


def cases_in_order(subject: Subject, blocks: Sequence[int] = (), *, on_engine: bool = False) -> Iterator[Case]:
    """The cases of `audit_cases` as they are asked for: to make all takes longer than to call one. Some come twice."""
    axes = axes_of(subject, blocks)
    return _in_order(subject, axes, _alone(subject, axes), on_engine=on_engine, seed=0)


def _in_order(subject: Subject, axes: Axes, rows: Sequence[_Row], *, on_engine: bool, seed: int) -> Iterator[Case]:
    singles = [_case(axes, row) for row in rows]
    if _always_the_same(subject, rows):
        yield from singles
        yield from islice(fresh_seeds(singles[0], seed), SEEDS - 1)
        return
    first, after, _ = _as_given(subject, axes, on_engine=on_engine)
    yield from (*first, *singles, *after)
    yield from (_case(axes, row) for row in _pairs(subject, axes, rows))
    yield from islice(fresh_cases(subject, axes, (*first, *singles)[0], seed), FRESH)


def _alone(subject: Subject, axes: Axes) -> Sequence[_Row]:
    """Each value of each axis with ordinary ones of the others."""
    return list(dict.fromkeys(row for row in _one_at_a_time(axes) if _is_case(subject, axes, row)))


def _always_the_same(subject: Subject, rows: Sequence[_Row]) -> bool:
    """Whether it has inputs, which differ in nothing but their numbers."""
    return len(rows) == 1 and bool(callable(subject.inputs) or subject.tensors)


def _as_given(
    subject: Subject, axes: Axes, *, on_engine: bool
) -> tuple[Sequence[Case], Sequence[Case], Sequence[LeftOut]]:
    """Where a function gives the sizes, what has these first of all, what has them later, and what has them never."""
    if (given := subject.given) is None or not axes.given:
        return (), (), ()
    if why := why_not_as_given(subject, on_engine=on_engine):
        return (), (), (LeftOut(AxisValue("sizes", "as given"), why),)
    plain = Case({}, subject.dtypes[0])
    most_first, _ = _MOST_AS_GIVEN[on_engine]
    if given.elements() > most_first:
        return (), (plain,), ()
    fills, layouts = (axis.values[1:2] for axis in (axes.fill, axes.layout))
    unusual = [replace(plain, fill=str(fill)) for fill in fills if axes.holds(plain.dtype, fill)]
    unusual += [replace(plain, layout=Layout(layout)) for layout in layouts]
    return (plain,), unusual, ()


def why_not_as_given(subject: Subject, *, on_engine: bool) -> str:
    """Why no case has the inputs as given; nothing where one may."""
    _, most_ever = _MOST_AS_GIVEN[on_engine]
    elements = 0 if subject.given is None else subject.given.elements()
    return f"{elements:,} elements are too many to compare" if elements > most_ever else ""


def simpler(subject: Subject, case: Case, too_small: Mapping[str, int] = MappingProxyType({})) -> Iterator[Case]:
    """Cases simpler than this one in one thing, the greatest simplification of each thing first.

    Whoever seeks the simplest case that fails goes on from the first of these which still does. It lies contiguously,
    holds normal numbers, or those of the usual seed, has another gradient passed, or one of its sizes is smaller,
    beginning with the largest. Sizes up to those that are known to be `too_small` are left out.
    """
    if case.layout is not Layout.CONTIGUOUS:
        yield replace(case, layout=Layout.CONTIGUOUS)
    if case.fill != "normal":
        yield replace(case, fill="normal")
    if case.seed:
        yield replace(case, seed=0)
    if case.gradient is not Layout.CONTIGUOUS:
        yield replace(case, gradient=Layout.CONTIGUOUS)
    if case.far:
        yield replace(case, far="")
    for name, size in sorted(case.sizes.items(), key=lambda item: -item[1]):
        for less in _smaller_sizes(subject, name, size, too_small.get(name, 0)):
            sizes = {**case.sizes, name: less}
            if can_be_made(subject, sizes):
                yield replace(case, sizes=sizes)


def _smaller_sizes(subject: Subject, name: str, size: int, too_small: int) -> Iterator[int]:
    """The least size, then ones ever nearer to this, so that a search along them halves what is left."""
    if name in subject.sizes:
        yield from sorted({named for named in subject.sizes[name] if too_small < named < size})
        return
    gap = size - max(size_kind(subject, name).least, too_small + 1)
    while gap > 0:
        yield size - gap
        gap //= 2


def values_of(case: Case) -> Iterator[AxisValue]:
    """The value that a case has of each axis."""
    yield from (AxisValue(name, size) for name, size in case.sizes.items())
    yield AxisValue("dtype", case.dtype)
    yield AxisValue("layout", case.layout.value)
    yield AxisValue("fill", case.fill)


_Row = tuple[Value, ...]
"""A value of each axis, in the order of `Axes.all`."""


def _case(axes: Axes, row: _Row, seed: int = 0) -> Case:
    *_, dtype, layout, fill = row
    sizes = {name: size for name, size in _sizes(axes, row).items() if axes.given.get(name) != size}
    return Case(sizes, str(dtype), Layout(layout), str(fill), seed)


def _sizes(axes: Axes, row: Sequence[Value]) -> dict[str, int]:
    return {axis.name: int(size) for axis, size in zip(axes.sizes, row, strict=False)}


def _is_case(subject: Subject, axes: Axes, row: _Row) -> bool:
    sizes = _sizes(axes, row)
    return axes.limits.allow(sizes) and can_be_made(subject, sizes) and axes.holds(row[-3], row[-1])


# -- one unusual value at a time -----------------------------------------------------------------------------------


def _one_at_a_time(axes: Axes) -> Iterator[_Row]:
    for dtype in axes.dtype.values:
        yield _ordinary_beside(axes, {axes.dtype: dtype})
    yield _ordinary_beside(axes, {axis: axis.odd for axis in axes.sizes if axis.odd is not None})
    in_order = (axes.fill, axes.layout, *axes.sizes) if axes.given else (*axes.sizes, axes.layout, axes.fill)
    unusual = [[(axis, value) for value in axis.values[1:]] for axis in in_order]
    in_turn = [chosen for together in zip_longest(*unusual) for chosen in together if chosen]
    for is_late in (False, True):
        yield from (_with_one(axes, axis, value) for axis, value in in_turn if is_huge(value) == is_late)


def case_with(subject: Subject, axes: Axes, chosen: Mapping[Axis, Value]) -> Case | None:
    """The case with these values and ordinary ones of the other axes; None where it cannot be made."""
    row = _ordinary_beside(axes, chosen)
    return _case(axes, row) if _is_case(subject, axes, row) else None


def _with_one(axes: Axes, axis: Axis, value: Value) -> _Row:
    if axis is not axes.fill:
        return _ordinary_beside(axes, {axis: value})
    return _ordinary_beside(axes, {axes.dtype: axes.holder(value), axes.fill: value})


def _ordinary_beside(axes: Axes, chosen: Mapping[Axis, Value]) -> _Row:
    row = tuple(chosen.get(axis, axis.ordinary) for axis in axes.all)
    smaller = {axis.name: axis.smaller for axis in axes.sizes}
    keep = [axis.name for axis in chosen if axis in axes.sizes]
    is_about_a_size = any(value != axis.ordinary for axis, value in chosen.items() if axis in axes.sizes)
    share = 1 if any(map(is_huge, chosen.values())) else axes.share_beside_a_size if is_about_a_size else QUICK
    sizes = shrunk(_sizes(axes, row), smaller, axes.limits, keep=keep, share=share)
    return (*sizes.values(), *row[len(sizes) :])


# -- every two values ----------------------------------------------------------------------------------------------

_Place = tuple[int, Value]
"""A value of the axis with this number."""

_TRIED = 4  # rows, of which the best is taken: more make the set hardly smaller


def _pairs(subject: Subject, axes: Axes, rows: Sequence[_Row]) -> Iterator[_Row]:
    """Rows that have together every two values which go together, and which none of these rows has.

    Those of ordinary numbers are first: zeros, infinity and NaN hide most of what sizes, dtypes and layouts do.
    """
    ordinary = replace(axes, fill=replace(axes.fill, values=axes.fill.values[:1]))
    first = list(_completing(subject, ordinary, [row for row in rows if row[-1] == axes.fill.ordinary]))
    yield from first
    yield from _completing(subject, axes, [*rows, *first])


def _completing(subject: Subject, axes: Axes, rows: Sequence[_Row]) -> Iterator[_Row]:
    """Rows that have the pairs of these axes' values which none of the given rows has."""
    wanted = _Wanted(axes, rows)
    while starts := wanted.starts(_TRIED):
        completed = {start: row for start in starts if (row := _completed(subject, axes, wanted, start)) is not None}
        for start in starts:
            if start not in completed:
                wanted.drop(start)
        if completed:
            best = max(completed.values(), key=wanted.count)
            wanted.drop(tuple(enumerate(best)))
            yield best


class _Wanted:
    """The pairs of values that no row has yet, by the numbers of the axes that they are of."""

    def __init__(self, axes: Axes, rows: Sequence[_Row]) -> None:
        self._times: Counter[tuple[_Place, _Place]] = Counter()
        possible = [{row[number] for row in rows} - axis.alone for number, axis in enumerate(axes.all)]
        self._pairs = {
            (i, j): {
                (one, other): None
                for one in (value for value in first.values if value in possible[i])
                for other in (value for value in second.values if value in possible[j])
                if axes.go_together(first, one, second, other)
            }
            for (i, first), (j, second) in combinations(enumerate(axes.all), 2)
        }
        for row in rows:
            self.drop(tuple(enumerate(row)))

    def starts(self, most: int) -> list[tuple[_Place, _Place]]:
        """The first pair of each of the axes that lack the most."""
        lacking = sorted(
            (axes for axes, pairs in self._pairs.items() if pairs), key=lambda axes: -len(self._pairs[axes])
        )
        first = (((i, j), next(iter(self._pairs[i, j]))) for i, j in lacking[:most])
        return [((i, one), (j, other)) for (i, j), (one, other) in first]

    def new(self, place: _Place, chosen: Mapping[int, Value]) -> int:
        """How many pairs the place adds to what is chosen of a row."""
        number, value = place
        return sum(
            (value, other) in self._pairs[number, axis]
            if number < axis
            else (other, value) in self._pairs[axis, number]
            for axis, other in chosen.items()
        )

    def times(self, place: _Place, chosen: Mapping[int, Value]) -> int:
        """How often rows have the pairs of the place with what is chosen."""
        pairs = ((place, other) if place[0] < other[0] else (other, place) for other in chosen.items())
        return sum(self._times[pair] for pair in pairs)

    def count(self, row: _Row) -> int:
        """How many pairs the row adds."""
        return sum((row[i], row[j]) in pairs for (i, j), pairs in self._pairs.items())

    def drop(self, places: Sequence[_Place]) -> None:
        for (i, one), (j, other) in combinations(places, 2):
            self._pairs[i, j].pop((one, other), None)
            self._times[(i, one), (j, other)] += 1


def _completed(subject: Subject, axes: Axes, wanted: _Wanted, start: Sequence[_Place]) -> _Row | None:
    """The row that begins with these places and has as many new pairs as can be had by one axis after the other.

    Of values that add as many it has those that are seldom beside the others.
    """
    chosen = dict(start)
    if not _go_together(axes, chosen):
        return None
    for number, axis in enumerate(axes.all):
        if number in chosen:
            continue
        values = dict.fromkeys((*(value for value in axis.values if value not in axis.alone), *axis.smaller))
        possible = [value for value in values if _go_together(axes, {**chosen, number: value})]
        if not possible:
            return None
        chosen[number] = max(
            possible, key=lambda value: (wanted.new((number, value), chosen), -wanted.times((number, value), chosen))
        )
    row = tuple(chosen[number] for number in range(len(axes.all)))
    return row if _is_case(subject, axes, row) else None


def _go_together(axes: Axes, chosen: Mapping[int, Value]) -> bool:
    sizes = {axis.name: int(chosen[number]) for number, axis in enumerate(axes.sizes) if number in chosen}
    places = ((axes.all[number], value) for number, value in chosen.items())
    return axes.limits.allow(sizes) and all(axes.go_together(*one, *other) for one, other in combinations(places, 2))
