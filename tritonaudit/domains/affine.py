"""Integers as polynomials over what a kernel does not know: program ids, lanes, loop variables, parameters.

An offset such as `pid * BLOCK + tl.arange(0, BLOCK)` is a sum of products of atoms with integer factors. Two
expressions with the same polynomial are the same number, however they are spelled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache


class AtomKind(Enum):
    """What an atom stands for."""

    PARAM = "parameter"
    CONSTEXPR = "constexpr"
    PID = "program id"
    LANE = "lane"
    LOOP = "loop variable"
    OPAQUE = "value"


GIVEN = (AtomKind.PARAM, AtomKind.CONSTEXPR)  # what the launch gives


@dataclass(frozen=True)
class Atom:
    """One unknown.

    A lane lies on `axis`, counted from the right as broadcasting does (-1 is the last), and runs over `size` values
    from `start`. A loop variable goes from `start` up to `stop` by `step`. An opaque atom may be a function of `inner`.
    `axes` are the axes along which the atom varies.
    """

    id: int
    kind: AtomKind
    name: str
    axis: int = 0
    start: Affine | None = None
    size: Affine | None = None
    step: Affine | None = None
    stop: Affine | None = None
    inner: tuple[Affine, ...] = ()
    axes: frozenset[int] = frozenset()

    def __hash__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def grid_axis(self) -> int | None:
        """The axis of a program id, where the kernel gives it as a number."""
        number = self.name[len("tl.program_id(") : -1]
        return int(number) if self.kind is AtomKind.PID and number.isdigit() else None

    @cached_property
    def spelled(self) -> str:
        """Its name, or the operation that it is the result of."""
        symbol = _SYMBOLS.get(self.name)
        if symbol is not None and len(self.inner) == 2:
            return f"({self.inner[0]} {symbol} {self.inner[1]})"
        return f"{self.name}({', '.join(map(str, self.inner))})" if self.name in _FUNCTIONS else self.name


_SYMBOLS = {
    "FloorDivide": "//", "Modulo": "%", "Power": "**", "LeftShift": "<<", "RightShift": ">>",
    "BitAnd": "&", "BitOr": "|", "BitXor": "^",
}  # fmt: skip
LOADED = "a loaded value"
JOINED = "a value set in several places"
_FUNCTIONS = frozenset({"cdiv", "maximum", "minimum", "next_power_of_2"})


Product = tuple[Atom, ...]  # sorted by id


class Affine:
    """An immutable polynomial: products of atoms with integer factors; the empty product is the constant."""

    __slots__ = ("_inside", "_key", "terms")

    def __init__(self, terms: dict[Product, int]) -> None:
        self.terms = terms
        self._key: frozenset[tuple[Product, int]] | None = None
        self._inside: frozenset[Atom] | None = None

    @staticmethod
    @lru_cache(maxsize=4096, typed=True)
    def constant(value: int) -> Affine:
        return Affine({(): value} if value else {})

    @staticmethod
    def of(atom: Atom) -> Affine:
        return Affine({(atom,): 1})

    @property
    def key(self) -> frozenset[tuple[Product, int]]:
        if self._key is None:
            self._key = frozenset(self.terms.items())
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def value(self) -> int | None:
        """The number, when it is one."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    @property
    def atom(self) -> Atom | None:
        """The atom, when it is one, once and alone."""
        if len(self.terms) != 1:
            return None
        (product, factor), *_ = self.terms.items()
        return product[0] if factor == 1 and len(product) == 1 else None

    def __add__(self, other: Affine) -> Affine:
        terms = dict(self.terms)
        for product, factor in other.terms.items():
            total = terms.get(product, 0) + factor
            if total:
                terms[product] = total
            else:
                terms.pop(product, None)
        return Affine(terms)

    def above(self, other: Affine) -> int | None:
        """By how much it is more than the other, where that is a number."""
        terms, others = self.terms, other.terms
        if any(product and others.get(product) != factor for product, factor in terms.items()):
            return None
        if any(product and product not in terms for product in others):
            return None
        return terms.get((), 0) - others.get((), 0)

    def __neg__(self) -> Affine:
        return Affine({product: -factor for product, factor in self.terms.items()})

    def __sub__(self, other: Affine) -> Affine:
        return self + -other

    def __mul__(self, other: Affine) -> Affine:
        terms: dict[Product, int] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                product = _join(left, right)
                total = terms.get(product, 0) + a * b
                if total:
                    terms[product] = total
                else:
                    terms.pop(product, None)
        return Affine(terms)

    @property
    def weight(self) -> int:
        """The bits of the largest factor and the atoms of the longest product: squaring doubles both."""
        return max((len(product) + factor.bit_length() for product, factor in self.terms.items()), default=0)

    def atoms(self) -> Iterator[Atom]:
        """Every atom, once per product that holds it."""
        for product in self.terms:
            yield from product

    def atoms_inside(self) -> frozenset[Atom]:
        """Every atom, those that opaque atoms are computed from included."""
        if self._inside is None:
            found: set[Atom] = set()
            parts = [self]
            while parts:  # functions may stand within each other deeper than calls may
                part = parts.pop()
                if part._inside is not None:
                    found |= part._inside
                    continue
                new = {atom for product in part.terms for atom in product if atom not in found}
                found |= new
                parts.extend(inner for atom in new for inner in atom.inner)
            self._inside = frozenset(found)
        return self._inside

    def lanes(self) -> set[Atom]:
        return {atom for atom in self.atoms() if atom.kind is AtomKind.LANE}

    def axes(self) -> frozenset[int]:
        """The axes along which the value varies."""
        found: set[int] = set()
        for atom in self.atoms():
            found |= atom.axes
        return frozenset(found)

    def factor_of(self, atom: Atom) -> Affine:
        """What the atom is multiplied by (its other atoms and its factor), summed over the terms that hold it once."""
        terms: dict[Product, int] = {}
        for product, factor in self.terms.items():
            if product.count(atom) == 1:
                index = product.index(atom)
                rest = product[:index] + product[index + 1 :]
                terms[rest] = terms.get(rest, 0) + factor
        return Affine(terms)

    def __str__(self) -> str:
        """As a person would write it: what is added first, numbers last, a loop's variable for its multiple."""
        text = ""
        terms = sorted(self.terms.items(), key=lambda item: (not item[0], item[1] < 0, [a.id for a in item[0]]))
        for product, factor in terms:
            names = _names(product)
            if abs(factor) != 1 or not names:
                names.insert(0, str(abs(factor)))
            sign = "-" if factor < 0 else "+"
            text += f" {sign} {' * '.join(names)}" if text else f"{'-' if factor < 0 else ''}{' * '.join(names)}"
        return text or "0"


