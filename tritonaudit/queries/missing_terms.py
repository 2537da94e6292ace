"""Terms that an address lacks, although the kernel shows elsewhere that they belong to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from tritonaudit.domains.affine import GIVEN, JOINED, ONE, ZERO, Affine, Atom, AtomKind, Product
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.host.host import LaunchSite
from tritonaudit.queries.launched import is_last_stride
from tritonaudit.queries.summed import DIVIDED, summed
from tritonaudit.queries.unbounded import bounded_index

_MOVING = (AtomKind.PID, AtomKind.LOOP)


@dataclass(frozen=True, eq=False)
class Missing:
    """What an address lacks, in words, and what to write; the access that shows it, where another one does.

    It is `latent` where what is missing may be a stride of 1, so that nothing is wrong as yet; `launch` is
    the call that makes it so, where one does.
    """

    access: Access
    why: str
    remedy: str
    sibling: Access | None = None
    latent: bool = False
    launch: ast.expr | None = None


def missing_term(flow: KernelFlow, access: Access) -> Missing | None:
    """The first term found to be missing from the access's address."""
    if access.pointer.block is not None:
        return _first_tile(flow, access)
    return (
        _unscaled_start(flow, access)
        or _missing_head(flow, access)
        or _added_indices(flow, access)
        or _still(flow, access)
    )


# -- a tile's start without its stride -----------------------------------------------------------------------------


def _unscaled_start(flow: KernelFlow, access: Access) -> Missing | None:
    """The mask adds a tile's start to the lane; the address adds it, too, but without the lane's stride."""
    address = access.pointer.affine
    if address is None:
        return None
    for condition in access.comparisons:
        index = bounded_index(condition)
        start = Affine({product: factor for product, factor in index.terms.items() if _moves(product)})
        for lane in index.lanes():
            stride = address.factor_of(lane)
            if len(stride.terms) != 1 or stride == ONE or not start.terms or index.factor_of(lane) != ONE:
                continue
            if not all(atom.kind in GIVEN for atom in stride.atoms()):
                continue
            if _is_in(start, address) and not any(product in address.terms for product in (start * stride).terms):
                why = f"the address adds `{start}` to an index whose elements lie `{stride}` apart"
                latent = all(_is_last(flow, atom.name) for atom in stride.atoms())
                why += ", which is right only where that is 1" if latent else ""
                return Missing(access, why, f"multiply `{start}` by `{stride}`, too", latent=latent)
    return None


def _is_last(flow: KernelFlow, stride: str) -> bool:
    """Whether the launches pass for it the stride of a tensor's last dimension, which mostly is 1."""
    sites = flow.launches.sites
    return bool(sites) and all(is_last_stride(site, site.argument(stride)) for site in sites)


def _moves(product: Product) -> bool:
    return any(atom.kind in _MOVING for atom in product)


def _is_in(part: Affine, address: Affine) -> bool:
    return all(address.terms.get(product) == factor for product, factor in part.terms.items())


# -- two indices that are added up -----------------------------------------------------------------------------------


def _added_indices(flow: KernelFlow, access: Access) -> Missing | None:
    """Two of its indices move the address by the same, as if one dimension were both of theirs."""
    for found in summed(access):
        one, other = (atom.spelled for atom in (found.one, found.other))
        if found.other.kind is not AtomKind.LANE:
            why = f"it adds `{one}` to `{other}`, so that programs or lanes that differ meet at one place"
        elif found.one.kind is AtomKind.PID:
            why = f"`{one}` moves it on by one element, and a tile has `{found.other.size}`: the tiles overlap"
        else:
            why = f"it adds `{one}` to `{other}` along another axis of the block, so that lanes meet at one place"
        if found.factor != ONE:
            why += f", each times `{found.factor}`"
        return Missing(access, why, "multiply each index by the stride of its own dimension")
    for site in flow.launches.sites:
        found_there = next(summed(access, partial(_is_passed_twice, site)), None) if site.is_whole else None
        if found_there is not None:
            address = access.pointer.affine or ZERO
            names = [str(address.factor_of(atom)) for atom in (found_there.one, found_there.other)]
            passed = site.argument(names[0])
            why = f"a launch passes `{passed}` for `{names[0]}` and `{names[1]}`, by which two of its indices move it"
            return Missing(access, why, "pass the stride of each dimension", launch=site.call)
    return None


def _is_passed_twice(site: LaunchSite, one: Affine, other: Affine) -> bool:
    """Whether both are parameters for which the launch passes one stride of a tensor."""
    if one == other or one.atom is None or other.atom is None:
        return False
    passed = site.argument(one.atom.name)
    is_stride = passed is not None and passed.atom is not None and site.key(passed.atom)[-2:-1] == ("stride",)
    return is_stride and passed == site.argument(other.atom.name)


def _still(flow: KernelFlow, access: Access) -> Missing | None:
    """The mask moves on with the program, and the address is the same in all programs."""
    address = access.pointer.affine
    if address is None or any(not _is_known(atom) for atom in address.atoms_inside()):
        return None
    for condition in access.comparisons:
        index = bounded_index(condition)
        programs = [atom for atom in index.atoms() if atom.kind is AtomKind.PID]
        if programs and index.lanes() & address.lanes() and not address.atoms_inside() & set(programs):
            start = Affine({p: f for p, f in index.terms.items() if any(atom in programs for atom in p)})
            why = f"its mask moves on by `{start}` from program to program, and its address does not"
            return Missing(access, why, f"add `{start}` to the index")
    return None


def _is_known(atom: Atom) -> bool:
    return atom.kind is not AtomKind.OPAQUE or bool(atom.inner and atom.name != JOINED)


