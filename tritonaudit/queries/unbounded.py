"""Does anything keep the lanes of an address inside its tensor? Yes, no because …, or cannot tell."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import GIVEN, LOADED, ZERO, Affine, Atom, AtomKind, Product
from tritonaudit.domains.facts import Access, KernelFlow, exclusive
from tritonaudit.domains.value import Less
from tritonaudit.finding import Confidence
from tritonaudit.queries.launched import numbers_of
from tritonaudit.queries.memory import memory_for

if TYPE_CHECKING:
    from tritonaudit.host.host import LaunchSite

_MOVING = (AtomKind.PID, AtomKind.LOOP)
_TILE = (*_MOVING, AtomKind.OPAQUE)


@dataclass(frozen=True, eq=False)
class Unbounded:
    """A lane that can run past the end: which index, why that is known, how surely, and the place that shows it."""

    index: str
    why: str
    confidence: Confidence
    sibling: Access | None = None
    host: ast.expr | None = None


def unbounded_lane(flow: KernelFlow, access: Access) -> Unbounded | None:
    """The first lane of the access that no mask bounds although it can run past the end, None when none is known."""
    if access.pointer.block is not None:
        return _unchecked_block(flow, access)
    address = access.pointer.affine
    if address is None or not access.pointer.shape:
        return None
    if access.mask is not None and access.mask.mask is None:
        return None
    covered = frozenset().union(*(c.axes() for c in access.mask.mask)) if access.mask and access.mask.mask else ()
    if is_guarded(flow, access):
        return None
    for lane in sorted(address.lanes(), key=lambda atom: atom.axis):
        if lane.axis not in covered and (found := unbounded(flow, access, address, lane)) is not None:
            return found
    return None if access.mask is not None else _beside_twin(flow, access)


def _beside_twin(flow: KernelFlow, access: Access) -> Unbounded | None:
    """No mask, where another access at the same indices, by whatever strides, has one; in a kernel that compiles."""
    indices = None if flow.mistakes else _indices(access)
    for other in flow.accesses if indices else ():
        conditions = None if other.mask is None else other.mask.mask
        if not conditions or not all(isinstance(one, Less) for one in conditions) or _indices(other) != indices:
            continue
        if _leads_on(access, other):
            index = next((str(one) for one in map(bounded_index, other.comparisons) if one.lanes()), None)
            if index is None:
                continue
            why = "another access at the same indices masks it"
            return Unbounded(index, why, Confidence.MEDIUM, sibling=other)
    return None


def _indices(access: Access) -> frozenset[Product] | None:
    """What moves the address, in whichever steps; None where that is not known, or one tile is all there is."""
    address, origin = access.pointer.affine, access.pointer.origin
    if address is None or origin is None:
        return None
    atoms = address.atoms_inside()
    if any(atom.kind is AtomKind.OPAQUE and not atom.inner for atom in atoms):
        return None
    if not any(atom.kind is AtomKind.LANE for atom in atoms) or not any(atom.kind in _MOVING for atom in atoms):
        return None
    moving = (tuple(atom for atom in product if atom.kind not in GIVEN) for product in address.terms)
    return frozenset(product for product in moving if product)


def _leads_on(access: Access, other: Access) -> bool:
    """Whether the way to the one is the beginning of the other's, and no constant chooses the one for itself."""
    mine, theirs = set(access.path), set(other.path)
    return mine <= theirs or (theirs <= mine and not any(guard.constexpr for guard in mine - theirs))


def unbounded(flow: KernelFlow, access: Access, address: Affine, lane: Atom) -> Unbounded | None:
    """Why the lane can run past the end: at low confidence where nothing shows that tiles are partial."""
    index = index_of(address, lane)
    if index is None or _is_single(flow, lane) or is_asserted_full(flow, lane):
        return None
    name = spelled(flow, index)
    is_padded = _is_padded(flow, access, address, lane)
    sibling = None if is_padded else masked_sibling(flow, access, index, lane)
    if sibling is not None:
        why = "other accesses of this kernel mask the same index"
        return Unbounded(name, why, Confidence.HIGH, sibling=sibling)
    is_tiled = any(atom.kind in _MOVING or _is_swizzled(atom) for atom in index.atoms())
    rounded = None if is_padded else _rounded_up(flow, lane, is_tiled=is_tiled)
    if rounded is not None:
        why, place = rounded
        return Unbounded(name, why, Confidence.MEDIUM, host=place)
    if not is_tiled:
        return None
    return Unbounded(name, "whether its tiles are full is not known", Confidence.LOW)


def _is_single(flow: KernelFlow, lane: Atom) -> bool:
    """Whether every launch and config makes its tile one element wide, which cannot be cut off."""
    parameter = None if lane.size is None else _multiple_of(lane.size)
    return parameter is not None and numbers_of(flow.launches.sites, parameter) == {1}


def spelled(flow: KernelFlow, index: Affine) -> str:
    """The index by the name that the kernel gives it, else written out."""
    wanted = flattened(index)
    name = next((name for affine, name in flow.indices.items() if flattened(affine) == wanted), None)
    return str(index) if name is None else name


