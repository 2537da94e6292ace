"""Is a number of a launch a size of the data, and so another one from call to call?

What a size is, its place among the sizes of a tensor says. The first one counts what a call brings: rows, or the items
of a batch. The last one is a size of the model, and so is any that is the last one of another tensor of the launch. One
between them may be a length or a number of heads: what the kernel does with it has to tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tritonaudit.domains.affine import Affine, Atom
from tritonaudit.host.arithmetic import MOST, QUOTIENT, ROUNDED_UP
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.values import Key, Symbol, Tensor, Value, roots_of

_LEAST_BLOCK = 64  # what a block of unknown size is taken for
_COARSE = 1024  # sizes that are rounded to so much take few values


class Place(Enum):
    """Which of a tensor's sizes it is."""

    ROWS = "the first of two, or all but the last"
    ELEMENTS = "all of them"
    BATCH = "the first of several, or a number of sequences"
    INNER = "one between the first and the last"
    LAST = "the last"


_LED = frozenset((Place.ROWS, Place.BATCH, Place.INNER))
_BEHIND = frozenset((Place.INNER, Place.LAST))


@dataclass(frozen=True)
class Extent:
    """A size that is made of sizes of these `places`, divided by `divisor`, of which `surely` stands in the text.

    It is `tiled` where it is rounded up, as tiles are counted.
    """

    places: frozenset[Place]
    divisor: int = 1
    surely: int = 1
    tiled: bool = False

    @property
    def is_batch(self) -> bool:
        return self.places == {Place.BATCH}

    @property
    def is_inner(self) -> bool:
        """Whether nothing but what lies between first and last is in it."""
        return self.places <= _BEHIND

    @property
    def is_whole(self) -> bool:
        """Whether it is no part of anything."""
        return self.divisor == 1