# -- a block pointer that stays at the first tile ------------------------------------------------------------------


def _first_tile(flow: KernelFlow, access: Access) -> Missing | None:
    """A store at the offset 0 of an extent that is split into tiles, where all else is at the tile of the program."""
    block = access.pointer.block
    if block is None or block.descriptor or access.kind != "store":
        return None
    for extent, offset, size in zip(block.shape, block.offsets, block.block, strict=False):
        if offset != ZERO or extent is None or size is None or extent == size:
            continue
        others = [o for o in _tiles(flow, extent, size) if o[1] != ZERO]
        starts = {start for _, start in others}
        alone = all(other.kind == "load" or other is access for other, _ in _tiles(flow, extent, size, ZERO))
        if alone and len(starts) == 1 and all(_of_program(start, size) for start in starts):
            (start,) = starts
            why = f"it is at the first `{size}` of `{extent}`, whichever program runs; other accesses are at `{start}`"
            return Missing(access, why, f"put `{start}` in the place of the offset 0", others[0][0])
    return None


def _tiles(flow: KernelFlow, extent: Affine, size: Affine, at: Affine | None = None) -> Iterator[tuple[Access, Affine]]:
    """The accesses of tiles of this size in dimensions of this extent, with where they start."""
    for access in flow.accesses:
        block = access.pointer.block
        if block is not None:
            for whole, start, tile in zip(block.shape, block.offsets, block.block, strict=False):
                if whole == extent and tile == size and start is not None and at in (None, start):
                    yield access, start


def _of_program(start: Affine, size: Affine) -> bool:
    """`pid * BLOCK` and nothing else."""
    if len(start.terms) != 1:
        return False
    (product, factor), *_ = start.terms.items()
    pids = [atom for atom in product if atom.kind is AtomKind.PID]
    return len(pids) == 1 and factor == 1 and Affine.of(pids[0]) * size == start


# -- an access that stays at the first head ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Rows `count * width` apart, of elements that lie side by side: `count` heads of `width` elements each."""

    count: Atom
    width: Atom
    term: Product


def _missing_head(flow: KernelFlow, access: Access) -> Missing | None:
    """Its rows hold several heads, and it is at the first of them, where all other accesses of such rows move."""
    address = access.pointer.affine
    if address is None or access.pointer.origin is None or (access.pointer.origin,) not in address.terms:
        return None
    for rows in _rows_of(address):
        if _heads(address, rows):
            continue
        siblings = [other for other in flow.accesses if _parameter(other) not in (None, access.pointer.origin.name)]
        seen = [(other, base) for other in siblings if (base := _base(other)) is not None and _holds(base, rows)]
        heads = [_heads(base, rows) for _, base in seen]
        parameters = {_parameter(other) for other, _ in seen}
        if len(parameters) < 2 or not all(heads) or len(frozenset.union(*heads)) != 1:
            continue
        (head,) = frozenset.union(*heads)
        if not _is_reached(address, rows, head):
            count, width = rows.count.name, rows.width.name
            why = (
                f"its rows are `{count} * {width}` apart, and it is at the first `{width}` of them, whichever program"
                f" runs; other accesses add `{head.spelled} * {width}`"
            )
            return Missing(access, why, f"add `{head.spelled} * {width}`", seen[0][0])
    return None


def _rows_of(address: Affine) -> Iterator[_Rows]:
    """How the rows of the address may be made up: a row's number, times two parameters, beside lanes side by side."""
    if not any(address.factor_of(lane) == ONE for lane in address.lanes()):
        return
    for product in address.terms:
        named = [atom for atom in product if atom.kind in GIVEN]
        if len(named) == 2 and len(product) == 3 and named[0] is not named[1]:
            yield _Rows(named[0], named[1], product)
            yield _Rows(named[1], named[0], product)


def _holds(base: Affine, rows: _Rows) -> bool:
    return any(rows.count in product and rows.width in product for product in base.terms)


def _heads(address: Affine, rows: _Rows) -> frozenset[Atom]:
    """What is multiplied by the width alone and depends on nothing but the program's number."""
    found: set[Atom] = set()
    for product in address.terms:
        if len(product) == 2 and rows.width in product and rows.count not in product:
            found |= {atom for atom in product if atom is not rows.width and _is_program(atom)}
    return frozenset(found)


def _is_program(atom: Atom) -> bool:
    """A program id, or the quotient or remainder of one."""
    if atom.kind is AtomKind.PID:
        return True
    inside = {inner for part in atom.inner for inner in part.atoms_inside()}
    return atom.name in DIVIDED and any(i.kind is AtomKind.PID for i in inside) and all(map(_is_fixed, inside))


def _is_fixed(atom: Atom) -> bool:
    return atom.kind in (AtomKind.PID, *GIVEN) or atom.name in (*DIVIDED, "cdiv")


def _is_reached(address: Affine, rows: _Rows, head: Atom) -> bool:
    """Whether the program's number that the head is computed from comes into the address beside the rows' number."""
    programs = {atom for atom in Affine.of(head).atoms_inside() if atom.kind is AtomKind.PID}
    rest = Affine({product: factor for product, factor in address.terms.items() if product != rows.term})
    beside = {atom for product in rest.terms if not set(product) >= {rows.count, rows.width} for atom in product}
    return any(programs & Affine.of(atom).atoms_inside() for atom in beside)


def _base(access: Access) -> Affine | None:
    """The address, or what a block pointer was made of."""
    block = access.pointer.block
    return access.pointer.affine if block is None else block.base


def _parameter(access: Access) -> str | None:
    if access.pointer.block is not None:
        return access.pointer.block.parameter
    return None if access.pointer.origin is None else access.pointer.origin.name
