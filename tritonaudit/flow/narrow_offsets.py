"""Offsets that are computed in 32 bits though a tensor of real size has more elements than these count."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tritonaudit.flow.affine import JOINED, LOADED, Affine, Atom, Kind
from tritonaudit.flow.affine import Product as Term
from tritonaudit.flow.facts import Access, KernelFlow, Product
from tritonaudit.flow.typical_sizes import TypicalSizes
from tritonaudit.flow.value import Value

_SIZES = (Kind.PARAM, Kind.CONSTEXPR)
_PARTS = ("FloorDivide", "Modulo", "minimum", "maximum", JOINED)
_BITS = 31
_LEAST = 32
"""A product that is typically as large wraps at less than is typical, too."""
_WIDE = re.compile(r"\b(int64|long)\b")
_NARROW = re.compile(r"\b(int32|int)\b")


class Cause(Enum):
    """What tells that the product is meant to be larger than 32 bits hold, or will be."""

    LATE = "it is cast to 64 bits after it has been multiplied"
    UNEVEN = "other offsets of the kernel have 64 bits"
    LOADED = "the index is loaded as 32 bits"
    MANY = "several sizes are multiplied"


@dataclass(frozen=True, eq=False)
class NarrowOffset:
    """A product that the address of `access` has, as large as 2 to the `bits`; `index` is the factor that moves."""

    product: Product
    term: Term
    factor: int
    index: Atom
    cause: Cause
    bits: float
    access: Access


class NarrowOffsets:
    """What of a kernel's addresses is computed in 32 bits, and how large it becomes."""

    def __init__(self, flow: KernelFlow) -> None:
        self._flow = flow

    def found(self) -> list[NarrowOffset]:
        """For each index that moves the product that it makes largest, in the order of the text."""
        largest: dict[Atom, NarrowOffset] = {}
        for offset in self._offsets():
            known = largest.get(offset.index)
            if known is None or offset.bits > known.bits:
                largest[offset.index] = offset
        return list(largest.values())

    def limit(self, offset: NarrowOffset) -> int:
        """From which value of the index on the product is past 32 bits, where its other factors are as is typical."""
        of_index = self.typical.of_factor(offset.index, offset.term)
        return max(1, round(2 ** (_BITS - (offset.bits - of_index))))

    @cached_property
    def typical(self) -> TypicalSizes:
        return TypicalSizes(self._flow.launches, self._blocks)

    def sizes(self, term: Term) -> list[Atom]:
        """The factors that are sizes or strides, and no tile's."""
        return [atom for atom in term if atom.kind in _SIZES and not self.typical.is_tile(atom)]

    def _offsets(self) -> Iterator[NarrowOffset]:
        if not self._flow.accesses:
            return
        for product in self._outermost:
            if product.value.wide or product.value.affine is None:
                continue
            for term, factor in product.value.affine.terms.items():
                index = next((atom for atom in term if _moves(atom)), None)
                if index is None or factor < 0 or (bits := self.typical.of_term(term, factor)) < _LEAST:
                    continue
                cause = self._cause(product, term, index)
                access = None if cause is None else self._access(term)
                if cause is not None and access is not None:
                    yield NarrowOffset(product, term, factor, index, cause, bits, access)

    def _cause(self, product: Product, term: Term, index: Atom) -> Cause | None:
        if id(product.value) in self._widened_late:
            return Cause.LATE
        sizes = self.sizes(term)
        if index.name == LOADED:
            return Cause.LOADED if sizes and self._is_narrow(index) else None
        if len(sizes) < 2:
            return None
        return Cause.UNEVEN if self._widens else Cause.MANY

    @cached_property
    def _outermost(self) -> list[Product]:
        inner = {id(operand) for product in self._flow.products for operand in product.operands}
        return [product for product in self._flow.products if id(product.value) not in inner]

    @cached_property
    def _widened_late(self) -> frozenset[int]:
        casts = (step for step in self._flow.steps if step.operation == "cast")
        return frozenset(id(step.operands[0]) for step in casts if step.operands[-1].dtype == "i64")

    @cached_property
    def _widens(self) -> bool:
        return any(product.value.wide for product in self._flow.products)

    @cached_property
    def _blocks(self) -> frozenset[Atom]:
        sizes = [size for access in self._flow.accesses for size in _block_of(access.pointer)]
        sizes += [edge.affine for _, *edges in self._flow.aranges for edge in edges if edge.affine is not None]
        return frozenset(atom for size in sizes for atom in size.atoms())

    @cached_property
    def _addresses(self) -> list[tuple[Access, Affine]]:
        found = []
        for access in self._flow.accesses:
            block = access.pointer.block
            for address in (access.pointer.affine, None if block is None else block.base):
                if address is not None:
                    found.append((access, address))
        return found

    def _access(self, term: Term) -> Access | None:
        """An access whose address has the term, as it is or multiplied further."""
        for access, address in self._addresses:
            if any(_is_within(term, other) for other in address.terms):
                return access
        return None

    def _is_narrow(self, loaded: Atom) -> bool:
        """Whether the host code says that the tensor which the index is loaded from has 32 bits."""
        origins = {atom for part in loaded.inner for atom in part.atoms() if atom.kind is Kind.PARAM}
        pointers = {access.pointer.origin for access in self._flow.accesses} & origins
        return len(pointers) == 1 and self._host_type(next(iter(pointers))) == "i32"

    def _host_type(self, pointer: Atom | None) -> str | None:
        """`i32` or `i64`, where the file names the type of what is passed for the pointer."""
        if pointer is None:
            return None
        told: set[str] = set()
        for launch in self._flow.launches.launches:
            passed = launch.arguments.get(pointer.name)
            for node in () if passed is None else (passed, *launch.definitions(passed)):
                told |= _types_in(ast.unparse(node))
            if isinstance(passed, ast.Name):
                told |= _types_of(passed.id, launch.module.lines)
        return told.pop() if len(told) == 1 else None


def _types_in(text: str) -> set[str]:
    return {kind for kind, pattern in (("i64", _WIDE), ("i32", _NARROW)) if pattern.search(text)}


def _types_of(name: str, lines: list[str]) -> set[str]:
    """What the lines that set or check a tensor of that name say of its type."""
    about = re.compile(rf"(^\s*{name}\s*=|\b{name}\.(dtype|to|int|long)\b)")
    return set().union(*(_types_in(line) for line in lines if about.search(line)))


def _moves(atom: Atom) -> bool:
    if atom.kind in (Kind.PID, Kind.LOOP) or atom.name == LOADED:
        return True
    return atom.name in _PARTS and any(_moves(inner) for part in atom.inner for inner in part.atoms())


def _is_within(term: Term, other: Term) -> bool:
    rest = list(other)
    for atom in term:
        if atom not in rest:
            return False
        rest.remove(atom)
    return True


def _block_of(pointer: Value) -> Iterator[Affine]:
    dimensions = pointer.block.block if pointer.block is not None else pointer.shape or ()
    return (size for size in dimensions if size is not None)
