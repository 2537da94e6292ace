"""Arithmetic of polynomials: quotients, remainders and the like are atoms, in one spelling for all that are equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tritonaudit.domains.affine import ONE, ZERO, Affine, Atom, AtomKind, Atoms

QUOTIENT, REMAINDER, ROUNDED_UP, LEAST, MOST, POWER_OF_2 = (
    "FloorDivide", "Modulo", "cdiv", "minimum", "maximum", "next_power_of_2",
)  # fmt: skip
_LARGEST = 1 << 64  # larger numbers are no sizes
_MOST_TERMS = 48


class TooLarge(Exception):
    """The result is too large to be worth keeping."""


class Arithmetic:
    """The functions of integers, over one table of atoms. `keys` say of inputs what they are."""

    def __init__(self) -> None:
        self.atoms = Atoms()
        self.keys: dict[Atom, object] = {}
        self._symbols: dict[tuple[object, str, bool, Affine | None], Affine] = {}
        self._functions: dict[str, Callable[..., Affine]] = {
            QUOTIENT: self.quotient, REMAINDER: self.remainder, ROUNDED_UP: self.rounded_up,
            POWER_OF_2: self.power_of_2, LEAST: self.least, MOST: self.most,
        }  # fmt: skip

    def symbol(self, key: object, name: str, is_free: bool, least: Affine | None = None) -> Affine:
        """A size or number that comes in (free), or one that could not be evaluated; it is `least` or more."""
        known = (key, name, is_free, least)
        if known not in self._symbols:
            atom = self.atoms.get(AtomKind.PARAM if is_free else AtomKind.OPAQUE, name, key, start=least)
            self.keys[atom] = key
            self._symbols[known] = Affine.of(atom)
        return self._symbols[known]

    def _opaque(self, name: str, *inner: Affine) -> Affine:
        return self.atoms.opaque(name, None, inner)

    def times(self, left: Affine, right: Affine) -> Affine:
        if len(left.terms) * len(right.terms) > _MOST_TERMS:
            raise TooLarge
        return _checked(left * right)

    def power(self, base: Affine, exponent: Affine) -> Affine:
        if exponent.value is not None and 0 <= exponent.value <= 64:
            result = ONE
            for _ in range(exponent.value):
                result = self.times(result, base)
            return result
        return self._opaque("Power", base, exponent)

    def quotient(self, above: Affine, below: Affine) -> Affine:
        """`above // below`."""
        if below.value is not None and above.value is not None and below.value:
            return Affine.constant(above.value // below.value)
        whole, rest = _divided(above, below)
        if not rest.terms:
            return whole
        least = rest.terms.get((), 0)
        if below.value is not None and below.value > 1 and least == below.value - 1 and len(rest.terms) > 1:
            return whole + self._rounded_up(rest - Affine.constant(least), below)
        if least == -1 and len(rest.terms) > 1:
            return whole + self._rounded_up(rest + ONE, below) - ONE
        if all(factor < 0 for factor in rest.terms.values()):
            return whole - self._rounded_up(-rest, below)
        return whole + self._nested(QUOTIENT, rest, below)

    def rounded_up(self, above: Affine, below: Affine) -> Affine:
        """`cdiv(above, below)`."""
        if below.value is not None and above.value is not None and below.value:
            return Affine.constant(-(-above.value // below.value))
        whole, rest = _divided(above, below)
        return whole + self._rounded_up(rest, below) if rest.terms else whole

    def _rounded_up(self, above: Affine, below: Affine) -> Affine:
        if above.value is not None and below.value is not None and below.value:
            return Affine.constant(-(-above.value // below.value))
        if all(factor < 0 for factor in above.terms.values()):
            return -self._nested(QUOTIENT, -above, below)
        return self._nested(ROUNDED_UP, above, below)

    def _nested(self, function: str, above: Affine, below: Affine) -> Affine:
        """`n // a // b` is `n // (a * b)`, and the same of `cdiv`."""
        atom = above.atom
        if atom is not None and atom.name == function and len(atom.inner) == 2 and _is_positive(below, atom.inner[1]):
            return self._functions[function](atom.inner[0], self.times(atom.inner[1], below))
        return self._opaque(function, above, below)

    def remainder(self, above: Affine, below: Affine) -> Affine:
        """`above % below`."""
        if below.value is not None and above.value is not None and below.value:
            return Affine.constant(above.value % below.value)
        rest = _divided(above, below)[1]
        if not rest.terms:
            return ZERO
        if below.value is not None and len(rest.terms) > 1:
            constant = rest.terms.get((), 0)
            rest = rest + Affine.constant(constant % below.value - constant)
        return self._opaque(REMAINDER, rest, below)

    def power_of_2(self, size: Affine) -> Affine:
        if size.value is not None:
            return Affine.constant(1 << max(size.value - 1, 0).bit_length()) if size.value < _LARGEST else size
        return size if size.atom is not None and size.atom.name == POWER_OF_2 else self._opaque(POWER_OF_2, size)

    def least(self, *values: Affine) -> Affine:
        return self._extreme(LEAST, min, values)

    def most(self, *values: Affine) -> Affine:
        return self._extreme(MOST, max, values)

    def _extreme(self, name: str, choose: Callable[..., int], values: Sequence[Affine]) -> Affine:
        parts: list[Affine] = []
        for value in values:
            inner = value.atom.inner if value.atom is not None and value.atom.name == name else (value,)
            for part in inner:
                near = next((i for i, kept in enumerate(parts) if (kept - part).value is not None), None)
                if near is None:
                    parts.append(part)
                else:
                    gap = (part - parts[near]).value or 0
                    parts[near] = parts[near] + Affine.constant(choose(0, gap))
        if len(parts) == 1:
            return parts[0]
        return self._opaque(name, *sorted(parts, key=_order))

    def shifted(self, value: Affine, by: Affine, left: bool) -> Affine:
        if by.value is None or not 0 <= by.value < 64:
            return self._opaque("LeftShift" if left else "RightShift", value, by)
        factor = Affine.constant(1 << by.value)
        return self.times(value, factor) if left else self.quotient(value, factor)

    def bits(self, name: str, left: Affine, right: Affine) -> Affine:
        """`&`, `|` or `^`."""
        one, other = left.value, right.value
        if one is not None and other is not None:
            return Affine.constant({"BitAnd": one & other, "BitOr": one | other, "BitXor": one ^ other}[name])
        return self._opaque(name, left, right)

    def put_in(self, value: Affine, known: Callable[[Atom], Affine | None]) -> Affine:
        """The polynomial with what is known of its atoms put in, those inside of functions included."""
        if all(known(atom) is None for atom in value.atoms_inside()):
            return value
        return self._put_in(value, known, {})

    def _put_in(self, value: Affine, known: Callable[[Atom], Affine | None], done: dict[Atom, Affine]) -> Affine:
        total = ZERO
        for product, factor in value.terms.items():
            term = Affine.constant(factor)
            for atom in product:
                if atom not in done:  # a function often stands within several
                    done[atom] = self._atom(atom, known, done)
                term = self.times(term, done[atom])
            total = total + term
        return total

    def _atom(self, atom: Atom, known: Callable[[Atom], Affine | None], done: dict[Atom, Affine]) -> Affine:
        found = known(atom)
        if found is not None:
            return found
        if not atom.inner:
            return Affine.of(atom)
        inner = tuple(self._put_in(part, known, done) for part in atom.inner)
        return Affine.of(atom) if inner == atom.inner else self.applied(atom.name, inner)

    def applied(self, name: str, inner: tuple[Affine, ...]) -> Affine:
        """The function of that name of these."""
        if name in self._functions:
            return self._functions[name](*inner)
        if name in ("BitAnd", "BitOr", "BitXor"):
            return self.bits(name, *inner)
        if name in ("LeftShift", "RightShift"):
            return self.shifted(inner[0], inner[1], name == "LeftShift")
        return self.power(*inner) if name == "Power" else self._opaque(name, *inner)


def _checked(value: Affine) -> Affine:
    if any(abs(factor) > _LARGEST for factor in value.terms.values()):
        raise TooLarge
    return value


def _order(value: Affine) -> tuple[bool, str]:
    return value.value is not None, str(value)


def _is_positive(*values: Affine) -> bool:
    """Whether they are certainly more than 0."""
    return all(value.value is not None and value.value > 0 for value in values)


def _divided(above: Affine, below: Affine) -> tuple[Affine, Affine]:
    """The terms that `below` divides, divided, and the others."""
    if len(below.terms) != 1:
        return (ONE, ZERO) if above == below and below.terms else (ZERO, above)
    ((product, factor),) = below.terms.items()
    whole: dict[tuple[Atom, ...], int] = {}
    rest: dict[tuple[Atom, ...], int] = {}
    for term, times in above.terms.items():
        left = _without(term, product)
        if left is None or times % factor:
            rest[term] = times
        else:
            whole[left] = times // factor
    return Affine(whole), Affine(rest)


def _without(term: tuple[Atom, ...], product: tuple[Atom, ...]) -> tuple[Atom, ...] | None:
    left = list(term)
    for atom in product:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)
