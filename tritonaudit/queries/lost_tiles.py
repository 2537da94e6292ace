"""Tiles that a kernel leaves out by its own arithmetic: every second one, or those of rounds that its loops lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.domains.affine import ONE, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow, exclusive
from tritonaudit.domains.value import Less
from tritonaudit.queries.unbounded import bounded_index, index_of, spelled
from tritonaudit.queries.updates import parameter_of

_MOVING = (AtomKind.PID, AtomKind.LOOP)


@dataclass(frozen=True, eq=False)
class Skipped:
    """The tiles of an index are `width` wide, and each begins `times` as far behind the one before."""

    access: Access
    index: str
    width: Affine
    times: int


@dataclass(frozen=True, eq=False)
class Unreached:
    """The mask of an access in a loop goes on to `bound`, and its rounds end before: where, says `end`."""

    access: Access
    index: str
    bound: Affine
    end: Affine


def skipped_tiles(flow: KernelFlow) -> Iterator[Skipped]:
    """The first access of each parameter whose tiles have gaps between them that no other access fills."""
    seen: set[str] = set()
    for access in flow.accesses:
        parameter, address = parameter_of(access), access.pointer.affine
        if address is None or parameter is None or parameter in seen or _has_neighbour(flow, access, parameter):
            continue
        for lane in sorted(address.lanes(), key=lambda atom: atom.id):
            index = index_of(address, lane)
            times = None if index is None or _is_filled(address, lane) else _times(index, lane)
            if index is not None and times is not None:
                seen.add(parameter)
                yield Skipped(access, spelled(flow, index), lane.size or ONE, times)
                break


def _is_filled(address: Affine, lane: Atom) -> bool:
    """Whether lanes of another axis may be what lies between: they move by so many of the lane's own extents."""
    own = address.factor_of(lane)
    around = {atom for one in (own, lane.size or ONE) for atom in one.atoms()}
    return any(set(address.factor_of(other).atoms()) <= around for other in address.lanes() - {lane})


def _times(index: Affine, lane: Atom) -> int | None:
    """How many tiles it is from one tile to the next, where that is more than one and nothing else moves the index."""
    moving = [atom for product in index.terms for atom in product if atom.kind in _MOVING]
    if len(moving) != 1 or lane.size is None or len(lane.size.terms) != 1:
        return None
    ((width, factor),) = lane.size.terms.items()
    step = index.factor_of(moving[0])
    if len(step.terms) != 1 or (product := next(iter(step.terms))) != width:
        return None
    times, rest = divmod(step.terms[product], factor)
    return times if times > 1 and not rest else None


def _has_neighbour(flow: KernelFlow, access: Access, parameter: str) -> bool:
    """Whether another access of the same tensor is some elements beside it, by what does not move."""
    for other in flow.accesses:
        if other is access or parameter_of(other) != parameter:
            continue
        if other.pointer.affine is None or access.pointer.affine is None:
            return True
        apart = other.pointer.affine - access.pointer.affine
        if apart.terms and not any(atom.kind in _MOVING for atom in apart.atoms_inside()):
            return True
    return False


def unreached_tiles(flow: KernelFlow) -> Iterator[Unreached]:
    """The first access of each loop that its rounds do not bring to the end of its mask."""
    seen: set[Atom] = set()
    for access in flow.accesses:
        for condition in (access.mask.mask or ()) if access.mask is not None else ():
            found = _unreached(flow, access, condition) if isinstance(condition, Less) else None
            if found is not None and found[0] not in seen and not _is_done_elsewhere(flow.accesses, access, found[0]):
                seen.add(found[0])
                yield found[1]


def _unreached(flow: KernelFlow, access: Access, condition: Less) -> tuple[Atom, Unreached] | None:
    index = bounded_index(condition)
    loops = [atom for atom in index.atoms() if atom.kind is AtomKind.LOOP]
    lanes = list(index.lanes())
    if len(loops) != 1 or len(lanes) != 1 or lanes[0].size is None or index.factor_of(lanes[0]) != ONE:
        return None
    (loop,), width, bound = loops, lanes[0].size, condition.gap + index
    if not condition.strict or loop.stop is None or index.factor_of(loop) != width:
        return None
    rounds = loop.stop.atom
    is_short = loop.step == ONE and rounds is not None and rounds.name == "FloorDivide"
    if is_short and rounds is not None and rounds.inner == (bound, width) and not _divides(flow, width, bound):
        return loop, Unreached(access, spelled(flow, index), bound, loop.stop * width)
    if loop.step == width and bound - loop.stop == width:
        return loop, Unreached(access, spelled(flow, index), bound, loop.stop)
    return None


def _divides(flow: KernelFlow, width: Affine, bound: Affine) -> bool:
    """Whether the kernel asserts that whole tiles make up the bound."""
    return any(size == bound and divisor == width for size, divisor in flow.multiples)


def _is_done_elsewhere(accesses: Sequence[Access], access: Access, loop: Atom) -> bool:
    """Whether another access of the same tensor is outside the loop: what the loop leaves may be its part."""
    return any(
        parameter_of(other) == parameter_of(access)
        and not exclusive(other.path, access.path)
        and (other.pointer.affine is None or loop not in other.pointer.affine.atoms_inside())
        for other in accesses
        if other is not access
    )
