"""Addresses of "the last row of the tile", which is past the end where the last tile is partial.

A loop over the rows of a tile, one at a time, comes to its last row in its last round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.flow.affine import ONE, Affine, Atom, Kind, Product
from tritonaudit.flow.facts import Access, KernelFlow
from tritonaudit.flow.value import Condition, Less, Opaque

_MOVING = (Kind.PID, Kind.LOOP, Kind.OPAQUE)


@dataclass(frozen=True)
class Tile:
    """`size` indices from `start`, of which the kernel says elsewhere that those from `bound` on do not exist."""

    start: Affine
    size: Affine
    bound: Affine

    @property
    def last(self) -> Affine:
        return self.start + self.size - ONE


@dataclass(frozen=True, eq=False)
class Tail:
    """An access at the last index of a tile, and the access that shows the tile to be bounded.

    `in_loop` says that it goes through the tile's indices one by one.
    """

    access: Access
    tile: Tile
    bounded_by: Access
    in_loop: bool = False


def unclamped_tails(flow: KernelFlow) -> Iterator[Tail]:
    """Accesses at the last index of a tile that may be partial, where nothing clamps or masks that index."""
    tiles = dict(_tiles(flow))
    if not tiles:
        return
    for access in flow.accesses:
        last_rounds = _last_rounds(access)
        addresses = [*_addresses(access), *last_rounds]
        for tile, witness in tiles.items():
            found = next((address for address in addresses if _holds(address, tile)), None)
            if found is not None and not _is_guarded(access, tile):
                yield Tail(access, tile, witness, any(found is address for address in last_rounds))
                break


def _tiles(flow: KernelFlow) -> Iterator[tuple[Tile, Access]]:
    for access in flow.accesses:
        for condition in (access.mask.mask or ()) if access.mask is not None else ():
            if isinstance(condition, Less) and (tile := _tile_of(condition)) is not None:
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
    if atom.kind is not Kind.LOOP or atom.step is None or atom.step != ONE or atom.stop is None or atom.start is None:
        return None
    last = atom.stop - atom.start - ONE
    return last if all(inner.kind is Kind.CONSTEXPR for inner in last.atoms()) else None


def _in_round(address: Affine, counter: Atom, number: Affine) -> Affine:
    rest = Affine({product: factor for product, factor in address.terms.items() if counter not in product})
    return rest + address.factor_of(counter) * number


def _holds(address: Affine, tile: Tile) -> bool:
    """Whether the address contains the tile's last index, times some stride."""
    first = next(iter(tile.start.terms.items()))
    for product, factor in address.terms.items():
        stride = _divided(product, factor, first)
        if stride is None:
            continue
        wanted = (tile.last * stride).terms
        if all(address.terms.get(term) == count for term, count in wanted.items()):
            return True
    return False


def _divided(product: Product, factor: int, by: tuple[Product, int]) -> Affine | None:
    rest = list(product)
    for atom in by[0]:
        if atom not in rest:
            return None
        rest.remove(atom)
    return None if factor % by[1] else Affine({tuple(rest): factor // by[1]})


def _is_guarded(access: Access, tile: Tile) -> bool:
    """Whether a mask or an enclosing `if` compares something of the tile's start, and not the start alone."""
    masks = access.mask.mask if access.mask is not None else frozenset[Condition]()
    if masks is None or any(isinstance(condition, Opaque) for condition in masks):
        return True
    start = {atom for atom in tile.start.atoms() if atom.kind in _MOVING}
    gaps = [condition.gap for condition in masks if isinstance(condition, Less)]
    gaps += [gap for guard in access.path if not guard.constexpr for gap in guard.affines]
    return any(start & gap.atoms_inside() and not _asks_for_start(gap, tile) for gap in gaps)


def _asks_for_start(gap: Affine, tile: Tile) -> bool:
    """Whether the comparison says no more than that the tile, or the larger one that it is a part of, begins."""
    asked = (tile.bound - gap, tile.bound + gap)
    return any(_is_ahead(tile.start - first) for first in asked)


def _is_ahead(distance: Affine) -> bool:
    return all(
        factor > 0 and all(atom.kind is Kind.CONSTEXPR for atom in product)
        for product, factor in distance.terms.items()
    )
