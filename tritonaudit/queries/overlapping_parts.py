"""Parts of a buffer, one for each program number, that lie closer together than what is stored in each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import JOINED, LOADED, Affine, Atom, AtomKind, Product
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.facts import Product as Multiplication

_DIVIDED = ("FloorDivide", "Modulo")
_COUNTED = ("cdiv", "FloorDivide")


@dataclass(frozen=True, eq=False)
class Overlap:
    """Stores to `parameter` whose parts are multiples of `length` apart, the `made` product; `length` is the size of
    one sequence only, where sequences begin at numbers that are loaded."""

    access: Access
    made: Multiplication
    parameter: str
    length: str


def overlapping_parts(flow: KernelFlow) -> Iterator[Overlap]:
    """Stores that add `part * length` to where their sequence begins, each such product once."""
    products = dict(_part_products(flow))
    for access in flow.accesses if products else ():
        if access.kind == "load":
            continue
        for address in _addresses(access):
            for term in address.terms:
                found = products.get(term)
                if found is not None and (parameter := _parameter(access)) and _begins_as_close(address, term):
                    del products[term]
                    yield Overlap(access, found[0], parameter, found[1])
                    break


def _part_products(flow: KernelFlow) -> Iterator[tuple[Product, tuple[Multiplication, str]]]:
    """The terms of the text's products that multiply a program's number by the length of one sequence."""
    for made in flow.products:
        for term in made.value.affine.terms if made.value.affine is not None else ():
            length = next((name for atom in term if (name := _length(atom)) is not None), None)
            if length is not None and any(map(_is_number, term)):
                yield term, (made, length)


def _length(atom: Atom) -> str | None:
    """The parameter that holds a size, and was set to what one sequence has of it; or a number of tiles of it."""
    if atom.kind is not AtomKind.OPAQUE or not atom.inner:
        return None
    if atom.name in _COUNTED:
        inner = atom.inner[0].atom
        return None if inner is None or inner.name != JOINED else _length(inner)
    if atom.name != JOINED:
        return None
    kept = [inner for side in atom.inner if (inner := side.atom) is not None and inner.kind is AtomKind.PARAM]
    return kept[0].name if len(kept) == 1 and any(map(_is_difference, atom.inner)) else None


def _is_difference(value: Affine) -> bool:
    """`end - begin`, both loaded."""
    return (
        sorted(value.terms.values()) == [-1, 1]
        and all(len(product) == 1 for product in value.terms)
        and all(atom.name == LOADED for atom in value.atoms())
    )


def _is_number(atom: Atom) -> bool:
    """A program's number, or the quotient or remainder of one."""
    if atom.kind is AtomKind.PID:
        return True
    return atom.name in _DIVIDED and (inner := atom.inner[0].atom) is not None and _is_number(inner)


def _begins_as_close(address: Affine, part: Product) -> bool:
    """Whether sequences follow one another, in rows of what the part's length is multiplied by or of a part of that."""
    rows = [_without(product, atom) for product in address.terms for atom in product if _is_begin(atom)]
    packed = [row for row in rows if not any(_length(atom) for atom in row)]
    return any(all(part.count(atom) >= row.count(atom) for atom in row) for row in packed)


def _without(product: Product, atom: Atom) -> Product:
    return tuple(other for other in product if other is not atom)


def _is_begin(atom: Atom) -> bool:
    """Where a sequence begins: a number that is loaded, at least where sequences differ in length."""
    if atom.name == LOADED:
        return not atom.axes
    sides = [side.atom for side in atom.inner] if atom.name == JOINED and not atom.axes else []
    return any(side is not None and side.name == LOADED for side in sides)


def _addresses(access: Access) -> list[Affine]:
    """The address, or what a block pointer was made of; both of them where an `if` moves the pointer."""
    block = access.pointer.block
    address = access.pointer.affine if block is None else block.base
    if address is None:
        return []
    for atom in (atom for product in address.terms if len(product) == 1 for atom in product):
        if atom.name == JOINED and address.terms[(atom,)] == 1 and any(len(side.terms) > 1 for side in atom.inner):
            rest = address - Affine.of(atom)
            return [address, *(rest + side for side in atom.inner)]
    return [address]


def _parameter(access: Access) -> str | None:
    if access.pointer.block is not None:
        return access.pointer.block.parameter
    return None if access.pointer.origin is None else access.pointer.origin.name
