"""Addresses of "the last row of the tile", which is past the end where the last tile is partial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.flow.affine import ONE, Affine, Kind, Product
from tritonaudit.flow.facts import Access, KernelFlow
from tritonaudit.flow.value import Less

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
    """An access at the last index of a tile, and the access that shows the tile to be bounded."""

    access: Access
    tile: Tile
    bounded_by: Access


def unclamped_tails(flow: KernelFlow) -> Iterator[Tail]:
    """Accesses at the last index of a tile that may be partial, where nothing clamps or masks that index."""
    tiles = dict(_tiles(flow))
    if not tiles:
        return
    for access in flow.accesses:
        addresses = _addresses(access)
        for tile, witness in tiles.items():
            if any(_holds(address, tile) for address in addresses) and not _is_guarded(access, tile):
                yield Tail(access, tile, witness)
                break


def _tiles(flow: KernelFlow) -> Iterator[tuple[Tile, Access]]:
    for access in flow.accesses:
        for condition in (access.mask.mask or ()) if access.mask is not None else ():
            if isinstance(condition, Less) and (tile := _tile_of(condition)) is not None:
                yield tile, access
        block = access.pointer.block
        if block is not None and access.checked:
            for bound, start, size in zip(block.shape, block.offsets, block.block, strict=False):
                if bound is not None and start is not None and size is not None and _moves(start):
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
    """Whether a mask or an enclosing `if` compares something of the tile's start."""
    start = {atom for atom in tile.start.atoms() if atom.kind in _MOVING}
    masks = access.mask.mask or () if access.mask is not None else ()
    if any(isinstance(condition, Less) and start & set(condition.gap.atoms()) for condition in masks):
        return True
    return any(not g.constexpr and any(start & set(gap.atoms()) for gap in g.affines) for g in access.path)