def is_asserted_full(flow: KernelFlow, lane: Atom) -> bool:
    """Whether the kernel asserts that a size is a multiple of the lane's extent."""
    size = lane.size
    if size is None or len(size.terms) != 1:
        return False
    (atoms, count), *_ = size.terms.items()
    for _, divisor in flow.multiples:
        if any(
            _divided(product, atoms) is not None and factor % count == 0 for product, factor in divisor.terms.items()
        ):
            return True
    return False


def _unchecked_block(flow: KernelFlow, access: Access) -> Unbounded | None:
    """A block pointer with no boundary check along a tile that another access of the kernel checks."""
    block = access.pointer.block
    if block is None or access.checked or block.descriptor:
        return None
    mine = {tile for tile in zip(block.shape, block.offsets, block.block, strict=False) if None not in tile}
    for other in flow.accesses:
        theirs = other.pointer.block
        if theirs is None or not other.checked or exclusive(other.path, access.path):
            continue
        for tile in zip(theirs.shape, theirs.offsets, theirs.block, strict=False):
            offset = tile[1]
            if tile in mine and offset is not None and any(atom.kind in _MOVING for atom in offset.atoms()):
                index, why = f"{offset} + tl.arange(0, {tile[2]})", "another access of this kernel checks the same tile"
                return Unbounded(index, why, Confidence.HIGH, sibling=other)
    return None


def _is_swizzled(atom: Atom) -> bool:
    """A tile number computed from program ids, as `pid // num_pid_n`."""
    if atom.kind is not AtomKind.OPAQUE or atom.axes:
        return False
    inside = {inner for part in atom.inner for inner in part.atoms_inside()} | {atom}
    if any(inner.kind is AtomKind.LOOP or inner.name == LOADED for inner in inside):
        return False
    counted = [part.inner[1] for part in inside if len(part.inner) == 2 and part.name in ("FloorDivide", "Modulo")]
    if any(all(divisor.kind is AtomKind.CONSTEXPR for divisor in count.atoms()) for count in counted):
        return False  # part of a larger tile, or a head: a number of them that is fixed divides exactly
    return any(inner.kind is AtomKind.PID for inner in inside)


# -- the index that a lane belongs to ------------------------------------------------------------------------------


def index_of(address: Affine, lane: Atom) -> Affine | None:
    """The index along the lane's dimension: the lane itself and the start of its tile, without the stride."""
    stride = address.factor_of(lane)
    if len(stride.terms) != 1:
        return None
    index, starts = Affine.of(lane) + tiles_of(address, lane, stride), ZERO
    for product in index.terms:
        starts = starts + _loop_start(address, product, stride)
    return index + Affine({product: factor for product, factor in starts.terms.items() if product not in index.terms})


