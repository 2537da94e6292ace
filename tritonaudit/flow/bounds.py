"""Does anything keep the lanes of an address inside its tensor? Yes, no because …, or cannot tell."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from tritonaudit.finding import Confidence
from tritonaudit.flow.affine import LOADED, ZERO, Affine, Atom, Kind, Product
from tritonaudit.flow.facts import Access, KernelFlow, exclusive
from tritonaudit.flow.value import Less
from tritonaudit.kernel.launch import Cover, Launch, Origin

_MOVING = (Kind.PID, Kind.LOOP)
_TILE = (*_MOVING, Kind.OPAQUE)


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
    return None


def unbounded(flow: KernelFlow, access: Access, address: Affine, lane: Atom) -> Unbounded | None:
    index = index_of(address, lane)
    if index is None or _is_single(flow, lane):
        return None
    if flow.launches.prunes_remainders:
        return Unbounded(spelled(flow, index), "nothing but the autotuner's pruner speaks of it", Confidence.LOW)
    if _may_be_padded(flow, lane):
        return Unbounded(spelled(flow, index), "the wrapper's padding may not reach as far", Confidence.LOW)
    if is_asserted_full(flow, lane):
        return Unbounded(
            spelled(flow, index), "whether its tiles are asserted to be full cannot be told", Confidence.LOW
        )
    sibling = masked_sibling(flow, access, index, lane)
    if sibling is not None:
        why = "other accesses of this kernel mask the same index"
        return Unbounded(spelled(flow, index), why, Confidence.HIGH, sibling=sibling)
    tiles = [atom for atom in index.atoms() if atom.kind in _MOVING or _is_swizzled(atom)]
    if not tiles:
        return _rounded_up_tile(flow, lane)
    for tile in tiles:
        partial = _partial_loop if tile.kind is Kind.LOOP else _partial_grid
        found = partial(flow, tile, lane, index)
        if found is not None:
            return found
    return Unbounded(spelled(flow, index), "whether its tiles are full cannot be told", Confidence.LOW)


def _is_single(flow: KernelFlow, lane: Atom) -> bool:
    """Whether every launch and config makes its tile one element wide, which cannot be cut off."""
    parameter = None if lane.size is None else _multiple_of(lane.size)
    sizes = [] if parameter is None else flow.launches.sizes(parameter)
    return bool(sizes) and all(size.value == 1 for size in sizes)


def spelled(flow: KernelFlow, index: Affine) -> str:
    """The index by the name that the kernel gives it, else written out."""
    wanted = flattened(index)
    name = next((name for affine, name in flow.indices.items() if flattened(affine) == wanted), None)
    return str(index) if name is None else name


def _may_be_padded(flow: KernelFlow, lane: Atom) -> bool:
    """Whether a wrapper pads and chooses the tile itself, so that it can pad to it; a tuned tile it cannot know."""
    parameter = None if lane.size is None else _multiple_of(lane.size)
    return any(launch.pads and parameter in launch.arguments for launch in flow.launches.launches)


def is_asserted_full(flow: KernelFlow, lane: Atom) -> bool:
    """Whether the kernel or the file's functions assert that a size is a multiple of the lane's extent, or say so."""
    size = lane.size
    if size is None or len(size.terms) != 1:
        return False
    (atoms, count), *_ = size.terms.items()
    for _, divisor in flow.multiples:
        if any(
            _divided(product, atoms) is not None and factor % count == 0 for product, factor in divisor.terms.items()
        ):
            return True
    parameter = _multiple_of(size)
    if parameter is None:
        return False
    said = re.search(rf"(multiple of|divisible by)\W*{parameter}\b", flow.function.docstring or "")
    return said is not None or flow.launches.asks_for_multiples(parameter)


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
    if atom.kind is not Kind.OPAQUE or atom.axes:
        return False
    inside = {inner for part in atom.inner for inner in part.atoms_inside()} | {atom}
    if any(inner.kind is Kind.LOOP or inner.name == LOADED for inner in inside):
        return False
    counted = [part.inner[1] for part in inside if len(part.inner) == 2 and part.name in ("FloorDivide", "Modulo")]
    if any(all(divisor.kind is Kind.CONSTEXPR for divisor in count.atoms()) for count in counted):
        return False  # part of a larger tile, or a head: a number of them that is fixed divides exactly
    return any(inner.kind is Kind.PID for inner in inside)


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
        if atom.kind is Kind.LOOP and atom.start is not None and atom.start.terms:
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
    """Whether an `if` may stand for the mask: a run-time test of the tile, or a constexpr one whose other arm masks."""
    for guard in access.path:
        if not guard.constexpr and any(atom.kind in _MOVING for gap in guard.affines for atom in gap.atoms()):
            return True
    if not any(guard.constexpr for guard in access.path):
        return False
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
    return any(atom.kind is Kind.OPAQUE for atom in index.atoms())


def _wraps_at(index: Affine, condition: Less) -> bool:
    """Whether the tile's number is taken modulo the bound itself: then a tile is one element."""
    bound = Affine({product: factor for product, factor in condition.gap.terms.items() if factor > 0})
    return any(atom.name == "Modulo" and atom.inner[1] == bound for atom in index.atoms() if len(atom.inner) == 2)