def _names(product: Product) -> list[str]:
    steps: list[Atom] = []
    for atom in product:
        if atom.kind is AtomKind.LOOP and atom.step is not None and len(atom.step.terms) == 1:
            steps.extend(next(iter(atom.step.terms)))
    names = []
    for atom in product:
        if atom in steps:
            steps.remove(atom)
        else:
            names.append(atom.spelled)
    return names


def _join(left: Product, right: Product) -> Product:
    if not left:
        return right
    if not right:
        return left
    return tuple(sorted(left + right, key=lambda atom: atom.id))


ZERO = Affine({})
ONE = Affine({(): 1})

_TOO_MANY_TERMS = 64
_TOO_HEAVY = 256


class Atoms:
    """The atoms of one kernel; equal descriptions give the same atom."""

    def __init__(self) -> None:
        self._by_key: dict[object, Atom] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def get(
        self,
        kind: AtomKind,
        name: str,
        key: object = None,
        *,
        axis: int = 0,
        start: Affine | None = None,
        size: Affine | None = None,
        step: Affine | None = None,
        stop: Affine | None = None,
        inner: tuple[Affine, ...] = (),
        axes: frozenset[int] = frozenset(),
    ) -> Atom:
        full_key = (kind, name, key, axis, start, size)
        atom = self._by_key.get(full_key)
        if atom is None:
            atom = Atom(len(self._by_key), kind, name, axis, start, size, step, stop, inner, axes)
            self._by_key[full_key] = atom
        return atom

    def lane(self, size: Affine, start: Affine, axis: int) -> Affine:
        """`tl.arange(start, start + size)` laid along `axis`; a single lane is no lane but its number."""
        if size.value == 1:
            return start
        name = f"tl.arange({start}, {start + size})"
        return Affine.of(self.get(AtomKind.LANE, name, axis=axis, start=start, size=size, axes=frozenset((axis,))))

    def opaque(
        self, name: str, key: object, inner: tuple[Affine, ...] = (), axes: frozenset[int] = frozenset()
    ) -> Affine:
        """A value that is known only by what it is computed from."""
        return Affine.of(self.get(AtomKind.OPAQUE, name, (key, inner, axes), inner=inner, axes=axes))

    def product(self, left: Affine, right: Affine) -> Affine | None:
        """Their product, unless it is too large to be worth keeping."""
        if len(left.terms) * len(right.terms) > _TOO_MANY_TERMS or left.weight + right.weight > _TOO_HEAVY:
            return None
        return left * right

    def moved(self, value: Affine, axes: dict[int, int]) -> Affine:
        """`value` with its axes renumbered, as `[:, None]` and `tl.trans` do."""
        if all(axes.get(axis, axis) == axis for axis in value.axes()):
            return value
        total = ZERO
        for product, factor in value.terms.items():
            term = Affine.constant(factor)
            for atom in product:
                term = term * self._moved_atom(atom, axes)
            total = total + term
        return total

    def _moved_atom(self, atom: Atom, axes: dict[int, int]) -> Affine:
        if not atom.axes:
            return Affine.of(atom)
        new_axes = frozenset(axes.get(axis, axis) for axis in atom.axes)
        if atom.kind is AtomKind.LANE:
            moved = self.get(
                AtomKind.LANE, atom.name, axis=min(new_axes), start=atom.start, size=atom.size, axes=new_axes
            )
            return Affine.of(moved)
        inner = tuple(self.moved(part, axes) for part in atom.inner)
        origin = atom.name if atom.inner else atom.id
        return Affine.of(self.get(atom.kind, atom.name, ("moved", origin, inner, new_axes), inner=inner, axes=new_axes))
