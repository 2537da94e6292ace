"""Offsets that are computed in 32 bits, where the project has the like in 64 bits, or up to where they are right."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Union

from tritonaudit.domains.affine import GIVEN, JOINED, LOADED, Affine, Atom, AtomKind
from tritonaudit.domains.affine import Product as Term
from tritonaudit.domains.facts import Access, KernelFlow, Product
from tritonaudit.domains.value import Less, Value
from tritonaudit.queries.launched import element_type, elements_counted, most_of
from tritonaudit.queries.wide_products import WideProduct, wide_products

if TYPE_CHECKING:
    from libcst import CSTNode

Elsewhere = Union[ast.expr, ast.arg, "CSTNode"]
_PARTS = ("FloorDivide", "Modulo", "minimum", "maximum", JOINED)
_LIMIT = 1 << 31
_FEW, _MANY = 1 << 10, 3
COUNT_OF_PROGRAMS = "tl.num_programs("


class Cause(Enum):
    """What tells that the product is meant to be larger than 32 bits hold, or that it is a limit and no more."""

    LATE = "it is cast to 64 bits after it has been multiplied"
    UNEVEN = "the kernel has the same index in 64 bits for another address"
    ELSEWHERE = "the file multiplies by the same in 64 bits elsewhere"
    LOADED = "the index is loaded as 32 bits"
    LIMIT = "nothing shows how large it gets"

    @property
    def is_limit(self) -> bool:
        return self in (Cause.LOADED, Cause.LIMIT)


@dataclass(frozen=True, eq=False)
class NarrowOffset:
    """A product that the address of `access` has; `index` is the factor that moves, `sizes` what the launch gives.

    `place` is where the index is made, if that is where to widen it, else the product. `elsewhere` is where the file
    has the like in 64 bits. `is_wide` of a limit: the tensor has three dimensions or more, or programs share its rows.
    """

    product: Product
    term: Term
    factor: int
    index: Atom
    sizes: tuple[Atom, ...]
    cause: Cause
    access: Access
    place: CSTNode
    elsewhere: Elsewhere | None = None
    is_wide: bool = True

    @property
    def rest(self) -> Term:
        """What the index is multiplied by."""
        return tuple(atom for atom in self.term if atom is not self.index)


def narrow_offsets(flow: KernelFlow) -> list[NarrowOffset]:
    """What the project itself contradicts, one for an index and a product; and the nearest limit of the others."""
    found = _Offsets(flow).placed() if flow.accesses else []
    reported: list[NarrowOffset] = []
    seen: set[object] = set()
    for offset in sorted(found, key=lambda one: (one.cause.is_limit, -len(one.sizes))):
        keys = {offset.index, id(offset.place), id(offset.product), *([offset.rest] if offset.index.stop else [])}
        keys |= {id(offset.elsewhere)} if offset.elsewhere is not None else set()
        if not offset.cause.is_limit and not keys & seen:
            reported.append(offset)
            seen |= keys
    limits = [offset for offset in found if offset.cause.is_limit]
    nearest = max(limits, key=lambda one: (one.is_wide, one.cause is Cause.LOADED, len(one.sizes)), default=None)
    return reported or ([] if nearest is None else [nearest])


class _Offsets:
    """The products in the addresses of one kernel."""

    def __init__(self, flow: KernelFlow) -> None:
        self._flow = flow
        self._most: dict[Atom, int | None] = {}

    def placed(self) -> list[NarrowOffset]:
        """Each where the index is to be widened."""
        found = list(self._found())
        moved = Counter(index for index, _ in {(offset.index, offset.product) for offset in found})
        return [replace(offset, place=self._place(offset, moved[offset.index])) for offset in found]

    def _found(self) -> Iterator[NarrowOffset]:
        for product in self._outermost:
            if product.value.wide:
                continue
            for term, factor in _terms(product.value).items():
                if factor > 0 and term not in self._widened:
                    index = next((atom for atom in term if moves(atom)), None)
                    offset = None if index is None else self._offset(product, term, factor, index)
                    if offset is not None:
                        yield offset

    def _offset(self, product: Product, term: Term, factor: int, index: Atom) -> NarrowOffset | None:
        sizes = tuple(atom for atom in term if self._may_be_size(atom))
        access = next((one for one, address in self._addresses if term in address.terms), None)
        if access is None or _is_part_of_a_row(index) or (sizes and not self._has_rows(access, sizes)):
            return None  # before the host code is asked, which is dear
        sizes = tuple(atom for atom in sizes if self._is_size(atom))
        if not sizes:
            return self._flat(product, term, factor, index)
        if self._is_small(term, factor):
            return None
        cause, elsewhere = self._cause(product, index, sizes)
        if cause is None:
            return None
        is_wide = cause is not Cause.LIMIT or len(sizes) >= _MANY or _is_shared(index)
        return NarrowOffset(product, term, factor, index, sizes, cause, access, product.node, elsewhere, is_wide)

    def _flat(self, product: Product, term: Term, factor: int, index: Atom) -> NarrowOffset | None:
        """The number of a tensor's elements, as launches pass it, is what a mask keeps the whole offset below."""
        for access, address in self._addresses:
            origin, mask = access.pointer.origin, access.mask
            offset = address if origin is None else address - Affine.of(origin)
            if origin is None or mask is None or term not in offset.terms or any(a.stop for a in offset.atoms()):
                continue
            for condition in mask.mask or ():
                end = (condition.gap + offset).atom if isinstance(condition, Less) else None
                is_number = end is not None and end.kind in GIVEN
                counted = is_number and not self._is_small([end] if end else [], 1) and not self._is_small(term, factor)
                ranks = list(elements_counted(self._flow.launches.sites, end.name)) if counted and end else []
                if end is not None and ranks:
                    is_wide = any(rank is not None and rank > 2 for rank in ranks)
                    place = product.node
                    return NarrowOffset(
                        product, term, factor, index, (end,), Cause.LIMIT, access, place, is_wide=is_wide
                    )
        return None

    def _cause(self, product: Product, index: Atom, sizes: tuple[Atom, ...]) -> tuple[Cause | None, Elsewhere | None]:
        if id(product.value) in self._widened_late and (len(sizes) > 1 or sizes[0].kind is AtomKind.PARAM):
            return Cause.LATE, None
        if index.name == LOADED:
            return (Cause.LOADED if self._is_loaded_narrow(index) else None), None
        for wide in self._flow.products if self._widened else ():
            if wide.value.wide and self._is_alike(wide, index, len(sizes)):
                return Cause.UNEVEN, wide.node
        if self._widened:
            return None, None  # who widens some knows what the others come to
        names = {atom.name for atom in sizes}
        elsewhere = next((one for one in self._elsewhere if one.sizes <= names), None)
        return (Cause.LIMIT, None) if elsewhere is None else (Cause.ELSEWHERE, elsewhere.node)

    def _is_alike(self, wide: Product, index: Atom, sizes: int) -> bool:
        """Whether it is the index, which is widened, and nothing else that moves, times no more sizes."""
        moving = _moving(wide.value)
        indices = {index, *(atom for part in index.inner for atom in part.atoms() if index.name == JOINED)}
        both = indices & self._widened_indices & (set(moving[0]) if len(moving) == 1 else set())
        return bool(both) and 0 < sum(map(self._is_size, moving[0])) <= sizes

    @cached_property
    def _widened_indices(self) -> frozenset[Atom]:
        """The indices that have 64 bits before they are multiplied by any size."""
        operands = [operand for product in self._flow.products for operand in product.operands if operand.wide]
        alone = (terms[0] for operand in operands if len(terms := _moving(operand)) == 1)
        return frozenset(atom for term in alone if not any(map(self._is_size, term)) for atom in term if moves(atom))

    def _is_loaded_narrow(self, index: Atom) -> bool:
        """Whether every launch passes 32 bits for the table that it is loaded from."""
        origins = {atom.name for part in index.inner for atom in part.atoms() if atom.kind is AtomKind.PARAM}
        tables = {access.pointer.origin.name for access in self._flow.accesses if access.pointer.origin} & origins
        return len(tables) == 1 and element_type(self._flow.launches.sites, *tables) == "int32"

    # -- sizes ---------------------------------------------------------------------------------------------------

    def _is_size(self, atom: Atom) -> bool:
        """Whether the launch gives it, any number, and no tile is as wide."""
        most = self._most_of(atom) if self._may_be_size(atom) else 0
        return most is None or most > _FEW

    def _may_be_size(self, atom: Atom) -> bool:
        return atom.kind in GIVEN and atom not in self._blocks and atom not in self._unrolled

    def _is_small(self, term: Iterable[Atom], factor: int) -> bool:
        """Whether no launch makes it as large as 32 bits do not hold."""
        total = factor
        for atom in term:
            most = self._most_of(atom)
            if most is None:
                return False
            total *= most
        return total < _LIMIT

    def _most_of(self, atom: Atom) -> int | None:
        if atom not in self._most:
            self._most[atom] = most_of(self._flow.launches.sites, atom)
        return self._most[atom]

    def _has_rows(self, access: Access, sizes: tuple[Atom, ...]) -> bool:
        """Whether rows of any length lie beside: lanes that a mask cuts off, or that move on."""
        address = access.pointer.affine
        if access.pointer.block is not None or address is None:
            return access.pointer.block is not None
        others = [term for term in address.terms if not set(sizes) <= set(term)]
        lanes = [term for term in others if any(atom.kind is AtomKind.LANE for atom in term)]
        moving = [term for term in others if any(map(moves, term)) and not set(sizes) & set(term)]
        return bool(lanes) and (access.mask is not None or bool(moving) or any(len(term) > 1 for term in lanes))

    # -- places --------------------------------------------------------------------------------------------------

    def _place(self, offset: NarrowOffset, uses: int) -> CSTNode:
        """The parameter that another kernel takes as 64 bits; where the index is made; or the product."""
        if isinstance(offset.elsewhere, ast.arg):
            named = [p for p in self._flow.tree.function.params.params if p.name.value == offset.elsewhere.arg]
            if named:
                return named[0]
        of_program = offset.index.kind is AtomKind.PID
        is_tiled = of_program and len(offset.term) > 1 + len(offset.sizes)
        is_flat = not set(offset.sizes) <= set(offset.term)
        made = self._made(offset.index)
        stays = made is None or is_tiled or is_flat or (of_program and uses < 2 and len(offset.sizes) > 1)
        return offset.product.node if stays or made is None else made

    def _made(self, index: Atom) -> CSTNode | None:
        place = self._flow.places.get(index)
        if place is not None or (index.kind is not AtomKind.OPAQUE and index.name != LOADED):
            return place
        if index.name == LOADED:  # the same laid along other axes
            inner = list(map(str, index.inner))
            same = (a for a in self._flow.places if a.name == LOADED and list(map(str, a.inner)) == inner)
            return next((self._flow.places[atom] for atom in same), None)
        inside = [atom for part in index.inner for atom in part.atoms() if moves(atom)]
        inside.sort(key=lambda atom: atom.name != LOADED)
        return next((node for atom in inside if (node := self._made(atom)) is not None), None)

    # -- the kernel ----------------------------------------------------------------------------------------------

    @cached_property
    def _outermost(self) -> list[Product]:
        inner = {id(operand) for product in self._flow.products for operand in product.operands}
        return [product for product in self._flow.products if id(product.value) not in inner]

    @cached_property
    def _elsewhere(self) -> list[WideProduct]:
        return list(wide_products(self._flow.module, self._flow.function))

    @cached_property
    def _widened_late(self) -> frozenset[int]:
        casts = (step for step in self._flow.steps if step.operation == "cast")
        return frozenset(id(step.operands[0]) for step in casts if step.operands[-1].dtype == "i64")

    @cached_property
    def _widened(self) -> frozenset[Term]:
        """Products that the kernel computes in 64 bits, too: a flag tells which of the two it takes."""
        return frozenset(
            term for product in self._flow.products if product.value.wide for term in _terms(product.value)
        )

    @cached_property
    def _blocks(self) -> frozenset[Atom]:
        sizes = [size for access in self._flow.accesses for size in _block_of(access.pointer)]
        edges = (edge for arange in self._flow.aranges for edge in (arange.start, arange.end))
        sizes += [edge.affine for edge in edges if edge.affine is not None]
        return frozenset(atom for size in sizes for atom in size.atoms())

    @cached_property
    def _unrolled(self) -> frozenset[Atom]:
        """Sizes that a loop runs over which is written out when compiling."""
        stops = (use.value.affine for use in self._flow.shape_uses if use.where == "tl.static_range")
        return frozenset(term[0] for stop in stops if stop is not None for term in stop.terms if len(term) == 1)

    @cached_property
    def _addresses(self) -> list[tuple[Access, Affine]]:
        blocks = [(access, access.pointer.block) for access in self._flow.accesses]
        bases = [(access, block.base) for access, block in blocks if block is not None and block.base is not None]
        plain = [(one, one.pointer.affine) for one in self._flow.accesses]
        return [(access, address) for access, address in plain if address is not None] + bases