def _is_constexpr(condition: Less) -> bool:
    bound = [product for product, factor in condition.gap.terms.items() if factor > 0]
    return all(atom.kind is Kind.CONSTEXPR for product in bound for atom in product)


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
        (tuple((a.name, str(a.size), str(a.start)) if a.kind is Kind.LANE else a.id for a in product), factor)
        for product, factor in index.terms.items()
    )


def _rounded_up_tile(flow: KernelFlow, lane: Atom) -> Unbounded | None:
    """A whole tile whose size the launch rounds up to a power of two is larger than the data."""
    parameter = _constexpr_of(lane.size)
    if parameter is None:
        return None
    if flow.launches.rounds_in_place(parameter):
        return None
    for size in flow.launches.sizes(parameter):
        rounds_up = "next_power_of_2" in size.text and "min(" not in size.text
        if size.origin is Origin.POWER_OF_2 and size.value is None and rounds_up:
            if any(launch.restricts_sizes for launch in flow.launches.launches) or flow.launches.callers_restrict_sizes:
                return None  # the sizes that are let in may be powers of two
            why = f"the launch rounds `{parameter}` up (`{size.text}`), so the last lanes are past the end"
            return Unbounded(spelled(flow, Affine.of(lane)), why, Confidence.HIGH, host=size.node)
    return None


def _constexpr_of(size: Affine | None) -> str | None:
    if size is None or len(size.terms) != 1:
        return None
    (product, factor), *_ = size.terms.items()
    return product[0].name if factor == 1 and len(product) == 1 and product[0].kind is Kind.CONSTEXPR else None


def _multiple_of(size: Affine) -> str | None:
    """The constexpr parameter that the size is a multiple of."""
    if len(size.terms) != 1:
        return None
    (product, _), *_ = size.terms.items()
    return product[0].name if len(product) == 1 and product[0].kind is Kind.CONSTEXPR else None


def _partial_grid(flow: KernelFlow, pid: Atom, lane: Atom, index: Affine) -> Unbounded | None:
    axis = pid.grid_axis
    if pid.kind is Kind.PID and axis is None:
        return None
    axes = flow.launches.rounded_up() if axis is None else flow.launches.grid_axes(axis)
    for launch, grid in axes:
        if grid.cover is not Cover.ROUNDED_UP or launch.checks_divisibility:
            continue
        if is_block(launch, grid.block, lane):
            why = f"the grid is rounded up (`{grid.size}` in blocks of `{grid.block}`), so the last program is partial"
            return Unbounded(spelled(flow, index), why, Confidence.MEDIUM, host=launch.grid)
    return None


def is_block(launch: Launch, block: str, lane: Atom) -> bool:
    """Whether the grid divides by this lane's extent: by the name of its constexpr, or by what is passed for it."""
    if lane.size is None:
        return False
    if lane.size.value is not None:
        return block == str(lane.size.value)
    parameter = _multiple_of(lane.size)
    if parameter is None:
        return False
    argument = launch.arguments.get(parameter)
    return re.search(rf"\b{parameter}\b", block) is not None or (
        argument is not None and ast.unparse(argument) == block
    )


def _partial_loop(flow: KernelFlow, counter: Atom, lane: Atom, index: Affine) -> Unbounded | None:
    """A loop over tiles whose last one is partial unless the size divides, which no wrapper of the file asks for."""
    stop = counter.stop
    if stop is None or not flow.launches.launches or any(map(_checks, flow.launches.launches)):
        return None
    extent = _rounded_extent(stop, lane) if counter.step is not None and counter.step.value == 1 else stop
    if extent is None or not any(atom.kind is Kind.PARAM for atom in extent.atoms()):
        return None
    if len(extent.terms) != 1 or _is_multiple(extent, lane.size) or _is_whole(flow, extent, lane):
        return None
    if any(atom.kind is Kind.OPAQUE or index.terms[product] < 0 for product in index.terms for atom in product):
        return None  # counted from somewhere else, or backwards
    why = f"the last tile of the loop is partial unless `{extent}` is a multiple of `{lane.size}`"
    return Unbounded(spelled(flow, index), why, Confidence.MEDIUM)


def _is_whole(flow: KernelFlow, extent: Affine, lane: Atom) -> bool:
    """Whether the launches make one tile of all."""
    tile = None if lane.size is None else lane.size.atom
    return tile is not None and extent.atom is not None and flow.launches.passes_alike(tile.name, extent.atom.name)


def _is_multiple(extent: Affine, size: Affine | None) -> bool:
    """Whether the extent is written as so many tiles."""
    if size is None or len(size.terms) != 1:
        return False
    ((whole, count),), ((tile, width),) = extent.terms.items(), size.terms.items()
    return _divided(whole, tile) is not None and count % width == 0


def _checks(launch: Launch) -> bool:
    return launch.checks_divisibility


def _rounded_extent(stop: Affine, lane: Atom) -> Affine | None:
    """`n` of a loop over `cdiv(n, BLOCK)` tiles."""
    atoms = list(stop.atoms())
    if len(stop.terms) == 1 and len(atoms) == 1 and atoms[0].name == "cdiv" and atoms[0].inner[1] == lane.size:
        return atoms[0].inner[0]
    return None
