"""What does a kernel do with a size that it is given: do its programs, and their rounds, go over so many things?

The number of heads is a factor of addresses, and what a program's number is divided by. A length is what tiles are
bounded by, or what an index is wrapped round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import JOINED, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less

_COMPARISONS = frozenset(("LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual", "Equal", "NotEqual"))
_PASSING = frozenset(("minimum", "maximum", JOINED))
_MOVING = (AtomKind.PID, AtomKind.LOOP)


@dataclass
class Work:
    """`tiles` of lanes, or programs and rounds (`turns`), are bounded by the size, indices wrap `round` it, programs
    begin at multiples of it (`parts`), or a loop has so many `rounds`.
    """

    tiles: bool = False
    turns: bool = False
    round: bool = False
    parts: bool = False
    rounds: bool = False


def worked_over(flow: KernelFlow, parameter: str) -> Work:
    """What the kernel does with the number that it is given for a parameter."""
    found = Work()
    for gap in _gaps(flow):
        if _is_bound(gap, parameter):
            kinds = {atom.kind for atom in gap.atoms_inside()}
            moves = not kinds.isdisjoint(_MOVING)
            found.tiles |= moves and AtomKind.LANE in kinds
            found.turns |= moves
    for access in flow.accesses:
        found.tiles |= _is_bound_of_block(access, parameter)
    for atom in _atoms(flow):
        _read(found, atom, parameter)
    found.parts = any(_is_part(value, parameter) for value in _values(flow))
    return found


def _read(found: Work, atom: Atom, parameter: str) -> None:
    """What a remainder and a loop tell."""
    if atom.name == "Modulo" and len(atom.inner) == 2:
        by = atom.inner[1].atom
        found.round |= by is not None and _is_it(by, parameter) and _is_bound(atom.inner[0], parameter)
    ends = [end for end in (atom.start, atom.stop) if end is not None] if atom.kind is AtomKind.LOOP else []
    if any(_is_bound(end, parameter) for end in ends):
        ways = [way for way in (atom.start, atom.step) if way is not None]
        found.rounds = True
        found.turns |= any(one.kind is AtomKind.PID or _is_of_grid(one) for way in ways for one in way.atoms_inside())


def _is_of_grid(atom: Atom) -> bool:
    return atom.name.startswith("tl.num_programs(")


def _is_it(atom: Atom, parameter: str) -> bool:
    return atom.kind in (AtomKind.CONSTEXPR, AtomKind.PARAM) and atom.name == parameter


def _is_bound(value: Affine, parameter: str) -> bool:
    """Whether the parameter is a term of its own, or one of the numbers that a term may be."""
    pending, seen = [value], set[Atom]()
    while pending:
        for product in pending.pop().terms:
            atom = product[0] if len(product) == 1 else None
            if atom is None or atom in seen:
                continue
            if _is_it(atom, parameter):
                return True
            seen.add(atom)
            pending += atom.inner if atom.name in _PASSING else atom.inner[:1] if atom.name == "cdiv" else ()
    return False


def _is_part(value: Affine, parameter: str) -> bool:
    """Whether a program begins at so many times its number."""
    products = (product for product in value.terms if any(_is_it(atom, parameter) for atom in product))
    return any(len(product) == 2 and any(atom.kind is AtomKind.PID for atom in product) for product in products)


def _is_bound_of_block(access: Access, parameter: str) -> bool:
    """Whether it is a size of the tensor along a dimension that tiles move along."""
    block = access.pointer.block
    if block is None:
        return False
    for size, offset in zip(block.shape, block.offsets, strict=False):
        if size is not None and offset is not None and _is_bound(size, parameter):
            return any(atom.kind in _MOVING for atom in offset.atoms_inside())
    return False


def _gaps(flow: KernelFlow) -> Iterator[Affine]:
    """The differences of all that is compared, of masks too."""
    for step in flow.all_steps:
        if step.operation in _COMPARISONS and len(step.operands) == 2:
            left, right = (operand.affine for operand in step.operands)
            if left is not None and right is not None:
                yield left - right
    for access in flow.accesses:
        conditions = () if access.mask is None else access.mask.mask or ()
        yield from (one.gap for one in conditions if isinstance(one, Less))


def _values(flow: KernelFlow) -> Iterator[Affine]:
    for step in flow.all_steps:
        yield from (operand.affine for operand in step.operands if operand.affine is not None)
    for access in flow.accesses:
        if access.pointer.affine is not None:
            yield access.pointer.affine


def _atoms(flow: KernelFlow) -> set[Atom]:
    """Every atom of the kernel, those that loops are bounded by included."""
    found: set[Atom] = set()
    pending = list(dict.fromkeys(_values(flow)))
    for access in flow.accesses:
        block = access.pointer.block
        pending += [] if block is None else [offset for offset in block.offsets if offset is not None]
    while pending:
        new = pending.pop().atoms_inside() - found
        found |= new
        pending += [way for atom in new for way in (atom.start, atom.stop, atom.step) if way is not None]
    return found