def moves(atom: Atom) -> bool:
    """Whether a program id, a loop's variable or a loaded number is in it, each part looked at once."""
    reached, seen = [atom], {atom}
    for part in reached:  # which grows while it is read
        if part.kind in (AtomKind.PID, AtomKind.LOOP) or part.name == LOADED:
            return True
        inside = {inner for one in part.inner for inner in one.atoms()} if part.name in _PARTS else set()
        reached.extend(inside - seen)
        seen |= inside
    return False


def _is_part_of_a_row(index: Atom) -> bool:
    """Whether it is a remainder: of tiles one of all rows, of a program's number one of few parts."""
    return index.name == "Modulo" and not any(part.lanes() for part in index.inner)


def _is_shared(index: Atom) -> bool:
    """Whether programs loop over rows that are more than they are themselves."""
    step = index.step
    return step is not None and any(atom.name.startswith(COUNT_OF_PROGRAMS) for atom in step.atoms())


def _moving(value: Value) -> list[Term]:
    """The terms that are not the same for all programs and rounds."""
    return [term for term in _terms(value) if any(map(moves, term))]


def _terms(value: Value) -> Mapping[Term, int]:
    return {} if value.affine is None else value.affine.terms


def _block_of(pointer: Value) -> Iterator[Affine]:
    dimensions = pointer.block.block if pointer.block is not None else pointer.shape or ()
    return (size for size in dimensions if size is not None)
