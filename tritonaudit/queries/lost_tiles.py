"""Tiles that a kernel leaves out by its own arithmetic: every second one, or those of rounds that its loops lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.domains.affine import GIVEN, ONE, ZERO, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow, exclusive
from tritonaudit.queries.unbounded import bounded_index, index_of, spelled
from tritonaudit.queries.updates import parameter_of


@dataclass(frozen=True, eq=False)
class Skipped:
    """The tiles of an index are `width` wide, and each begins `times` as far behind the one before."""

    access: Access
    index: str
    width: Affine
    times: int


@dataclass(frozen=True, eq=False)
class Unreached:
    """The mask of an access goes on to `bound`, and the tiles that the kernel counts end before: where, says `end`."""

    access: Access
    index: str
    bound: Affine
    end: Affine


def skipped_tiles(flow: KernelFlow) -> Iterator[Skipped]:
    """The first access of each parameter whose tiles have gaps between them that no other access fills."""
    seen: set[str] = set()
    for access in flow.accesses:
        parameter = parameter_of(access)
        if parameter is None or parameter in seen:
            continue
        for index, lane, times in _gaps(access):
            if not _has_neighbour(flow, access, parameter, lane):
                seen.add(parameter)
                yield Skipped(access, spelled(flow, index), lane.size or ONE, times)
                break


def _gaps(access: Access) -> Iterator[tuple[Affine, Atom, int]]:
    """The indices whose tiles are further apart than a tile is wide: of the address, and of the mask where the address
    is computed from them in another way, such as by a quotient and a remainder.
    """
    address = access.pointer.affine or ZERO
    for lane in sorted(address.lanes(), key=lambda atom: atom.id):
        index = None if _is_filled(address, lane) else index_of(address, lane)
        times = None if index is None else _times(index, lane)
        if index is not None and times is not None:
            yield index, lane, times
    for condition in access.comparisons:
        index = bounded_index(condition)
        for lane in index.lanes() - address.lanes() if len(index.lanes()) == 1 else ():
            times = _times(index, lane) if index.factor_of(lane) == ONE else None
            if times is not None:
                yield index, lane, times


def _times(index: Affine, lane: Atom) -> int | None:
    """How many tiles it is from one tile to the next, where that is more than one and nothing else moves the index."""
    width = lane.size or ZERO
    moving = {atom for atom in index.atoms() if atom is not lane} - set(width.atoms())
    if len(moving) != 1 or any(atom.kind in GIVEN for atom in moving):
        return None
    times = _multiple(index.factor_of(moving.pop()), width)
    return times if times is not None and times > 1 else None


def _multiple(value: Affine, unit: Affine) -> int | None:
    """How many times the unit it is; None where that is no number."""
    if len(value.terms) != 1 or len(unit.terms) != 1:
        return None
    ((product, factor),), ((other, by),) = value.terms.items(), unit.terms.items()
    return factor // by if product == other and factor % by == 0 else None


def _is_filled(address: Affine, lane: Atom) -> bool:
    """Whether lanes of another axis may be what lies between: they move by so many of the lane's own tiles."""
    tile = address.factor_of(lane) * (lane.size or ONE)
    return any(_multiple(address.factor_of(other), tile) is not None for other in address.lanes() - {lane})


def _has_neighbour(flow: KernelFlow, access: Access, parameter: str, lane: Atom) -> bool:
    """Whether another access of the same tensor is some tiles beside it, or nobody knows where it is."""
    address = access.pointer.affine
    for other in flow.accesses:
        if other is access or parameter_of(other) != parameter:
            continue
        if other.pointer.affine is None or address is None:
            return True
        apart = other.pointer.affine - address
        tile = address.factor_of(lane) * (lane.size or ONE)
        if _multiple(apart, tile) is not None or (apart.terms and apart.value is None):
            return True
    return False


def unreached_tiles(flow: KernelFlow) -> Iterator[Unreached]:
    """The accesses whose masks are for a last tile that is cut off, where there is none: one for each bound."""
    seen: set[Affine] = set()
    for access in flow.accesses:
        for index, bound, width in _bounded(access):
            end = None if bound in seen or _divides(flow, width, bound) else _end(index, bound, width)
            if end is not None and not _is_done_elsewhere(flow.accesses, access):
                seen.add(bound)
                yield Unreached(access, spelled(flow, index), bound, end)


def _bounded(access: Access) -> Iterator[tuple[Affine, Affine, Affine]]:
    """The indices that a mask, or the check of a block pointer, bounds, what they are below, and how wide a tile is."""
    for condition in access.comparisons:
        index = bounded_index(condition)
        lanes = list(index.lanes())
        if condition.strict and len(lanes) == 1 and index.factor_of(lanes[0]) == ONE:
            yield index, condition.gap + index, lanes[0].size or ZERO
    block = access.pointer.block
    if block is not None and access.checked and not block.descriptor:
        for shape, offset, width in zip(block.shape, block.offsets, block.block, strict=False):
            if shape is not None and offset is not None and width is not None:
                yield offset, shape, width


def _end(index: Affine, bound: Affine, width: Affine) -> Affine | None:
    """Where the tiles end, if the kernel counts whole tiles only, or its loop stops before the last one."""
    loops = [atom for atom in index.atoms() if atom.kind is AtomKind.LOOP]
    stops = [loop.stop for loop in loops if loop.stop is not None]
    if not loops and any(_is_count(atom, "FloorDivide", bound, width) for atom in index.atoms()):
        return None  # it is the last tile
    for atom in {atom for value in (index, *stops) for atom in value.atoms_inside()}:
        if _is_count(atom, "FloorDivide", bound, width):
            return Affine.of(atom) * width
    for loop in loops:
        if loop.stop is not None and loop.step == width == index.factor_of(loop) and bound - loop.stop == width:
            return loop.stop
    for stop in stops:
        for atom in stop.atoms():
            left = stop - Affine.of(atom)
            if _is_count(atom, "cdiv", bound, width) and left.terms and all(f < 0 for f in left.terms.values()):
                return stop * width
    return None


def _is_count(atom: Atom, division: str, bound: Affine, width: Affine) -> bool:
    """Whether it is the number of tiles, of whole ones only or of all."""
    return atom.name == division and atom.inner == (bound, width)


def _divides(flow: KernelFlow, width: Affine, bound: Affine) -> bool:
    """Whether the kernel asserts that whole tiles make up the bound."""
    return any(size == bound and divisor == width for size, divisor in flow.multiples)


def _is_done_elsewhere(accesses: Sequence[Access], access: Access) -> bool:
    """Whether another access of the same tensor is in no loop from 0 on: what is left over may be its part."""
    return any(
        parameter_of(other) == parameter_of(access)
        and not exclusive(other.path, access.path)
        and other.loops != access.loops
        and not any(_is_from_start(atom) for atom in _atoms(other))
        for other in accesses
        if other is not access
    )


def _is_from_start(atom: Atom) -> bool:
    return atom.kind is AtomKind.LOOP and atom.start == ZERO


def _atoms(access: Access) -> Iterator[Atom]:
    block = access.pointer.block
    values = [access.pointer.affine] if block is None else [block.base, *block.offsets]
    for value in values:
        yield from () if value is None else value.atoms()