class Sizes:
    """What the sizes of one launch are."""

    def __init__(self, site: LaunchSite, stored: frozenset[str]) -> None:
        """`stored` are the parameters whose memory the kernel writes."""
        self._site = site
        self._facts = site.facts()
        self._known: dict[Atom, Extent | None] = {}
        self._passed = {name: one for name, one in site.arguments.items() if isinstance(one, (Symbol, Tensor))}
        self._roots = roots_of(one for one in self._passed.values() if self._is_tensor(one))
        self._shown = [shape for shape in self._shapes() if len(shape) > 1]
        self._led = [shape[0] for shape in self._shapes(stored) if len(shape) > 1 and shape[0] is not None]

    def of(self, value: Affine | None) -> Extent | None:
        """What it is made of; None where that is no size of the data, or nobody can tell."""
        found = None if value is None else self._of(value)
        return None if found is None or found.places <= {Place.LAST} or found.divisor >= _COARSE else found

    def _of(self, value: Affine) -> Extent | None:
        """What any of its terms is made of: a sum changes where one of them does."""
        known = [one for product in value.terms if product and (one := self._of_product(product)) is not None]
        return _together(known)

    def _of_product(self, product: tuple[Atom, ...]) -> Extent | None:
        return _together([one for atom in product if (one := self._of_atom(atom)) is not None])

    def _of_atom(self, atom: Atom) -> Extent | None:
        if atom not in self._known:  # a function may stand within itself many times over
            self._known[atom] = self._read(atom)
        return self._known[atom]

    def _read(self, atom: Atom) -> Extent | None:
        if atom.name in (QUOTIENT, ROUNDED_UP) and len(atom.inner) == 2:
            return self._of_quotient(atom.name == ROUNDED_UP, *atom.inner)
        if atom.name == MOST:
            return _together([one for part in atom.inner if (one := self._of(part)) is not None])
        return None if atom.inner else self._of_input(atom)

    def _of_quotient(self, tiled: bool, above: Affine, below: Affine) -> Extent | None:
        """A part of a size is one where a number divides it; all elements by the last sizes are rows."""
        whole, by = self._of(above), self._of(below)
        if whole is None or (by is not None and not by.is_inner) or (whole.is_inner and by is not None):
            return None
        if Place.ELEMENTS in whole.places and below.value is None:
            return Extent(frozenset((Place.ROWS,))) if by is not None else None
        if by is not None:
            return None
        number, surely = below.value or _LEAST_BLOCK, below.value or 1
        return Extent(whole.places, whole.divisor * number, whole.surely * surely, tiled or whole.tiled)

    # -- inputs --------------------------------------------------------------------------------------------------

    def _of_input(self, atom: Atom) -> Extent | None:
        key = self._site.key(atom)
        place = self._place(key)
        if place is not Place.ELEMENTS and self._is_last(Affine.of(atom), key):
            return Extent(frozenset((Place.LAST,)))
        if place is None or (place in _LED and not self._is_first_of_stored(self._first(key) or Affine.of(atom))):
            return None
        return Extent(frozenset((place,)))

    def _is_last(self, value: Affine, key: Key) -> bool:
        """Whether another tensor ends with it, and has it there alone.

        One of fewer dimensions that begins as this one does has a number for each row, and no size of the model.
        """
        size, first, rank = self._facts.normal(value), self._first(key), self._site.ranks.get(key[:-2], 0)
        shapes = [shape for shape in self._shown if shape[-1] == size and shape.count(size) == 1]
        return any(first is None or len(shape) >= rank or shape[0] != self._facts.normal(first) for shape in shapes)

    def _first(self, key: Key) -> Affine | None:
        """The first size of the tensor that a size belongs to, if it is not that itself, and is asked for at all."""
        atom = self._asked.get((*key[:-1], 0)) if key[-2:-1] == ("shape",) and key[-1] != 0 else None
        return None if atom is None else Affine.of(atom)

    @cached_property
    def _asked(self) -> dict[Key, Atom]:
        """What the launch, and what must hold for it, is made of."""
        values = [*map(self._site.argument, self._site.arguments), *map(self._site.axis, range(3))]
        values += [size for shape in self._shapes() for size in shape]
        values += [condition.test.polynomial for condition in self._site.conditions]
        atoms = {atom for value in values if value is not None for atom in value.atoms_inside()}
        return {self._site.key(atom): atom for atom in atoms}

    def _place(self, key: Key) -> Place | None:
        if not self._is_of_passed(key):
            return None
        if key[-3:-2] == ("numel",):
            first, last = key[-2:]
            return (Place.ELEMENTS if last is None else Place.ROWS) if not first else None
        if key[-2:-1] != ("shape",) or not isinstance(key[-1], int):
            return None
        index, rank = key[-1], self._site.ranks.get(key[:-2])
        if rank is None:
            return Place.LAST if index == -1 else Place.INNER if index < 0 else Place.BATCH if index == 0 else None
        index %= rank
        if rank == 1:
            return None
        if index == rank - 1:
            return Place.LAST
        return Place.INNER if index else Place.ROWS if rank == 2 else Place.BATCH

    def _is_of_passed(self, key: Key) -> bool:
        """Whether it belongs to what comes in, is no part of the object whose method is called, and goes on."""
        entry = self._site.entry
        if key[:1] != ("input",) or len(key) < 3 or key[1] not in self._roots:
            return False
        own = entry.node.args.args[0].arg if entry.is_method and entry.node.args.args else None
        return key[1] != own

    def _is_first_of_stored(self, first: Affine) -> bool:
        """Whether what the kernel writes begins with it, as far as the shape of that is known."""
        atoms = self._facts.normal(first).atoms_inside()
        return not self._led or any(atoms & one.atoms_inside() for one in self._led)

    # -- tensors -------------------------------------------------------------------------------------------------

    def _shapes(self, names: frozenset[str] | None = None) -> list[tuple[Affine | None, ...]]:
        """The shapes of the tensors that are passed, where they are known."""
        some = (one for name, one in self._passed.items() if names is None or name in names)
        shapes = (one.shape for one in some if isinstance(one, Tensor))
        return [tuple(map(self._size, shape)) for shape in shapes if isinstance(shape, tuple)]

    def _size(self, value: Value) -> Affine | None:
        size = self._site.integer(value)
        return None if size is None else self._facts.normal(size)

    def _is_tensor(self, value: Value) -> bool:
        """Whether a value that is passed may be a tensor: what is counted with is none."""
        return isinstance(value, Tensor) or not value.reason


def counts_sequences(site: LaunchSite, value: Affine | None) -> bool:
    """Whether it is one less than the length of a vector: the offsets of n sequences are n + 1."""
    lengths = [product[0] for product, factor in value.terms.items() if len(product) == 1 == factor] if value else []
    if value is None or len(lengths) != 1 or value != Affine.of(lengths[0]) - Affine.constant(1):
        return False
    key = site.key(lengths[0])
    if key[-1:] == ("len",):
        return True
    is_all = key[-3:] == ("numel", 0, None)
    of = key[:-3] if is_all else key[:-2]
    return (is_all or key[-2:] == ("shape", 0)) and site.ranks.get(of, 1) == 1


def _together(parts: list[Extent]) -> Extent | None:
    """The size that is made of all of them."""
    if not parts:
        return None
    places = frozenset[Place]().union(*(one.places for one in parts))
    divisor, surely = min(one.divisor for one in parts), min(one.surely for one in parts)
    return Extent(places, divisor, surely, any(one.tiled for one in parts))
