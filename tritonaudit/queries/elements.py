"""Does a launch touch all elements of its tensors?

A launch is tried at sizes that take several tiles, as its host code makes it; rows follow each other in memory.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod

from tritonaudit.domains.affine import GIVEN, ONE, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.host.arithmetic import QUOTIENT, ROUNDED_UP, TooLarge
from tritonaudit.host.host import LaunchSite
from tritonaudit.queries.answer import Refuted, Unknown
from tritonaudit.queries.footprints import Footprint, Layout, Numbers
from tritonaudit.queries.launched import argument_node, is_only_launched
from tritonaudit.queries.memory import WITHOUT_CONTENTS, Memory, memory_for
from tritonaudit.queries.points import NotKnown, loops_in
from tritonaudit.queries.sizes import Put, as_passed, chosen_configs, defaults_of, inputs_of, without_strides
from tritonaudit.source.nodes import Nodes

_MOST_ELEMENTS, _MOST_TRIED, _MOST_TRIALS, _MOST_SITES = 40_000, 6, 2, 4
_FEW = (4, 8, 2, 16)
_MADE_HERE = frozenset(
    f"{before}{name}{after}"
    for name in ("empty", "zeros", "ones", "full", "rand", "randn", "randint")
    for before in ("", "new_")
    for after in ("", "_like")
)


@dataclass(frozen=True, eq=False)
class Untouched:
    """No access of the launch is at an element whose index along `axis` is `index`."""

    parameter: str
    accesses: tuple[Access, ...]
    site: LaunchSite
    tensor: str
    layout: Layout
    axis: int
    index: int
    grid: tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class _Trial:
    """A launch in numbers: what was put in, and what came of it for the tensor that is asked about."""

    sizes: Mapping[str, int]
    launch: Numbers
    layout: Layout


@dataclass(frozen=True)
class _Tiles:
    """A size is split in tiles of this width, or has room in one."""

    width: int
    are_several: bool


def untouched(flow: KernelFlow) -> Iterator[Refuted[Untouched]]:
    """The tensors of which a part is in no tile: inputs, and outputs that nothing else writes to."""
    for launches in _asked(flow):
        found = next((one for one in (asked.untouched() for asked in launches) if one is not None), None)
        if isinstance(found, Refuted):
            yield found


def _asked(flow: KernelFlow) -> Iterator[list[_Asked]]:
    """Each parameter that points to a tensor, in each launch that is known whole."""
    accesses: dict[str, list[Access]] = {}
    for access in flow.accesses:
        if access.pointer.origin is not None:
            accesses.setdefault(access.pointer.origin.name, []).append(access)
    lost = any(access.pointer.origin is None and access.pointer.block is None for access in flow.accesses)
    blocks = {access.pointer.block.parameter for access in flow.accesses if access.pointer.block is not None}
    for parameter, its in accesses.items():
        launches = []
        for site in flow.launches.sites[:_MOST_SITES]:
            memory = memory_for(site, parameter)
            if memory is not None and site.is_whole:
                is_all = not lost and parameter not in blocks
                launches.append(_Asked(flow, site, parameter, its, memory, is_all=is_all))
        yield launches


class _Asked:
    """The questions of one parameter and launch."""

    def __init__(
        self,
        flow: KernelFlow,
        site: LaunchSite,
        parameter: str,
        accesses: Sequence[Access],
        memory: Memory,
        *,
        is_all: bool,
    ) -> None:
        self._flow, self._site, self._parameter, self._memory = flow, site, parameter, memory
        self._accesses, self._is_all = accesses, is_all

    # -- questions -----------------------------------------------------------------------------------------------

    def untouched(self) -> Refuted[Untouched] | Unknown | None:
        """An index along an axis at which nothing is touched; None where nothing could be tried."""
        is_output = self._memory.made in WITHOUT_CONTENTS
        accesses = [access for access in self._accesses if not is_output or access.kind == "store"]
        kinds = {access.kind for access in self._accesses}
        is_asked = kinds <= {"load", "store"} and (
            is_only_launched(self._site, self._parameter) if is_output else self._is_input(kinds)
        )
        if not self._is_all or not accesses or not is_asked:
            return None
        held: Unknown | None = None
        try:
            footprints = [Footprint.of_access(access, self._index(access), exact=False) for access in accesses]
            for trial in islice(self._trials(accesses), _MOST_TRIALS):
                touched: set[int] = set()
                for footprint in footprints:
                    for _, places in footprint.programs(trial.launch):
                        touched |= places
                found = _missing(trial.layout, touched)
                if found is not None:
                    name, own, grid = self._memory.name, tuple(accesses), trial.launch.grid
                    shown = Untouched(self._parameter, own, self._site, name, trial.layout, *found, grid)
                    return Refuted(trial.sizes, shown)
                held = Unknown("nothing is left out at the sizes that were tried", held=True)
        except (NotKnown, TooLarge):
            pass
        return held

    def _is_input(self, kinds: set[str]) -> bool:
        """Whether it comes from elsewhere, and the host code reads no elements of it by itself."""
        passed = argument_node(self._site, self._parameter)
        if not isinstance(passed, ast.Name) or "load" not in kinds or self._memory.made in _MADE_HERE:
            return False
        indexed = [node.value for node in self._nodes.of(ast.Subscript)]
        return not any(isinstance(node, ast.Name) and node.id == passed.id for node in indexed)

    @property
    def _nodes(self) -> Nodes:
        """Those of the function that launches."""
        return self._site.module.nodes(self._site.made.calls[-1].node)

    def _index(self, access: Access) -> Affine:
        origin, address = access.pointer.origin, access.pointer.affine
        if address is None or origin is None or not self._flow.whiles.isdisjoint(access.loops):
            raise NotKnown("the address")
        return address - Affine.of(origin)

    # -- trials --------------------------------------------------------------------------------------------------

    def _trials(self, accesses: Sequence[Access]) -> Iterator[_Trial]:
        """Launches with sizes chosen from which all that the accesses need follows. Raises NotKnown."""
        parameters = sorted(_parameters(accesses))
        needed = [self._site.argument(name) for name in parameters] + [self._site.axis(axis) for axis in range(3)]
        known = [value for value in needed if value is not None]
        if len(known) < len(needed):
            raise NotKnown("what the launch passes")
        facts, arithmetic = self._site.facts(), self._site.arithmetic
        for put in chosen_configs(self._site, [*self._memory.sizes, *known])[:1]:
            of_launch = without_strides(inputs_of(facts.normal(arithmetic.put_in(value, put.get)) for value in known))
            fixed = defaults_of(self._site, of_launch)
            of_launch -= fixed.keys()
            memory = self._read_as(of_launch)
            owned = inputs_of(facts.normal(arithmetic.put_in(size, put.get)) for size in memory.sizes) - fixed.keys()
            asked = of_launch | owned
            if not memory.sizes:
                raise NotKnown("how many elements the tensor has")
            if any(one.kind is not AtomKind.PARAM for one in asked):
                raise NotKnown("what the sizes follow from")
            if of_launch != owned:
                raise NotKnown("how the sizes belong together")
            widths = self._widths(accesses, put)
            for numbers in islice(_chosen(asked, widths), _MOST_TRIED):
                named = {atom.name: size for atom, size in facts.with_equals({**numbers, **fixed}).items()}
                trial = self._tried(memory, named, put, parameters)
                if trial is not None:
                    yield trial

    def _read_as(self, of_launch: set[Atom]) -> Memory:
        """The tensor; as so many elements, where the host code counts them; without sizes, where it says nothing."""
        memory = self._memory
        if memory.is_sure and memory.sizes:
            return memory
        is_flat = not memory.sizes and of_launch == inputs_of([memory.elements])
        sizes = (memory.elements,) if is_flat else ()
        return replace(memory, sizes=sizes, strides=(ONE,) if sizes else ())

    def _tried(self, memory: Memory, named: dict[str, int], put: Put, parameters: Sequence[str]) -> _Trial | None:
        sizes = {**named, **dict(self._strides(named, put))}
        launched = self._flow.launches.host.replay(self._site, sizes)
        if not isinstance(launched, LaunchSite):
            return None
        given = {name: self._number(launched.argument(name), sizes, put) for name in parameters}
        grid = [self._number(launched.axis(axis), sizes, put) for axis in range(3)]
        layout = self._layout(memory, sizes, put)
        is_small = 0 < prod(layout.sizes) <= _MOST_ELEMENTS
        return _Trial(named, Numbers(given, (grid[0], grid[1], grid[2])), layout) if is_small else None

    def _layout(self, memory: Memory, sizes: Mapping[str, int], put: Put) -> Layout:
        dims = tuple(self._number(size, sizes, put) for size in memory.sizes)
        if memory.strides is not None:
            return Layout(dims, tuple(self._number(stride, sizes, put) for stride in memory.strides))
        return Layout(dims, tuple(sizes[f"{memory.name}.stride({index})"] for index in range(len(dims))))

    def _strides(self, named: Mapping[str, int], put: Put) -> Iterator[tuple[str, int]]:
        """Of all tensors that come in: rows one behind the other."""
        for passed in self._site.arguments:
            memory = memory_for(self._site, passed)
            if memory is None or not memory.is_free or not memory.sizes:
                continue
            stride = 1
            sizes = [self._number(size, named, put, 1) for size in memory.sizes]
            for index in reversed(range(len(sizes))):
                yield f"{memory.name}.stride({index})", stride
                stride *= max(sizes[index], 1)

    def _number(self, value: Affine | None, sizes: Mapping[str, int], put: Put, default: int | None = None) -> int:
        """Raises NotKnown."""
        if value is None:
            raise NotKnown("a number that the launch passes")
        known = {atom: Affine.constant(sizes[atom.name]) for atom in inputs_of([value]) if atom.name in sizes}
        number = self._site.arithmetic.put_in(value, {**put, **known}.get).value
        if number is None and default is None:
            raise NotKnown(f"`{value}`")
        return default or 0 if number is None else number

    def _widths(self, accesses: Sequence[Access], put: Put) -> dict[Atom, _Tiles]:
        """The tiles of each size: lanes beside it in a condition, steps of a loop up to it, the grid."""
        found: dict[Atom, _Tiles] = {}

        def note(sized: set[Atom], width: int | None, *, are_several: bool) -> None:
            for atom in sized if width is not None else ():
                known = found.get(atom, _Tiles(1, False))
                found[atom] = _Tiles(max(known.width, width or 1), known.are_several or are_several)

        for access in accesses:
            gaps = [one.gap for one in access.comparisons]
            for gap in gaps:
                atoms = gap.atoms_inside()
                are_several = any(atom.kind in (AtomKind.PID, AtomKind.LOOP) for atom in atoms)
                for atom in atoms:
                    if atom.size is not None:
                        note(self._bound_to(gap), self._of_launch(atom.size, put), are_several=are_several)
            for loop in loops_in([access.pointer.affine or Affine.constant(0), *gaps]):
                if loop.stop is not None and loop.step is not None:
                    note(self._bound_to(loop.stop), self._of_launch(loop.step, put), are_several=True)
        for axis in range(3):
            for atom in (self._site.axis(axis) or Affine.constant(0)).atoms_inside():
                if atom.name in (QUOTIENT, ROUNDED_UP) and len(atom.inner) == 2:
                    step = self._site.arithmetic.put_in(atom.inner[1], put.get).value
                    note(inputs_of([atom.inner[0]]), step, are_several=True)
        return found

    def _of_launch(self, value: Affine, put: Put) -> int | None:
        return self._site.arithmetic.put_in(as_passed(self._site, value), put.get).value

    def _bound_to(self, bound: Affine) -> set[Atom]:
        names = [atom.name for atom in bound.atoms_inside() if atom.kind in GIVEN]
        passed = [self._site.argument(name) for name in names]
        return without_strides(inputs_of(self._site.facts().normal(one) for one in passed if one is not None))


def _parameters(accesses: Sequence[Access]) -> set[str]:
    """The parameters of the kernel whose numbers decide where the accesses go."""
    values = [value for access in accesses for value in (*_limits(access), *_places(access))]
    return _given({atom for value in values for atom in value.atoms_inside()} | _ends(values))


def _limits(access: Access) -> Iterator[Affine]:
    """What is compared on the way to an access, and in its mask."""
    yield from (one.gap for one in access.comparisons)
    yield from (gap for guard in access.path for gap in guard.affines)
    tests = (guard.test.affine for guard in access.path if guard.test is not None)
    yield from (one for one in tests if one is not None)


def _places(access: Access) -> Iterator[Affine]:
    if access.pointer.affine is not None and access.pointer.origin is not None:
        yield access.pointer.affine - Affine.of(access.pointer.origin)


def _ends(values: Sequence[Affine]) -> set[Atom]:
    """What the loops and the tiles in the values go up to."""
    atoms: set[Atom] = set()
    for loop in loops_in(values):
        for bound in (loop.start, loop.stop, loop.step):
            atoms |= bound.atoms_inside() if bound is not None else set()
    for atom in {*atoms, *(atom for value in values for atom in value.atoms_inside())}:
        for part in (atom.size, atom.start):
            atoms |= part.atoms_inside() if part is not None else set()
    return atoms


def _given(atoms: set[Atom]) -> set[str]:
    return {atom.name for atom in atoms if atom.kind in GIVEN}


def _chosen(atoms: set[Atom], widths: Mapping[Atom, _Tiles]) -> Iterator[dict[Atom, int]]:
    """Whole tiles, for what is over is a matter of masks."""
    ordered = sorted(atoms, key=lambda atom: atom.id)
    whole = {atom: _FEW[place % len(_FEW)] for place, atom in enumerate(ordered)}
    whole.update({atom: widths[atom].width for atom in ordered if atom in widths})
    split = [atom for atom in ordered if atom in widths and widths[atom].are_several]
    for counts in (range(2, len(split) + 2), range(len(split) + 1, 1, -1)):
        yield {**whole, **{atom: count * widths[atom].width for atom, count in zip(split, counts, strict=True)}}
    yield {**whole, **{atom: 2 * widths[atom].width for atom in split}}
    yield whole


def _missing(layout: Layout, touched: set[int]) -> tuple[int, int] | None:
    """An axis and the first index along it at which nothing was touched; None where nothing was, or all slices are."""
    places = layout.places()
    seen: list[set[int]] = [set() for _ in layout.sizes]
    for place in touched:
        for axis, index in enumerate(places.get(place, ())):
            seen[axis].add(index)
    if not any(seen):
        return None
    for axis, size in enumerate(layout.sizes):
        absent = [index for index in range(size) if index not in seen[axis]]
        if absent:
            return axis, absent[0]
    return None
