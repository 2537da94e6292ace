"""What holds on one path through a wrapper, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tritonaudit.domains.affine import ONE, Affine, Atom
from tritonaudit.host.arithmetic import LEAST, MOST, POWER_OF_2, QUOTIENT, REMAINDER, ROUNDED_UP, Arithmetic
from tritonaudit.host.values import Condition, Key, Test

EQUAL, AT_MOST, IS, KIND, TRUTH = "== 0", "<= 0", "is", "is of a kind", "truth"

Bounds = tuple[int | None, int | None]
_UNBOUNDED: Bounds = (None, None)
_DEPTH = 6


class Contradiction(Exception):
    """What is assumed cannot hold beside what is known."""


@dataclass
class Facts:
    """The conditions of a path, in the order in which they were met."""

    arithmetic: Arithmetic
    conditions: list[Condition] = field(default_factory=list)
    _known: dict[Test, bool] = field(default_factory=dict)
    _values: dict[Key, Key] = field(default_factory=dict)
    _equal: dict[Atom, Affine] = field(default_factory=dict)
    _bounds: dict[Atom, Bounds] = field(default_factory=dict)
    _at_most: list[tuple[Affine, Affine]] = field(default_factory=list)  # what is 0 or less, and its opposite

    def assume(self, condition: Condition) -> None:
        """Add what holds. Raises Contradiction where it cannot."""
        known = self.decide(condition.test)
        if known is not None:
            if known is not condition.holds:
                raise Contradiction(str(condition))
            return
        self.conditions.append(condition)
        self._known[condition.test] = condition.holds
        if condition.test.relation == IS and condition.holds:
            self._values[condition.test.key[:1]] = condition.test.key[1:]
        if condition.test.polynomial is not None:
            self._learn(condition)

    def decide(self, test: Test) -> bool | None:
        """Whether it holds; None where either may be."""
        known = self._known.get(test)
        if known is not None:
            return known
        if test.relation == IS and (value := self._values.get(test.key[:1])) is not None:
            return value == test.key[1:]
        if test.polynomial is None:
            return None
        polynomial = self.normal(test.polynomial)
        if test.relation == IS:
            return True if polynomial.value == 0 else None
        return self._is_zero(polynomial) if test.relation == EQUAL else self._is_at_most_zero(polynomial)

    def normal(self, value: Affine) -> Affine:
        """The same number, with one name for what is equal."""
        return self.arithmetic.put_in(value, self._equal.get) if self._equal else value

    def same_as(self, atom: Atom) -> list[Atom]:
        """The atom, and the inputs that are known to be the same number."""
        return [atom, *(other for other, value in self._equal.items() if value.atom is atom)]

    def with_equals(self, sizes: Mapping[Atom, int]) -> dict[Atom, int]:
        """The sizes, and what is equal to something that they give."""
        known = {atom: Affine.constant(size) for atom, size in sizes.items()}
        found = {atom: self.arithmetic.put_in(value, known.get).value for atom, value in self._equal.items()}
        return {**sizes, **{atom: size for atom, size in found.items() if size is not None}}

    def divides(self, divisor: Affine, value: Affine, *, is_power: bool = False) -> bool:
        """Whether `value % divisor == 0` is known to hold; the divisor may be known to be a power of two besides."""
        value, divisor = self.normal(value), self.normal(divisor)
        if self._is_zero(self.arithmetic.remainder(value, divisor)) is True:
            return True
        are_powers = (is_power or self._is_power_of_2(divisor)) and self._is_power_of_2(value)
        return are_powers and self._is_at_most_zero(divisor - value) is True

    def _is_power_of_2(self, value: Affine) -> bool:
        """Whether a size is known to be one: by `size & (size - 1) == 0`, or as the next one to itself or another."""
        if value.value is not None:
            return value.value > 0 and value.value.bit_count() == 1
        if value.atom is not None and value.atom.name == POWER_OF_2:
            return True
        signs = self.arithmetic.bits("BitAnd", value, value - ONE), self.arithmetic.power_of_2(value) - value
        if any(self._is_zero(each) is True for each in signs):
            return True
        (product, factor), *others = value.terms.items()
        atoms = [Affine.of(atom) for atom in product] if len(product) > 1 or factor != 1 else []
        is_alone = not others and factor > 0 and factor.bit_count() == 1 and bool(atoms)
        return is_alone and all(map(self._is_power_of_2, atoms))

    def bounds(self, value: Affine, depth: int = _DEPTH) -> Bounds:
        """Numbers that it is not below and not above."""
        low: int | None = 0
        high: int | None = 0
        for product, factor in value.terms.items():
            least, most = self._of_product(product, depth)
            if factor < 0:
                least, most = most, least
            low = None if low is None or least is None else low + factor * least
            high = None if high is None or most is None else high + factor * most
        return low, high

    def _is_zero(self, value: Affine) -> bool | None:
        if value.value is not None:
            return value.value == 0
        known = self._known.get(equal(value, ""))
        if known is not None:
            return known
        low, high = self.bounds(value)
        return False if (low is not None and low > 0) or (high is not None and high < 0) else None

    def _is_at_most_zero(self, value: Affine) -> bool | None:
        low, high = self.bounds(value)
        if high is not None and high <= 0:
            return True
        if low is not None and low > 0:
            return False
        for known, opposite in self._at_most:
            above, below = value.above(known), value.above(opposite)
            if above is not None and above <= 0:
                return True
            if below is not None and below > 0:
                return False
        return None

    def _learn(self, condition: Condition) -> None:
        polynomial = condition.test.polynomial
        assert polynomial is not None
        if condition.test.relation == AT_MOST:
            known = polynomial if condition.holds else ONE - polynomial
            self._at_most.append((known, -known))
            self._learn_bound(known)
        elif condition.holds:
            self._learn_equal(self.normal(polynomial))
        elif self.bounds(polynomial)[0] == 0:
            self._learn_bound(ONE - polynomial)
        elif self.bounds(-polynomial)[0] == 0:
            self._learn_bound(ONE + polynomial)

    def _learn_equal(self, polynomial: Affine) -> None:
        """`a == b + c` lets `a` stand for the sum, where it is an input that stands alone in it."""
        alone = [p[0] for p, factor in polynomial.terms.items() if len(p) == 1 and abs(factor) == 1 and not p[0].inner]
        for atom in sorted(alone, key=lambda atom: -atom.id):
            factor = polynomial.terms[(atom,)]
            rest = polynomial - Affine({(atom,): factor})
            if atom not in rest.atoms_inside():
                value = -rest if factor == 1 else rest
                own = {atom: value}
                self._equal = {a: self.arithmetic.put_in(v, own.get) for a, v in self._equal.items()}
                self._equal[atom] = value
                break

    def _learn_bound(self, polynomial: Affine) -> None:
        """`a - 5 <= 0` and `5 - a <= 0`."""
        rest = polynomial - Affine.constant(polynomial.terms.get((), 0))
        constant = polynomial.terms.get((), 0)
        for atom, sign in ((rest.atom, 1), ((-rest).atom, -1)):
            if atom is not None:
                low, high = self._bounds.get(atom, _UNBOUNDED)
                if sign > 0:
                    self._bounds[atom] = low, -constant if high is None else min(high, -constant)
                else:
                    self._bounds[atom] = constant if low is None else max(low, constant), high

    def _of_product(self, product: tuple[Atom, ...], depth: int) -> Bounds:
        low: int | None = 1
        high: int | None = 1
        for atom in product:
            least, most = self._of_atom(atom, depth)
            if least is None or least < 0:
                return (least, most) if len(product) == 1 else _UNBOUNDED
            low = None if low is None else low * least
            high = None if high is None or most is None else high * most
        return low, high

    def _of_atom(self, atom: Atom, depth: int) -> Bounds:
        low, high = self._of_kind(atom, depth) if depth else _UNBOUNDED
        least, most = self._bounds.get(atom, _UNBOUNDED)
        return _larger(low, least), _smaller(high, most)

    def _of_kind(self, atom: Atom, depth: int) -> Bounds:
        if atom.start is not None:
            return atom.start.value, None if atom.size is None else atom.size.value
        parts = [self.bounds(part, depth - 1) for part in atom.inner]
        if atom.name == POWER_OF_2:
            return 1, None
        if atom.name == REMAINDER and (parts[1][0] or 0) > 0:
            return 0, None if parts[1][1] is None else parts[1][1] - 1
        if atom.name in (QUOTIENT, ROUNDED_UP):
            return _of_quotient(atom.name == ROUNDED_UP, *parts)
        lows, highs = [low for low, _ in parts], [high for _, high in parts]
        if atom.name == LEAST:
            low = None if None in lows else min(value for value in lows if value is not None)
            return low, min((value for value in highs if value is not None), default=None)
        if atom.name == MOST:
            high = None if None in highs else max(value for value in highs if value is not None)
            return max((value for value in lows if value is not None), default=None), high
        return _UNBOUNDED


def _of_quotient(is_rounded_up: bool, above: Bounds, below: Bounds) -> Bounds:
    if below[0] is None or below[0] <= 0 or above[0] is None or above[0] < 0:
        return _UNBOUNDED
    low = 0 if below[1] is None else above[0] // below[1]
    if is_rounded_up:
        return max(low, int(above[0] > 0)), None if above[1] is None else -(-above[1] // below[0])
    return low, None if above[1] is None else above[1] // below[0]


def _larger(left: int | None, right: int | None) -> int | None:
    return left if right is None else right if left is None else max(left, right)


def _smaller(left: int | None, right: int | None) -> int | None:
    return left if right is None else right if left is None else min(left, right)


def equal(polynomial: Affine, text: str) -> Test:
    """The test that it is 0, whichever sign it is written with."""
    first = min(filter(None, polynomial.terms), key=lambda product: [atom.id for atom in product], default=())
    return Test(EQUAL, (), text, -polynomial if polynomial.terms.get(first, 0) < 0 else polynomial)


def at_most(polynomial: Affine, text: str) -> Test:
    """The test that it is 0 or less."""
    return Test(AT_MOST, (), text, polynomial)
