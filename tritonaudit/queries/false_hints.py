"""Hints to the compiler that the kernel's own text contradicts, or that data decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import LOADED, Affine, Atom, AtomKind, Product
from tritonaudit.domains.facts import Hint, KernelFlow
from tritonaudit.queries.launched import asks_for_remainders

if TYPE_CHECKING:
    from libcst import CSTNode

_PACKED = 8
"""As many numbers as are packed into one, at most."""


class Flaw(Enum):
    """Why a hint does not hold, or is not known to."""

    STEPPED = "its elements are `{0}` apart"
    STRIDED = "its elements are `{0}` apart, which may be more than 1"
    REPEATED = "the quotient by `{0}` has each number more than once"
    GATHERED = "its elements are loaded, in any order"
    OFF = "`{0}` in it is not a multiple"
    WRAPPED = "it starts again at `{0}`, which may be inside a block of `{1}`"
    LOADED = "it begins at a loaded number, which may be any"
    SIZE = "`{0}` in it may be any number"


@dataclass(frozen=True)
class FalseHint:
    """A hint, what is wrong with it, and what it is that the flaw speaks of."""

    node: CSTNode
    name: str
    claim: Affine
    flaw: Flaw
    detail: str


UNCERTAIN = frozenset({Flaw.STRIDED, Flaw.WRAPPED, Flaw.LOADED, Flaw.SIZE})
"""Those that what the launch gives, or the data, may make hold."""


def false_hints(flow: KernelFlow) -> Iterator[FalseHint]:
    """The hints that do not hold, or that nothing makes sure of, in the order of the text."""
    for hint in flow.hints:
        claim, value = _claim(hint), hint.value.affine
        if claim is None or value is None:
            continue
        found = _not_contiguous(value, claim) if hint.name == "max_contiguous" else _no_multiple(flow, hint, claim)
        if found is not None and not (found[0] in UNCERTAIN and _is_checked(flow)):
            yield FalseHint(hint.node, hint.name, claim, *found)


def _is_checked(flow: KernelFlow) -> bool:
    """Whether a wrapper asks for remainders."""
    return asks_for_remainders(flow.launches.sites)


def _claim(hint: Hint) -> Affine | None:
    """What is claimed of the last dimension of a block, where nothing is claimed of the others."""
    if not hint.claims or hint.value.rank is None or len(hint.claims) > max(1, hint.value.rank):
        return None
    *others, last = hint.claims
    if last is None or (last.value is not None and last.value < 2) or (len(hint.claims) == 1 and hint.value.rank > 1):
        return None
    return last if all(other is not None and other.value == 1 for other in others) else None


def _not_contiguous(value: Affine, claim: Affine) -> tuple[Flaw, str] | None:
    """What keeps neighbours along the last axis from being consecutive numbers."""
    for atom in sorted((atom for atom in set(value.atoms()) if -1 in atom.axes), key=lambda atom: atom.id):
        step = value.factor_of(atom)
        if atom.kind is AtomKind.LANE:
            if step.value not in (None, 1):
                return Flaw.STEPPED, str(step)
            if any(other.kind is AtomKind.PARAM for other in step.atoms()):
                return Flaw.STRIDED, str(step)
        elif atom.name == LOADED:
            return Flaw.GATHERED, ""
        elif atom.name == "FloorDivide" and _repeats(atom.inner[1], claim):
            return Flaw.REPEATED, str(atom.inner[1])
        elif atom.name == "Modulo" and _straddles(atom.inner[1], claim):
            return Flaw.WRAPPED, str(atom.inner[1])
    return None


def _repeats(divisor: Affine, claim: Affine) -> bool:
    """Whether the quotient changes inside a block of the claimed size: one that is named has more than are packed."""
    if divisor.value is None or divisor.value < 2:
        return False
    return divisor.value <= _PACKED if claim.value is None else divisor.value % claim.value != 0


def _straddles(modulus: Affine, claim: Affine) -> bool:
    """Whether blocks of the claimed size are not known to divide what the numbers wrap at."""
    if modulus.value is not None and claim.value is not None:
        return modulus.value % claim.value != 0
    return all(atom.kind is AtomKind.PARAM for atom in modulus.atoms()) and modulus.value is None


def _no_multiple(flow: KernelFlow, hint: Hint, claim: Affine) -> tuple[Flaw, str] | None:
    """What the first element of a block has in it that is no multiple of the claim."""
    pointer, value = hint.value.origin, hint.value.affine
    if value is None or (hint.value.rank == 0 and value.atom is not None):
        return None  # a hint on a parameter has no effect, and one on a loaded number is all that is known of it
    asserted = {atom for size, _ in flow.multiples for atom in size.atoms()} | _hinted_before(flow, hint, claim)
    for product, factor in _first(value).terms.items():
        if pointer in product or not asserted.isdisjoint(product):
            continue
        flaw = _flaw(product, factor, claim)
        if flaw is not None and (pointer is None or flaw is not Flaw.OFF):  # a pointer's multiples are bytes
            return flaw, str(Affine({product: factor}))
    return None


def _hinted_before(flow: KernelFlow, hint: Hint, claim: Affine) -> set[Atom]:
    """The numbers that earlier hints say are multiples, of nothing that is known to be less."""
    found = set()
    for earlier in takewhile(lambda other: other is not hint, flow.hints):
        atom = None if earlier.value.affine is None else earlier.value.affine.atom
        said = _claim(earlier) if earlier.name == "multiple_of" else None
        if atom is None or said is None:
            continue
        if said.value is None or claim.value is None or said.value % claim.value == 0:
            found.add(atom)
    return found


def _first(value: Affine) -> Affine:
    """The first element along the last axis, as far as lanes tell."""
    total = value
    for atom in value.lanes():
        step = value.factor_of(atom)
        if atom.start is not None:
            total = total + step * (atom.start - Affine.of(atom))
    return total


def _flaw(product: Product, factor: int, claim: Affine) -> Flaw | None:
    """Why the term is no multiple of the claim; None where it is, or where that is unknown."""
    if factor % (claim.value or 2) == 0:
        return None  # of a claim that is no number, a power of two, an even factor may be a multiple
    if any(atom.kind is AtomKind.CONSTEXPR or not _is_plain(atom) for atom in product):
        return None
    if any(atom.name == LOADED for atom in product):
        return Flaw.LOADED
    return Flaw.SIZE if any(atom.kind is AtomKind.PARAM for atom in product) else Flaw.OFF


def _is_plain(atom: Atom) -> bool:
    if atom.kind is AtomKind.LOOP:
        return atom.start is not None and atom.step is not None
    return atom.name == LOADED or atom.kind in (AtomKind.PARAM, AtomKind.PID)
