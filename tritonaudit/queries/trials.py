"""A launch in numbers, for questions about the elements of one tensor: sizes of several whole tiles, and rows apart.

What no text relates to the sizes of the tensor must not matter: a question is put with all such sizes as harmless as
they can be, and once more with all sizes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TypeVar

from tritonaudit.domains.affine import GIVEN, ONE, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, Guard, KernelFlow, Path
from tritonaudit.domains.value import BlockPointer, Less
from tritonaudit.host.arithmetic import QUOTIENT, ROUNDED_UP, TooLarge
from tritonaudit.host.host import LaunchSite, Raised
from tritonaudit.host.values import Key, Symbol, Tensor
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.footprints import Footprint, Layout, Numbers, lane_of_block
from tritonaudit.queries.memory import Memory, key_for, memory_for
from tritonaudit.queries.points import NotKnown, loops_in
from tritonaudit.queries.sizes import as_passed, chosen_configs, defaults_of, inputs_of

_TILE, _FEW, _COUNTS, _LARGE, _APART = 16, 4, (2, 4, 8), 1 << 14, 3
Sizes = Mapping[Atom, int]
Strides = dict[tuple[Key, int], int]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Place:
    """Where an access goes: its index, which is its address without the pointer, and what limits it."""

    access: Access
    index: Affine
    gaps: tuple[Affine, ...]
    footprint: Footprint


def place_of(access: Access, parameter: str) -> Place:
    """Raises NotKnown where the address or the mask is not known."""
    block, origin, address = access.pointer.block, access.pointer.origin, access.pointer.affine
    if block is not None:
        return _of_block(access, parameter, block)
    if address is None or origin is None:
        raise NotKnown("the address")
    index = address - Affine.of(origin)
    gaps = tuple(one.gap for one in access.comparisons)
    return Place(access, index, gaps, Footprint.of_access(access, index, exact=True))


def _of_block(access: Access, parameter: str, block: BlockPointer) -> Place:
    base = block.base
    pointer = None if base is None else next((atom for atom in base.atoms() if atom.name == parameter), None)
    if base is None or pointer is None or len(block.strides) != len(block.offsets):
        raise NotKnown("the block pointer")
    index, limits = base - Affine.of(pointer), []
    parts = zip(block.shape, block.strides, block.offsets, block.block, strict=False)
    for axis, (size, stride, offset, width) in enumerate(parts):
        if size is None or stride is None or offset is None or width is None:
            raise NotKnown("the block pointer")
        at = offset + lane_of_block(axis, width)
        index = index + at * stride
        if access.checked or block.descriptor:
            limits.append(Less(size - at, True))
    return Place(access, index, tuple(one.gap for one in limits), Footprint(index, limits, access.path, exact=True))


class Trials:
    """Launches of one site, to ask about one parameter's tensor. Raises NotKnown where it cannot be asked."""

    def __init__(self, flow: KernelFlow, site: LaunchSite, parameter: str, place: Place) -> None:
        self._flow, self._site, self._parameter, self._place = flow, site, parameter, place
        needs = {*place.footprint.needs, *(atom for guard in place.access.path for atom in _asked(guard))}
        self._names = sorted({atom.name for atom in needs if atom.kind in GIVEN})
        numbers = {atom.grid_axis for atom in needs if atom.kind is AtomKind.PID}
        self._axes = sorted(axis for axis in numbers if axis is not None)
        grid = [one for axis in range(3) if (one := site.axis(axis)) is not None]
        values = [*(site.argument(name) for name in self._names), *(site.axis(axis) for axis in self._axes)]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or None in numbers:
            raise NotKnown("what the launch passes")
        config = chosen_configs(site, known)[0]
        unread = {atom for value in known for atom in value.atoms_inside() if site.key(atom)[:1] == ("config",)}
        self._put = {**dict.fromkeys(unread, Affine.constant(_TILE)), **config}
        used = self._inputs(known)
        self._strides_used = {atom for atom in used if self._is_stride(atom)}
        self._used = used - self._strides_used
        self.memory = self._memory()
        self._key = key_for(site, parameter)
        if any(site.key(atom)[:-2] != self._key for atom in self._strides_used):
            raise NotKnown("another tensor's strides")
        self._defaults = defaults_of(site, self._used)
        owned = {atom for atom in self._inputs(self.memory.sizes) if not self._is_stride(atom)} - self._defaults.keys()
        self._bounding = owned & self._inputs([*map(self._passed, self._ends()), *grid])
        self._foreign = self._used - owned - self._defaults.keys()
        self._unused = owned - self._bounding
        if any(atom.kind is not AtomKind.PARAM for atom in self._foreign | owned):
            raise NotKnown("what the sizes follow from")
        self._flags = self._of_guards()
        self._foreign -= self._flags.keys()

    def _inputs(self, values: Sequence[Affine]) -> set[Atom]:
        facts, arithmetic = self._site.facts(), self._site.arithmetic
        return inputs_of(facts.normal(arithmetic.put_in(value, self._put.get)) for value in values)

    def _ends(self) -> Iterator[Affine]:
        """How far indices go: by conditions, ends of loops and widths of tiles."""
        yield from self._place.gaps
        for guard in self._place.access.path:
            yield from (Affine.of(atom) for atom in _asked(guard) if atom.kind in GIVEN)
        for atom in self._place.footprint.needs:
            yield from (part for part in (atom.size, atom.stop) if part is not None)

    def _is_stride(self, atom: Atom) -> bool:
        return self._site.key(atom)[-2:-1] == ("stride",)

    def _memory(self) -> Memory:
        """The tensor; as so many elements, where the host code counts them."""
        memory = memory_for(self._site, self._parameter)
        if not _is_known(self._site, self._parameter):
            raise NotKnown("what the tensor is")
        if memory is not None and memory.is_sure and memory.sizes:
            return memory
        if memory is None or memory.sizes or not self._inputs([memory.elements]) <= self._used:
            raise NotKnown("how many elements the tensor has")
        return replace(memory, sizes=(memory.elements,), strides=(ONE,))

    def _of_guards(self) -> dict[Atom, int]:
        """What callers give as a truth value, as the launch and the way to the access have it. Raises NotKnown."""
        found: dict[Atom, int] = {}
        for guard, test in _truths(self._place.access.path):
            passed = self._passed(test)
            for atom in self._inputs([passed]) & self._foreign:
                is_free = passed.atom is atom and self._is_unasked(atom)
                if not is_free or found.get(atom, guard.taken) != guard.taken:
                    raise NotKnown("which way the launch goes")
                found[atom] = int(guard.taken)
        return found

    def _is_unasked(self, atom: Atom) -> bool:
        """Whether callers give it, and the host code asks nothing of it on the way to the launch."""
        key, tests = self._site.key(atom), [condition.test for condition in self._site.conditions]
        asked = any(test.polynomial is not None and atom in test.polynomial.atoms_inside() for test in tests)
        return key[:1] == ("input",) and len(key) == 2 and not asked and all(test.key != key for test in tests)

    # -- trials --------------------------------------------------------------------------------------------------

    def first(self, ask: Callable[[LaunchSite, Numbers, Layout], T | None]) -> Refuted[T] | None:
        """What is found at sizes, wherever it is found in all launches that only differ in what is not known."""
        for trials in self._trials():
            for last in (2, 1):
                found: Refuted[T] | None = None
                for sizes in trials:
                    found = self._tried(ask, sizes, last)
                    if found is None:
                        break
                if found is not None:
                    return found
        return None

    def _trials(self) -> Iterator[list[dict[Atom, int]]]:
        """Sizes to try together."""
        widths, unit = self._widths(), self._unit
        ordered = sorted(self._bounding, key=lambda atom: atom.id)
        fixed = {**dict.fromkeys(self._unused, _LARGE), **self._defaults, **self._flags}
        for counts in (_COUNTS, _COUNTS[::-1]):
            own = {}
            for place, atom in enumerate(ordered):
                width, are_several = widths.get(atom, (max(_FEW // 2, unit), True))
                own[atom] = width * (counts[place % len(counts)] if are_several else 1)
            trials = [own]
            if self._foreign:
                alike = 2 * max([*(widths.get(atom, (unit, True))[0] for atom in self._used), _FEW])
                trials = [{**own, **dict.fromkeys(self._foreign, 1)}, dict.fromkeys([*ordered, *self._foreign], alike)]
            none = dict.fromkeys(self._starting, 0)
            yield [self._counted({**fixed, **trial, **none}) for trial in trials]

    def _counted(self, sizes: dict[Atom, int]) -> dict[Atom, int]:
        """With as many elements of a tensor, where they are counted, as make up so many of what its sizes are known."""
        keys = {atom: self._site.key(atom) for atom in sizes}
        for atom, key in keys.items():
            if key[-3:-2] == ("numel",):
                sizes[atom] *= prod(sizes[one] for one, other in keys.items() if other[:-2] == key[:-3])
        return sizes

    @cached_property
    def _starting(self) -> set[Atom]:
        """Numbers of which an address begins further on, whatever the program and the lane."""
        terms = list(self._place.index.terms)
        begins = [atom for product in terms if all(atom.kind in GIVEN for atom in product) for atom in product]
        numbers = self._inputs([self._passed(Affine.of(atom)) for atom in begins])
        return {atom for atom in numbers & self._foreign if self._site.key(atom)[-2:-1] != ("shape",)}

    @property
    def _unit(self) -> int:
        """The widest tile of a number of lanes."""
        values = [self._place.index, *self._place.gaps]
        sizes = {atom.size for value in values for atom in value.atoms_inside() if atom.kind is AtomKind.LANE}
        widths = [self._of_launch(size) for size in sizes if size is not None]
        return max([1, *(width for width in widths if width is not None)])

    def _widths(self) -> dict[Atom, tuple[int, bool]]:
        """The tiles of each size, and whether there may be several: lanes in a condition, steps of a loop, the grid."""
        found: dict[Atom, tuple[int, bool]] = {}

        def note(bound: Affine, width: int | None, *, are_several: bool) -> None:
            for atom in self._inputs([bound]) if width is not None else ():
                most, several = found.get(atom, (1, False))
                found[atom] = max(most, width or 1), several or are_several

        for gap in self._place.gaps:
            atoms = gap.atoms_inside()
            are_several = any(atom.kind in (AtomKind.PID, AtomKind.LOOP) for atom in atoms)
            for atom in atoms:
                if atom.size is not None:
                    note(self._passed(gap), self._of_launch(atom.size), are_several=are_several)
        for loop in loops_in([self._place.index, *self._place.gaps]):
            if loop.stop is not None and loop.step is not None:
                note(self._passed(loop.stop), self._of_launch(loop.step), are_several=True)
        for axis in range(3):
            for atom in (self._site.axis(axis) or ONE).atoms_inside():
                if atom.name in (QUOTIENT, ROUNDED_UP) and len(atom.inner) == 2:
                    width = self._site.arithmetic.put_in(atom.inner[1], self._put.get).value
                    note(atom.inner[0], width, are_several=True)
                elif not atom.inner:
                    note(Affine.of(atom), 1, are_several=True)
        return found

    def _passed(self, value: Affine) -> Affine:
        return as_passed(self._site, value)

    def _of_launch(self, value: Affine) -> int | None:
        return self._site.arithmetic.put_in(self._passed(value), self._put.get).value

    # -- one launch ----------------------------------------------------------------------------------------------

    def _tried(
        self, ask: Callable[[LaunchSite, Numbers, Layout], T | None], sizes: Sizes, last: int
    ) -> Refuted[T] | None:
        """What is found in the launch with these sizes, and in what its host code makes of them."""
        try:
            numbers, strides = self._laid_out(self._site.facts().with_equals(sizes), last)
            if self._asked(ask, self._site, numbers, strides) is None:
                return None
            named = {atom.name: size for atom, size in numbers.items() if atom.kind is AtomKind.PARAM}
            launched = self._flow.launches.host.replay(self._site, named)
            if not isinstance(launched, LaunchSite) and (isinstance(launched, Raised) or len(named) == len(numbers)):
                return None
            found = self._asked(ask, launched if isinstance(launched, LaunchSite) else self._site, numbers, strides)
        except (NotKnown, TooLarge):
            return None
        shown = {name: size for name, size in named.items() if ".stride(" not in name}
        return None if found is None else Refuted(shown, found)

    def _laid_out(self, sizes: Sizes, last: int) -> tuple[dict[Atom, int], Strides]:
        """With strides of all tensors, also by their keys; its own rows may be apart by elements that are in no row."""
        found: dict[Atom, int] = {}
        strides: Strides = {}
        for parameter in self._site.arguments:
            memory, key = memory_for(self._site, parameter), key_for(self._site, parameter)
            if memory is None or not memory.sizes or key is None or (key, 0) in strides:
                continue
            dims, stride = [self._number(size, sizes, 1) for size in memory.sizes], 1
            for index in reversed(range(len(dims))):
                atoms = self._stride_atoms.get((key, index), ())
                if key == self._key and memory.is_free and not self._told.isdisjoint(atoms):
                    stride = stride * last if index == len(dims) - 1 else stride + _APART
                found.update(dict.fromkeys(atoms, stride))
                strides[key, index] = stride
                stride *= max(dims[index], 1)
        if not self._strides_used <= found.keys():
            raise NotKnown("the strides of a tensor of so many dimensions")
        numbers = self._site.facts().with_equals({**sizes, **found})
        for where, atoms in self._stride_atoms.items():
            strides.update((where, numbers[atom]) for atom in atoms if atom in numbers)
        return numbers, strides

    @cached_property
    def _told(self) -> set[Atom]:
        """The strides that the launch passes."""
        passed = [self._site.argument(name) for name in self._site.arguments]
        return {atom for atom in self._inputs([one for one in passed if one is not None]) if self._is_stride(atom)}

    @cached_property
    def _stride_atoms(self) -> dict[tuple[Key, int], list[Atom]]:
        found: dict[tuple[Key, int], list[Atom]] = {}
        for atom in self._site.arithmetic.keys:
            key = self._site.key(atom)
            if key[-2:-1] == ("stride",) and isinstance(key[-1], int):
                found.setdefault((key[:-2], key[-1]), []).append(atom)
        return found

    def _asked(
        self,
        ask: Callable[[LaunchSite, Numbers, Layout], T | None],
        site: LaunchSite,
        sizes: Sizes,
        strides: Strides,
    ) -> T | None:
        given = {name: self._number(site.argument(name), sizes) for name in self._names}
        grid = [self._number(site.axis(axis), sizes) if axis in self._axes else 1 for axis in range(3)]
        dims = tuple(self._number(size, sizes) for size in self.memory.sizes)
        if self.memory.strides is not None:
            lie = tuple(self._number(stride, sizes) for stride in self.memory.strides)
        elif self._key is not None and all((self._key, index) in strides for index in range(len(dims))):
            lie = tuple(strides[self._key, index] for index in range(len(dims)))
        else:
            raise NotKnown("the strides of the tensor")
        return None if 0 in dims else ask(site, Numbers(given, (grid[0], grid[1], grid[2])), Layout(dims, lie))

    def _number(self, value: Affine | None, sizes: Sizes, default: int | None = None) -> int:
        """Raises NotKnown."""
        if value is None:
            raise NotKnown("a number that the launch passes")
        known = {atom: Affine.constant(size) for atom, size in sizes.items()}
        number = self._site.arithmetic.put_in(value, {**self._put, **known}.get).value
        if number is None and default is None:
            raise NotKnown(f"`{value}`")
        return default or 0 if number is None else number


def _is_known(site: LaunchSite, parameter: str) -> bool:
    """Whether it is given, or made by what the host evaluator knows: what a library made has any strides."""
    passed = site.arguments.get(parameter)
    if not isinstance(passed, Tensor):
        return isinstance(passed, Symbol) and not passed.reason
    reason = passed.symbol.reason
    return not reason or reason == "a view" or reason.startswith("the elements of ")


def _truths(path: Path) -> Iterator[tuple[Guard, Affine]]:
    """The numbers that an `if` takes for a truth value."""
    for guard in path:
        if guard.test is not None and not guard.test.mask and guard.test.affine is not None:
            yield guard, guard.test.affine


def _asked(guard: Guard) -> Iterator[Atom]:
    """What the condition of an `if` is made of."""
    test = guard.test
    values = [] if test is None else [one.gap for one in test.mask or () if isinstance(one, Less)]
    if test is not None and test.affine is not None:
        values.append(test.affine)
    for value in values:
        yield from value.atoms_inside()
