"""Does every index that a mask bounds come to all that is below its bound?

A launch is tried at sizes that no tile divides, as its host code makes it: the indices that its programs, lanes and
rounds take are counted out, and what none of them takes is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from tritonaudit.domains.affine import GIVEN, ONE, ZERO, Affine, Atom, AtomKind
from tritonaudit.domains.analysis import for_launch
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.host.arithmetic import QUOTIENT, ROUNDED_UP, TooLarge
from tritonaudit.host.host import LaunchSite, Raised
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.covers import is_given
from tritonaudit.queries.footprints import Footprint, Numbers, lane_of_block
from tritonaudit.queries.points import NotKnown, Point
from tritonaudit.queries.sizes import Put, as_passed, chosen_configs, inputs_of
from tritonaudit.queries.unbounded import bounded_index
from tritonaudit.queries.updates import parameter_of

_MOST_SITES, _MOST_TRIED, _MOST_REPLAYED = 2, 12, 3
_TILE, _WIDEST, _USUAL = 16, 1024, (37, 5)
_OTHERS, _TILES = (2, 16), 2
_MOVING = (AtomKind.PID, AtomKind.LOOP)


@dataclass(frozen=True, eq=False)
class Bounded:
    """An index of an access that its mask, or the check of its block pointer, keeps below `bound`."""

    access: Access
    index: Affine
    bound: Affine


@dataclass(frozen=True, eq=False)
class Unvisited:
    """No program, lane or round has an index of the group at `first`, which is below the `bound` of so many.

    It `is_supposed` where the launch follows from sizes that nobody can choose.
    """

    group: Sequence[Bounded]
    site: LaunchSite
    bound: int
    first: int
    grid: tuple[int, int, int]
    is_supposed: bool = False


def unvisited(flow: KernelFlow) -> Iterator[Refuted[Unvisited]]:
    """For each parameter and bound the first launch that leaves indices below it out."""
    seen: set[tuple[str, Affine]] = set()
    for site in islice(flow.launches.sites, _MOST_SITES):
        if not site.is_whole:
            continue
        groups = _groups(for_launch(flow, site))
        bounds = {bound for _, bound in groups}
        answers: dict[tuple[Affine, frozenset[Affine]], Refuted[Unvisited] | None] = {}
        for (parameter, bound), group in groups.items():
            alike = bound, frozenset(one.index for one in group)
            if group and alike not in answers:
                answers[alike] = _asked(flow, site, group, bounds)
            found = answers.get(alike)
            if found is not None and (parameter, bound) not in seen:
                seen.add((parameter, bound))
                yield replace(found, shown=replace(found.shown, group=group))


def _groups(flow: KernelFlow) -> dict[tuple[str, Affine], list[Bounded]]:
    """The indices with one bound into one tensor; none where another access may go where they do not."""
    found: dict[tuple[str, Affine], list[Bounded]] = {}
    accesses: dict[str, list[Access]] = {}
    for access in flow.accesses:
        if (parameter := parameter_of(access)) is not None:
            accesses.setdefault(parameter, []).append(access)
    for parameter, those in accesses.items():
        bounded = [list(_bounded(access)) for access in those]
        for bound in dict.fromkeys(one.bound for some in bounded for one in some):
            its = [[one for one in some if one.bound == bound] for some in bounded]
            group = [one for some in its for one in some]
            found[parameter, bound] = group if all(its) and not any(map(_is_flat, group)) else []
    return found


def _bounded(access: Access) -> Iterator[Bounded]:
    for condition in access.comparisons:
        index = bounded_index(condition)
        bound = condition.gap + index + (ZERO if condition.strict else ONE)
        if index.lanes() and is_given(bound) and bound.value is None:
            yield Bounded(access, index, bound)
    block = access.pointer.block
    if block is not None and access.checked:
        for axis, (size, offset, width) in enumerate(zip(block.shape, block.offsets, block.block, strict=False)):
            if size is not None and offset is not None and width is not None and is_given(size) and size.value is None:
                yield Bounded(access, offset + lane_of_block(axis, width), size)


def _moves(index: Affine) -> bool:
    """Whether programs or rounds go on from tile to tile."""
    return any(atom.kind in _MOVING for atom in index.atoms_inside())


def _is_flat(one: Bounded) -> bool:
    """Whether the index counts the elements of several dimensions, and goes on by whole rows of them."""
    inner = {atom for product in one.bound.terms if len(product) > 1 for atom in product}
    return any(not inner.isdisjoint(product) and _moves(Affine({product: 1})) for product in one.index.terms)


def _asked(
    flow: KernelFlow, site: LaunchSite, group: Sequence[Bounded], bounds: Collection[Affine]
) -> Refuted[Unvisited] | None:
    """None where nothing is left out, or nobody can tell."""
    try:
        return _Asked(flow, site, group, bounds).refuted()
    except (NotKnown, TooLarge):
        return None


class _Asked:
    """The question of one launch and group. Raises NotKnown where it cannot be asked."""

    def __init__(
        self, flow: KernelFlow, site: LaunchSite, group: Sequence[Bounded], bounds: Collection[Affine]
    ) -> None:
        self._flow, self._site, self._group, self._bound = flow, site, group, group[0].bound
        self._footprints = [Footprint(one.index, (), (), exact=False) for one in group]
        needs = {atom for one in self._footprints for atom in one.needs}
        self._names = sorted({atom.name for atom in needs | self._bound.atoms_inside() if atom.kind in GIVEN})
        self._axes = {atom.grid_axis for atom in needs if atom.kind is AtomKind.PID}
        values = [*(site.argument(name) for name in self._names), *(site.axis(axis) for axis in range(3))]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or None in self._axes:
            raise NotKnown("what the launch passes")
        self._put = self._chosen(known)
        self._inputs = self._inputs_of(known)
        self._ends = self._inputs_of([as_passed(site, self._bound)])
        self._moves = all(_moves(one.index) for one in group)
        self._is_cut_off = any(_moves(atom.stop) for atom in needs if atom.stop is not None)
        self._is_one = len({one.index for one in group}) == 1 and () not in group[0].index.terms
        self._check(known, bounds, needs)

    def _chosen(self, values: Sequence[Affine]) -> Put:
        """What a config gives, and a usual tile for what a tuner chooses elsewhere."""
        atoms = {atom for value in values for atom in value.atoms_inside()}
        config = chosen_configs(self._site, values)[0]
        self._unread = {atom for atom in atoms - config.keys() if self._site.key(atom)[:1] == ("config",)}
        return {**dict.fromkeys(self._unread, Affine.constant(_TILE)), **config}

    def _inputs_of(self, values: Iterable[Affine]) -> set[Atom]:
        facts, arithmetic = self._site.facts(), self._site.arithmetic
        return inputs_of(facts.normal(arithmetic.put_in(value, self._put.get)) for value in values)

    def _check(self, known: Sequence[Affine], bounds: Collection[Affine], needs: set[Atom]) -> None:
        """Sizes of which no text says how they belong together show nothing. Raises NotKnown."""
        grid = [self._site.axis(axis) or ONE for axis in range(3)]
        stops = [as_passed(self._site, atom.stop) for atom in needs if atom.stop is not None]
        widths = [as_passed(self._site, part) for atom in needs for part in (atom.size, atom.step) if part is not None]
        used = self._inputs_of(grid[axis] for axis in self._axes if axis is not None)
        extents = used | self._inputs_of([*stops, *widths])
        tiles = self._inputs_of(widths)
        is_counted = self._ends <= extents and (self._moves or not widths or (bool(tiles) and tiles <= self._ends))
        if not (is_counted or self._ends <= self._inputs_of(map(_counted, grid))):
            raise NotKnown("how the sizes belong together")
        inside = [atom for width in widths for atom in width.atoms_inside()]
        counting = {atom for value in (*grid, *stops) for atom in value.atoms_inside()}
        if not self._unread <= counting.intersection(inside):
            raise NotKnown("what a tuner chooses")
        if not all(map(self._is_size, tiles)):
            raise NotKnown("how wide a tile is")
        self._exact = [atom.inner for atom in inside if atom.name == QUOTIENT and atom.inner[1].value is None]
        bounding = self._inputs_of(as_passed(self._site, bound) for bound in bounds)
        self._unseen = used - self._inputs_of(known[: len(self._names)]) - bounding

    def _is_size(self, atom: Atom) -> bool:
        """Whether it is an input, or the size of a tensor, and may be any number."""
        key = self._site.key(atom)
        return atom.kind is AtomKind.PARAM or key[-2:-1] == ("shape",) or key[-3:-2] == ("numel",)

    # -- trials --------------------------------------------------------------------------------------------------

    def refuted(self) -> Refuted[Unvisited] | None:
        """Sizes at which the launch leaves something out; None where it does not at those that were tried."""
        facts, replayed = self._site.facts(), 0
        for sizes in islice(self._tried(), _MOST_TRIED):
            numbers = facts.with_equals(sizes)
            more = facts.with_equals({**sizes, **dict.fromkeys(self._unseen, max(sizes.values(), default=1))})
            if not self._may_be(numbers) or None in (self._left_out(self._site, one) for one in (numbers, more)):
                continue
            named = {atom.name: size for atom, size in numbers.items() if atom.kind is AtomKind.PARAM}
            launched, replayed = self._flow.launches.host.replay(self._site, named), replayed + 1
            if not isinstance(launched, Raised):
                is_sure = isinstance(launched, LaunchSite) and not self._site.doubt and len(named) == len(numbers)
                if not (is_sure or self._moves):
                    continue
                found = self._left_out(launched if isinstance(launched, LaunchSite) else self._site, numbers)
                if found is not None:
                    return Refuted(named, replace(found, is_supposed=not is_sure))
            if replayed == _MOST_REPLAYED:
                break
        return None

    def _tried(self) -> Iterator[dict[Atom, int]]:
        """Sizes that no tile divides, all others being small."""
        values = [*(self._site.argument(name) or ONE for name in self._names), *self._put.values()]
        values += [self._site.axis(axis) or ONE for axis in range(3)]
        values += [part for value in values for atom in value.atoms_inside() for part in atom.inner]
        widths = {value.value for value in values} | {self._number(one, {}) for one in values}
        tiles = sorted((width for width in widths if width is not None and 1 < width <= _WIDEST), reverse=True)
        asked = [size for tile in tiles[:_TILES] for size in (2 * tile + 1, tile + 1)]
        end = min(self._ends, key=lambda atom: atom.id, default=None)
        for other in _OTHERS:
            others = dict.fromkeys(self._inputs, other)
            for size in dict.fromkeys([*asked, *_USUAL]) if end is not None else _USUAL[:1]:
                yield others if end is None else {**others, end: size}

    def _number(self, value: Affine | None, sizes: Mapping[Atom, int]) -> int | None:
        if value is None:
            return None
        known = {atom: Affine.constant(size) for atom, size in sizes.items()}
        return self._site.arithmetic.put_in(value, {**self._put, **known}.get).value

    def _left_out(self, site: LaunchSite, sizes: Mapping[Atom, int]) -> Unvisited | None:
        """The first index that the launch leaves out with these sizes; None where none is, or nobody can tell."""
        given = {name: self._number(site.argument(name), sizes) for name in self._names}
        grid = [self._number(site.axis(axis), sizes) for axis in range(3)]
        numbers = {name: number for name, number in given.items() if number is not None}
        programs = [count for count in grid if count is not None]
        if len(numbers) < len(given) or len(programs) < len(grid):
            return None
        launch = Numbers(numbers, (programs[0], programs[1], programs[2]))
        try:
            end = Point(numbers, (0, 0, 0), launch.grid, {}, {}).number(self._bound)
            taken = {index for one in self._footprints for _, places in one.programs(launch) for index in places}
        except NotKnown:
            return None
        first = _missing(taken, end)
        if first is not None and (self._is_cut_off if first > max(taken) else not self._is_one):
            return None
        return None if first is None else Unvisited(self._group, site, end, first, launch.grid)

    def _may_be(self, sizes: Mapping[Atom, int]) -> bool:
        """Whether sizes that make up a tile by division, as the heads of a group, divide without a rest."""
        for parts in self._exact:
            whole, count = (self._number(part, sizes) for part in parts)
            if whole is None or not count or whole % count:
                return False
        return True


def _counted(axis: Affine) -> Affine:
    """The sizes that an axis of the grid counts the tiles of, added up."""
    total = ZERO
    for atom in axis.atoms():
        divided = atom.name in (QUOTIENT, ROUNDED_UP) and len(atom.inner) == 2
        total = total + (atom.inner[0] if divided else Affine.of(atom))
    return total


def _missing(taken: set[int], end: int) -> int | None:
    """The first index that is further behind the one before than they are from each other, up to the end."""
    ordered = sorted(index for index in taken if 0 <= index < end)
    if len(ordered) < 2:
        return None
    step = min(after - before for before, after in pairwise(ordered))
    return next((before + step for before, after in pairwise([*ordered, end]) if after - before > step), None)