def tiles_of(address: Affine, lane: Atom, stride: Affine) -> Affine:
    """The terms of the address that are a tile's number times the lane's extent, without the lane's stride."""
    (scale, factor), *_ = stride.terms.items()
    found: dict[Product, int] = {}
    for product, coefficient in address.terms.items():
        rest = _divided(product, scale)
        if rest is None or lane in product or coefficient % factor:
            continue
        if _is_tile(rest, coefficient // factor, lane):
            found[rest] = coefficient // factor
    return Affine(found)


def _loop_start(address: Affine, tile: Product, stride: Affine) -> Affine:
    """Where the loop over the tiles begins, when the address holds it."""
    for atom in tile:
        if atom.kind is AtomKind.LOOP and atom.start is not None and atom.start.terms:
            begin = (atom.start * stride).terms
            if all(address.terms.get(product) == factor for product, factor in begin.items()):
                return atom.start
    return ZERO


def _divided(product: Product, by: Product) -> Product | None:
    rest = list(product)
    for atom in by:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _is_tile(rest: Product, factor: int, lane: Atom) -> bool:
    """Whether the product is a tile's number times the lane's extent: with a stride left it is another dimension."""
    size = lane.size
    if size is None or len(size.terms) != 1:
        return False
    (atoms, count), *_ = size.terms.items()
    number = _divided(rest, atoms)
    return factor % count == 0 and bool(number) and all(atom.kind in _TILE for atom in number or ())


# -- evidence ------------------------------------------------------------------------------------------------------


def is_guarded(flow: KernelFlow, access: Access) -> bool:
    """Whether an `if` may stand for the mask: a run-time test of the tile, or one whose other arm masks."""
    for guard in access.path:
        if not guard.constexpr and any(atom.kind in _MOVING for gap in guard.affines for atom in gap.atoms()):
            return True
    return any(
        other.mask is not None and other.pointer.origin is access.pointer.origin and exclusive(other.path, access.path)
        for other in flow.accesses
    )


def masked_sibling(flow: KernelFlow, access: Access, index: Affine, lane: Atom) -> Access | None:
    """Another access, on the same way through the kernel, whose mask bounds the same index."""
    wanted = flattened(index)
    whole_tile = len(index.terms) == 1
    for other in flow.accesses:
        if other is access or other.mask is None or exclusive(other.path, access.path):
            continue
        if whole_tile and not _same_place(access, other, lane):
            continue
        for condition in other.mask.mask or ():
            if not isinstance(condition, Less) or flattened(bounded_index(condition)) != wanted:
                continue
            if not (_part_of_tile(index) and (_is_constexpr(condition) or _wraps_at(index, condition))):
                return other
    return None


def _part_of_tile(index: Affine) -> bool:
    """Whether the tile's number is computed, as a remainder is: such tiles divide a larger tile, and exactly."""
    return any(atom.kind is AtomKind.OPAQUE for atom in index.atoms())


def _wraps_at(index: Affine, condition: Less) -> bool:
    """Whether the tile's number is taken modulo the bound itself: then a tile is one element."""
    bound = Affine({product: factor for product, factor in condition.gap.terms.items() if factor > 0})
    return any(atom.name == "Modulo" and atom.inner[1] == bound for atom in index.atoms() if len(atom.inner) == 2)


def _is_constexpr(condition: Less) -> bool:
    bound = [product for product, factor in condition.gap.terms.items() if factor > 0]
    return all(atom.kind is AtomKind.CONSTEXPR for product in bound for atom in product)


def _same_place(access: Access, other: Access, lane: Atom) -> bool:
    """Whether the other access goes through the same tensor with the same stride: a lane alone is no tile's index."""
    mine, theirs = access.pointer, other.pointer
    if mine.origin is not theirs.origin or mine.affine is None or theirs.affine is None:
        return False
    return mine.affine.factor_of(lane) == theirs.affine.factor_of(lane)


def bounded_index(condition: Less) -> Affine:
    """What the condition bounds from above: the terms that it subtracts from the bound."""
    return Affine({product: -factor for product, factor in condition.gap.terms.items() if factor < 0})


def flattened(index: Affine) -> frozenset[tuple[tuple[object, ...], int]]:
    """The index wherever its lanes lie: a row index is the same laid along another axis."""
    return frozenset(
        (tuple((a.name, str(a.size), str(a.start)) if a.kind is AtomKind.LANE else a.id for a in product), factor)
        for product, factor in index.terms.items()
    )


def _rounded_up(flow: KernelFlow, lane: Atom, *, is_tiled: bool) -> tuple[str, ast.expr] | None:
    """What says in the host code that the last tile is partial: it rounds a grid up by the lane's extent, or that."""
    for site in flow.launches.sites:
        size = None if lane.size is None or site.doubt else passed_for(site, lane.size)
        if size is None:
            continue
        facts = site.facts()
        if size.atom is not None and size.atom.name == "next_power_of_2":
            what = f"the launch rounds `{lane.size}` up (`{size}`), so the last lanes are past the end"
            return what, site.call
        for axis in range(3) if is_tiled else ():
            for atom in (site.axis(axis) or ZERO).atoms_inside():
                is_rounded_up = atom.name == "cdiv" and atom.inner[1] == size
                if is_rounded_up and not facts.divides(size, atom.inner[0], is_power=True):  # as many as lanes are
                    why = f"`{atom.inner[0]}` in blocks of `{lane.size}`"
                    place = site.written[axis] if axis < len(site.written) else site.call
                    return f"the grid is rounded up ({why}), so the last program is partial", place
    return None


def _is_padded(flow: KernelFlow, access: Access, address: Affine, lane: Atom) -> bool:
    """Whether every launch passes a tensor of the wrapper's own that is so many whole tiles: a workspace."""
    origin, sites = access.pointer.origin, flow.launches.sites
    for site in sites:
        memory = None if origin is None else memory_for(site, origin.name)
        tile = None if lane.size is None else passed_for(site, lane.size * address.factor_of(lane))
        if memory is None or tile is None or memory.made == "given" or not site.facts().divides(tile, memory.elements):
            return False
    return bool(sites)


def is_multiple(flow: KernelFlow, whole: Affine, size: Affine | None) -> bool:
    """Whether every launch is made only where so many tiles are whole."""
    sites = flow.launches.sites
    for site in sites:
        values = [None if value is None else passed_for(site, value) for value in (size, whole)]
        if values[0] is None or values[1] is None or not site.facts().divides(values[0], values[1]):
            return False
    return bool(sites)


def passed_for(site: LaunchSite, size: Affine) -> Affine | None:
    """What an extent of the kernel is in the host code."""
    missing: list[str] = []

    def argument(atom: Atom) -> Affine:
        found = site.argument(atom.name) if atom.kind in (AtomKind.PARAM, AtomKind.CONSTEXPR) else None
        if found is None:
            missing.append(atom.name)
        return found or ZERO

    value = site.arithmetic.put_in(size, argument)
    return None if missing else value


def _multiple_of(size: Affine) -> str | None:
    """The constexpr parameter that the size is a multiple of."""
    if len(size.terms) != 1:
        return None
    (product, _), *_ = size.terms.items()
    return product[0].name if len(product) == 1 and product[0].kind is AtomKind.CONSTEXPR else None
