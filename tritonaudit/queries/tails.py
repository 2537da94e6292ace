"""Addresses of "the last row of the tile", which is past the end where the last tile is partial.

A loop over the rows of a tile, one at a time, comes to its last row in its last round. Where a tile is a part of a
larger one that is partial, even its first row may be past the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from tritonaudit.domains.affine import ONE, Affine, Atom, AtomKind, Product
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Condition, Less, Opaque
from tritonaudit.queries.unbounded import is_multiple

_MOVING = (AtomKind.PID, AtomKind.LOOP, AtomKind.OPAQUE)
_STEPPING = (AtomKind.LANE, AtomKind.LOOP)


@dataclass(frozen=True)
class Tile:
    """`size` indices from `start`, of which the kernel says elsewhere that those from `bound` on do not exist."""

    start: Affine
    size: Affine
    bound: Affine

    @property
    def last(self) -> Affine:
        return self.start + self.size - ONE


class Reach(Enum):
    """Where in its tile an access is."""

    LAST = "at its last index"
    IN_LOOP = "at one index after the other, up to the last"
    FIRST = "at its first index, the tile being a part of a larger one"


@dataclass(frozen=True, eq=False)
class Tail:
    """An access at an index of a tile that may not exist, and the access that shows the tile to be bounded."""

    access: Access
    tile: Tile
    bounded_by: Access
    reach: Reach


def unclamped_tails(flow: KernelFlow) -> Iterator[Tail]:
    """Accesses at one index of a tile that may be partial, where nothing clamps or masks that index."""
    tiles = {tile: witness for tile, witness in _tiles(flow) if not _is_asked_whole(flow, tile)}
    if not tiles:
        return
    inner = {tile for tile in tiles if _is_part(tile)}
    for access in flow.accesses:
        last_rounds = _last_rounds(access)
        for tile, witness in tiles.items():
            reach = _reach(access, last_rounds, tile, tile in inner)
            if reach is not None and not _is_guarded(access, tile, reach):
                yield Tail(access, tile, witness, reach)
                break


def _is_asked_whole(flow: KernelFlow, tile: Tile) -> bool:
    """Whether the host code takes nothing for where the tiles are cut off but multiples of their size."""
    return is_multiple(flow, tile.bound, tile.size)


def _reach(access: Access, last_rounds: list[Affine], tile: Tile, is_part: bool) -> Reach | None:
    addresses, pointed = _addresses(access), access.pointer.affine if access.pointer.block is None else None
    if any(_holds(address, tile, tile.last) for address in addresses):
        return Reach.LAST
    if any(_holds(address, tile, tile.last) for address in last_rounds):
        return Reach.IN_LOOP
    if is_part and pointed is not None and _holds(pointed, tile, tile.start, alone=True):
        return Reach.FIRST
    return None


def _is_part(tile: Tile) -> bool:
    """Whether the tile starts at a multiple of its size within a larger tile, each counted by a number of its own.

    Numbers that are computed from where the tile is cut off may stay below it.
    """
    if tile.bound.atoms_inside() & tile.start.atoms_inside():
        return False
    moving = [(p, f, [a for a in p if a.kind in _MOVING]) for p, f in tile.start.terms.items()]
    if len(moving) != 2 or any(len(atoms) != 1 for _, _, atoms in moving):
        return False
    widths = {atoms[0]: Affine({tuple(a for a in product if a is not atoms[0]): f}) for product, f, atoms in moving}
    return len(widths) == 2 and tile.size in widths.values() and all(map(_is_constant, widths.values()))


def _is_constant(width: Affine) -> bool:
    return width != ONE and all(atom.kind is AtomKind.CONSTEXPR for atom in width.atoms())


def _tiles(flow: KernelFlow) -> Iterator[tuple[Tile, Access]]:
    for access in flow.accesses:
        for condition in access.comparisons:
            if (tile := _tile_of(condition)) is not None:
                yield tile, access
        block = access.pointer.block
        if block is not None and access.checked:
            for bound, start, size in zip(block.shape, block.offsets, block.block, strict=False):
                if bound is not None and start is not None and size is not None and size != ONE and _moves(start):
                    yield Tile(start, size, bound), access


def _tile_of(condition: Less) -> Tile | None:
    lanes = condition.gap.lanes()
    if len(lanes) != 1 or not condition.strict:
        return None
    (lane,) = lanes
    if condition.gap.terms.get((lane,)) != -1 or lane.size is None or lane.size.value == 1:
        return None
    rest = {product: factor for product, factor in condition.gap.terms.items() if product != (lane,)}
    start = Affine({product: -factor for product, factor in rest.items() if factor < 0})
    bound = Affine({product: factor for product, factor in rest.items() if factor > 0})
    return Tile(start, lane.size, bound) if _moves(start) else None


def _moves(start: Affine) -> bool:
    return any(atom.kind in _MOVING for atom in start.atoms())


def _addresses(access: Access) -> list[Affine]:
    block = access.pointer.block
    if block is not None:
        return [offset for offset in block.offsets if offset is not None]
    return [] if access.pointer.affine is None else [access.pointer.affine]


def _last_rounds(access: Access) -> list[Affine]:
    """Where the access is in the last round of a loop whose number of rounds is fixed."""
    address = access.pointer.affine
    if address is None:
        return []
    rounds = {atom: last for atom in address.atoms() if (last := _last_round(atom)) is not None}
    return [_in_round(address, counter, last) for counter, last in rounds.items()]


def _last_round(atom: Atom) -> Affine | None:
    """What a loop's counter is in the last round: of a loop that takes single steps, up to a constexpr."""
    if (
        atom.kind is not AtomKind.LOOP
        or atom.step is None
        or atom.step != ONE
        or atom.stop is None
        or atom.start is None
    ):
        return None
    last = atom.stop - atom.start - ONE
    return last if all(inner.kind is AtomKind.CONSTEXPR for inner in last.atoms()) else None


