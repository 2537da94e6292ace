"""Whether a number is certainly 0 or less, by what quotients, extremes and powers of two are never below or above."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.affine import Affine, Atom
from tritonaudit.host.arithmetic import LEAST, MOST, POWER_OF_2, QUOTIENT, ROUNDED_UP, TooLarge
from tritonaudit.host.facts import Facts, at_most

_DEPTH = 5


def is_at_most_zero(facts: Facts, value: Affine, depth: int = _DEPTH) -> bool:
    """Whether it is 0 or less, whatever the sizes are that the facts let through."""
    if facts.decide(at_most(value, "")) is True or _is_of_sizes(value):
        return True
    if depth == 0:
        return False
    for atom in sorted(set(value.atoms()), key=lambda atom: -atom.id):
        if atom.inner:
            factor = value.factor_of(atom)
            rest = value - factor * Affine.of(atom)
            try:
                if any(
                    all(is_at_most_zero(facts, rest + bound, depth - 1) for bound in bounds)
                    for bounds in _bounds(facts, atom, factor)
                ):
                    return True
            except TooLarge:
                return False
    return False


def _is_of_sizes(value: Affine) -> bool:
    """`-n * BLOCK`, and nothing added: what a kernel counts by is no less than 0."""
    return all(factor < 0 for factor in value.terms.values())


def _bounds(facts: Facts, atom: Atom, factor: Affine) -> Iterator[list[Affine]]:
    """What `factor * atom` is no more than: one of each list is enough for each, and all of the list are needed."""
    arithmetic = facts.arithmetic
    is_taken_away = all(times < 0 for times in factor.terms.values())
    if atom.name in (ROUNDED_UP, QUOTIENT) and len(atom.inner) == 2:
        above, below = atom.inner
        times = arithmetic.quotient(-factor, below)
        if arithmetic.times(times, below) == -factor and is_taken_away:
            if atom.name == ROUNDED_UP or facts.divides(below, above):
                yield [-arithmetic.times(times, above)]
            else:
                yield [-arithmetic.times(times, above - arithmetic.remainder(above, below))]
    elif atom.name == POWER_OF_2 and is_taken_away:
        yield [arithmetic.times(factor, atom.inner[0])]
    elif atom.name in (MOST, LEAST):
        parts = [arithmetic.times(factor, part) for part in atom.inner]
        if (atom.name == MOST) is is_taken_away:
            yield from ([part] for part in parts)
        elif is_taken_away or all(times > 0 for times in factor.terms.values()):
            yield parts