def _in_round(address: Affine, counter: Atom, number: Affine) -> Affine:
    rest = Affine({product: factor for product, factor in address.terms.items() if counter not in product})
    return rest + address.factor_of(counter) * number


def _holds(address: Affine, tile: Tile, index: Affine, alone: bool = False) -> bool:
    """Whether the address contains this index of the tile, times some stride; `alone`: with nothing added to it."""
    first = next(iter(tile.start.terms.items()))
    for product, factor in address.terms.items():
        stride = _divided(product, factor, first)
        if stride is None:
            continue
        wanted = (index * stride).terms
        if all(address.terms.get(term) == count for term, count in wanted.items()):
            return not alone or _is_alone(address, stride)
    return False


def _is_alone(address: Affine, stride: Affine) -> bool:
    """Whether no lane or loop goes on from the index in steps of the stride, or of a multiple of it."""
    ((by, _),) = stride.terms.items()
    steps = (product for product in address.terms if any(atom.kind in _STEPPING for atom in product))
    return not any(all(product.count(atom) >= by.count(atom) for atom in by) for product in steps)


def _divided(product: Product, factor: int, by: tuple[Product, int]) -> Affine | None:
    rest = list(product)
    for atom in by[0]:
        if atom not in rest:
            return None
        rest.remove(atom)
    return None if factor % by[1] else Affine({tuple(rest): factor // by[1]})


def _is_guarded(access: Access, tile: Tile, reach: Reach) -> bool:
    """Whether a mask or an enclosing `if` compares something of the tile's start, and not the start alone.

    The start itself is to be compared with where the tile is cut off.
    """
    masks = access.mask.mask if access.mask is not None else frozenset[Condition]()
    if masks is None or any(isinstance(condition, Opaque) for condition in masks):
        return True
    start = {atom for atom in tile.start.atoms() if atom.kind in _MOVING}
    gaps = [condition.gap for condition in masks if isinstance(condition, Less)]
    gaps += [gap for guard in access.path if not guard.constexpr for gap in guard.affines]
    if reach is Reach.IN_LOOP and any(not guard.constexpr and not guard.affines for guard in access.path):
        return True  # it may ask a flag of the row that the loop is at
    about = [gap for gap in gaps if start & gap.atoms_inside()]
    if reach is Reach.FIRST:
        bound = tile.bound.atoms_inside()
        return any(bound & gap.atoms_inside() for gap in about)
    return any(not _asks_for_start(gap, tile) for gap in about)


def _asks_for_start(gap: Affine, tile: Tile) -> bool:
    """Whether the comparison says no more than that the tile, or the larger one that it is a part of, begins."""
    asked = (tile.bound - gap, tile.bound + gap)
    return any(_is_ahead(tile.start - first) for first in asked)


def _is_ahead(distance: Affine) -> bool:
    return all(
        factor > 0 and all(atom.kind is AtomKind.CONSTEXPR for atom in product)
        for product, factor in distance.terms.items()
    )
