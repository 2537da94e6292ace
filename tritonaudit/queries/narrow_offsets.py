"""Offsets that are computed in 32 bits though a tensor of real size has more elements than these count."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import GIVEN, JOINED, LOADED, Affine, Atom, Kind
from tritonaudit.domains.affine import Product as Term
from tritonaudit.domains.facts import Access, KernelFlow, Product
from tritonaudit.domains.value import Less, Step, Value
from tritonaudit.kernel.extents import rank_of
from tritonaudit.kernel.widened import wide_factors, wide_parameters
from tritonaudit.queries.typical_sizes import COUNT_OF_PROGRAMS, TypicalSizes
from tritonaudit.source.outline import Module, dotted_name

if TYPE_CHECKING:
    from libcst import CSTNode

_PARTS = ("FloorDivide", "Modulo", "minimum", "maximum", JOINED)
_BITS = 31
_LEAST, _LEAST_OF_ANNOTATED = 32, 28
"""A product that is typically as large wraps at less than is typical, too; what the file tells of it counts more."""
_MANY = 20
"""So many rows or tokens all rows are, or more."""
_COLUMNS, _SEQUENCES = 13.0, 10.0
_OF_SEQUENCES = re.compile(r"^cu_|seq_?len|lens(_ptr)?$|offsets?(_ptr)?$")
_TABLE, _LESS_OF_A_TABLE = re.compile(r"(?i)(^|_)(w|weights?|emb\w*|tables?)(_|$)"), 2
"""What has a row for each word of a vocabulary, which are fewer than tokens."""
_CACHE = re.compile(r"(^|_)(k|v|kv)_?(cache|buffer|pool)(_?ptrs?)?$")
_DEPTH = 2
_POINTER = re.compile(r"_?(ptrs?|pointer)$")
_WIDE = re.compile(r"\b(int64|long)\b")
_NARROW = re.compile(r"\b(int32|int)\b")


class Cause(Enum):
    """What tells that the product is meant to be larger than 32 bits hold, or will be."""

    ELSEWHERE = "the file multiplies by the same in 64 bits elsewhere"
    LATE = "it is cast to 64 bits after it has been multiplied"
    UNEVEN = "other offsets of the kernel have 64 bits"
    LOADED = "the index is loaded as 32 bits"
    CACHED = "the slot or page of a cache is loaded, often as 32 bits"
    MANY = "several sizes are multiplied"
    ROWS = "the index runs over all rows or tokens"
    ELEMENTS = "the index runs over all elements of a tensor"


@dataclass(frozen=True, eq=False)
class NarrowOffset:
    """A product that the address of `access` has, as large as 2 to the `bits`; `index` is the factor that moves.

    `rest` is what the index is multiplied by; `end` the size that the access's mask keeps the index below, for one that
    is known by its mask alone. `place` is where the index is made, if that is where to widen it; else the product.
    `elsewhere` is where the file multiplies by one of the other factors in 64 bits, or takes it as such.
    """

    product: Product
    term: Term
    factor: int
    index: Atom
    cause: Cause
    bits: float
    access: Access
    place: CSTNode
    rest: Term = ()
    end: Atom | None = None
    elsewhere: ast.BinOp | ast.arg | None = None

    @property
    def reason(self) -> str:
        """What tells that it is meant to be that large, in words."""
        weak = self.cause in (Cause.MANY, Cause.ROWS, Cause.ELEMENTS)
        return (Cause.ELSEWHERE if weak and self.elsewhere is not None else self.cause).value

    @property
    def is_shared(self) -> bool:
        """Whether programs loop over rows that are more than they are themselves."""
        step = self.index.step
        return step is not None and any(atom.name.startswith(COUNT_OF_PROGRAMS) for atom in step.atoms())


class NarrowOffsets:
    """What of a kernel's addresses is computed in 32 bits, and how large it becomes."""

    def __init__(self, flow: KernelFlow) -> None:
        self._flow = flow
        self._made_at: dict[Atom, CSTNode | None] = {}

    def found(self) -> list[NarrowOffset]:
        """For each index, and for each size that bounds one, the product that it makes largest.

        One whose like the file computes in 64 bits tells more.
        """
        offsets = list(self._offsets())
        if not offsets:
            return []
        uses = Counter((offset.index, offset.product) for offset in offsets)
        moved = Counter(index for index, _ in uses)
        largest: dict[object, NarrowOffset] = {}
        for offset in offsets:
            place = self._place(offset, moved[offset.index])
            key = self._end_of(offset) or (offset.index if place is offset.product.node else id(place))
            known = largest.get(key)
            if known is None or _told(offset) > _told(known):
                largest[key] = replace(offset, place=place)
        return list(_unlike(largest.values()))

    def limit(self, offset: NarrowOffset) -> int:
        """From which value of the index on the product is past 32 bits, where its other factors are as is typical."""
        if offset.end is not None:
            return max(1, round(2 ** (_BITS - (offset.bits - self.typical.of_atom(offset.end)))))
        of_index = self._reach(offset.index, offset.term)
        return max(1, round(2 ** (_BITS - (offset.bits - of_index))))

    def counts_activations(self, end: Atom) -> bool:
        """Whether a launch passes the number of a tensor's elements that has sequences: three dimensions or more."""
        return any(
            launch.wrapper is not None and (rank_of(launch, tensor) or 0) > 2
            for launch in self._flow.launches.launches
            if (passed := launch.arguments.get(end.name)) is not None
            for tensor in filter(None, map(_counted, launch.definitions(passed)))
        )

    def size(self, atom: Atom, offset: NarrowOffset) -> int:
        """What the size or stride is taken for; a single one for the length of a row, or what the limit says it is."""
        bits = self._of_rest(atom, offset.term, offset.access)
        if len(self.sizes(offset.term)) < 2 and offset.cause is not Cause.LATE:
            others = tuple(other for other in offset.rest if other is not atom)
            rest = _BITS - math.log2(self.limit(offset)) - self.typical.of_term(others, offset.factor)
            bits = min(bits, max(_COLUMNS, rest))
        return round(2**bits)

    @cached_property
    def typical(self) -> TypicalSizes:
        return TypicalSizes(self._flow.launches, self._blocks, self._unrolled)

    def sizes(self, term: Term) -> list[Atom]:
        """The factors that are sizes or strides, and no tile's."""
        return [atom for atom in term if atom.kind in GIVEN and not self.typical.is_tile(atom)]

    def _end_of(self, offset: NarrowOffset) -> Atom | None:
        """The size that bounds the index, by the mask or by a remainder: what is below it is one index."""
        if offset.end is not None or offset.index.name != "Modulo":
            return offset.end
        ends = list(offset.index.inner[1].atoms())
        return ends[0] if len(ends) == 1 and self.typical.of_atom(ends[0]) >= _MANY else None

    def _reach(self, index: Atom, term: Term) -> float:
        """How far the index goes in this product: a loop's variable to where it stops, whatever its step is."""
        if index in self._sequences or self._joins_sequences(index):
            return _SEQUENCES
        bits = self.typical.of_factor(index, term)
        if index.kind is not Kind.LOOP or index.step is None or len(index.step.terms) != 1:
            return bits
        step = next(iter(index.step.terms))
        return bits + self.typical.of_term(step, 1) if step and _is_within(step, term) else bits

    def _offsets(self) -> Iterator[NarrowOffset]:
        if not self._flow.accesses:
            return
        for product in self._outermost:
            if product.value.wide or product.value.affine is None:
                continue
            for term, factor in product.value.affine.terms.items():
                if factor > 0 and term not in self._widened:
                    offset = self._moving(product, term, factor) or self._bounded(product, term, factor)
                    if offset is not None:
                        yield offset

    def _moving(self, product: Product, term: Term, factor: int) -> NarrowOffset | None:
        """A product of an index that is large by itself."""
        index = next((atom for atom in term if _moves(atom)), None)
        least = _LEAST if self._parameter(term) is None else _LEAST_OF_ANNOTATED
        if index is None or (bits := self.typical.of_term(term, factor)) < least:
            return None
        cause = self._cause(product, term, index)
        access = None if cause is None else self._access(term)
        if cause is None or access is None:
            return None
        bits -= self.typical.of_factor(index, term) - min(self._reach(index, term), self.typical.of_factor(index, term))
        bits -= self._excess(index, term)
        rest = tuple(atom for atom in term if atom is not index)
        beside = self._beside(access, rest)
        if cause in (Cause.ROWS, Cause.LOADED, Cause.CACHED, Cause.ELSEWHERE):
            reach = self._reach(index, term)
            bits = reach + min(bits - reach, beside)
        else:
            bits -= sum(self.typical.of_factor(atom, term) - self._of_rest(atom, term, access) for atom in rest)
        if index.name == LOADED and access.pointer.origin is not None and _TABLE.search(access.pointer.origin.name):
            bits -= _LESS_OF_A_TABLE
        if bits - self.typical.packing(term) < least or (
            not beside and any("stride" in atom.name.lower() for atom in rest)
        ):
            return None
        elsewhere = self._elsewhere(rest)
        return NarrowOffset(product, term, factor, index, cause, bits, access, product.node, rest, None, elsewhere)

    def _bounded(self, product: Product, term: Term, factor: int) -> NarrowOffset | None:
        """A product of an index that a mask keeps below the number of rows or elements."""
        for inside, end, access in self._ends:
            if _is_within(inside, term) and self._is_part(term, access):
                rest = _without(term, inside)
                index = next(filter(_moves, inside), None)
                if index is None or any(map(_runs, rest)):
                    continue
                of_rest = self.typical.of_term(rest, factor)
                if rest:
                    of_rest = min(of_rest, self._beside(access, rest))
                bits = self.typical.of_atom(end) + of_rest
                if bits >= _LEAST:
                    cause = Cause.ROWS if rest else Cause.ELEMENTS
                    place, other = product.node, self._elsewhere(_without(term, (index,)))
                    return NarrowOffset(product, term, factor, index, cause, bits, access, place, rest, end, other)
        return None

    def _excess(self, index: Atom, term: Term) -> float:
        """By how much the index times a tile is taken for more than the size that a mask keeps it below."""
        of_tiles = [part for part, end in self._bounds if index in part and len(part) > 1 and _is_within(part, term)]
        ends = [self.typical.of_atom(end) for part, end in self._bounds if part in of_tiles]
        return max(0.0, self.typical.of_term(of_tiles[0], 1) - max(ends)) if of_tiles else 0.0

    @cached_property
    def _sequences(self) -> frozenset[Atom]:
        """Loaded values that are numbers of sequences: lengths or starts of sequences are looked up by them."""
        found: set[Atom] = set()
        for access in self._flow.accesses:
            pointer, address = access.pointer.origin, access.pointer.affine
            if pointer is not None and address is not None and _OF_SEQUENCES.search(pointer.name.lower()):
                found |= {term[0] for term in address.terms if len(term) == 1 and term[0].name == LOADED}
        return frozenset(found)

    def _joins_sequences(self, index: Atom) -> bool:
        return index.name == JOINED and any(atom in self._sequences for part in index.inner for atom in part.atoms())

    @cached_property
    def _bounds(self) -> list[tuple[Term, Atom]]:
        """Indices, or parts of them, with the size that a mask keeps them below."""
        return [bound for gap, _ in self._gaps for bound in _below(gap)]

    @cached_property
    def _gaps(self) -> list[tuple[Affine, Access]]:
        """By how much masks keep indices below sizes, with the access of each."""
        masks = ((access.mask.mask or (), access) for access in self._flow.accesses if access.mask is not None)
        return [(one.gap, access) for conditions, access in masks for one in conditions if isinstance(one, Less)]

    @cached_property
    def _ends(self) -> list[tuple[Term, Atom, Access]]:
        """Indices, or parts of them, that a mask keeps below a number of rows or elements, with that number."""
        return [(term, end, access) for gap, access in self._gaps for term, end in self._numerous(gap)]

    def _numerous(self, gap: Affine) -> Iterator[tuple[Term, Atom]]:
        """The terms that are kept below a number of rows or elements, but for those that hold all elements.

        A loop that goes up to 2**31 or more has a variable of 64 bits, and no more programs start it than fit.
        """
        for term, end in _below(gap):
            bits = self.typical.of_atom(end)
            holds = bits >= _LEAST and (_is_loops_end(end, gap) or any(map(self.typical.is_capped, term)))
            if bits >= _MANY and not holds:
                yield term, end

    def _beside(self, access: Access, rest: Term) -> float:
        """How large the other parts of the address get: a row is as long as what is added to its start."""
        address = access.pointer.affine
        rest = tuple(self.sizes(rest)) or rest
        bits = 0.0
        for term, factor in () if address is None else address.terms.items():
            if term and factor > 0 and not _is_within(rest, term) and any(_runs(atom) for atom in term):
                bits = max(bits, *(self._runs_to(atom, term) for atom in term if _runs(atom)))
        return bits

    def _of_rest(self, atom: Atom, term: Term, access: Access) -> float:
        """The power of two of a factor; a stride is no more than what is added beside it goes to."""
        bits = self.typical.of_factor(atom, term)
        return min(bits, self._span(access, atom)) if "stride" in atom.name.lower() else bits

    def _span(self, access: Access, stride: Atom) -> float:
        """How far the parts of the address go that do not have this stride."""
        address = access.pointer.affine
        spans = [
            max(self.typical.of_term(term, factor), *(self._runs_to(atom, term) for atom in term))
            for term, factor in (() if address is None else address.terms.items())
            if stride not in term and any(map(_runs, term))
        ]
        return max(spans, default=0.0) + 1

    def _runs_to(self, atom: Atom, term: Term) -> float:
        """Lanes of a tile cover some dimension, and none that this kernel does not say to be short."""
        counts = atom.kind is Kind.LOOP and len(term) == 1 and atom.step is not None and atom.step.value == 1
        if counts or self.typical.is_of_few(term):
            return self.typical.of_factor(atom, term)
        if atom.kind is not Kind.LANE or atom.size is None:
            return max(self.typical.of_factor(atom, term), _COLUMNS)
        number = atom.size.value
        return _COLUMNS if number is None else math.log2(max(1, number))

    def _cause(self, product: Product, term: Term, index: Atom) -> Cause | None:
        if id(product.value) in self._widened_late:
            return Cause.LATE
        sizes = self.sizes(term)
        if index.name == LOADED:
            return self._cause_of_loaded(index, term) if sizes else None
        if not sizes:
            return None
        if len(sizes) < 2:
            of_all = self._reach(index, term) >= _MANY
            return Cause.ROWS if of_all else Cause.ELSEWHERE if self._elsewhere(sizes) else None
        return Cause.UNEVEN if self._widens else Cause.MANY

    def _place(self, offset: NarrowOffset, uses: int) -> CSTNode:
        """Where to widen the index: where it is made, unless it is a program's and moves this product alone."""
        parameter = self._parameter(offset.term) if offset.reason == Cause.ELSEWHERE.value else None
        if parameter is not None:
            return parameter
        made = None if offset.end is not None else self._made(offset.index)
        if made is None or (offset.index.kind is Kind.PID and uses < 2 and len(self.sizes(offset.term)) > 1):
            return offset.product.node
        return made

    def _parameter(self, term: Term) -> CSTNode | None:
        """The first factor that is a parameter which other kernels of the file take as 64 bits."""
        return next((node for atom in term if (node := self._narrow_here.get(atom.name)) is not None), None)

    @cached_property
    def _narrow_here(self) -> dict[str, CSTNode]:
        here = self._flow.tree.function.params.params if self._wide else ()
        return {parameter.name.value: parameter for parameter in here if parameter.name.value in self._wide}

    def _elsewhere(self, factors: Iterable[Atom]) -> ast.BinOp | ast.arg | None:
        known = (self._wide.get(atom.name) or self._factors.get(atom.name) for atom in factors)
        return next((node for node in known if node is not None), None)

    @cached_property
    def _wide(self) -> dict[str, ast.arg]:
        return wide_parameters(self._flow.module)

    @cached_property
    def _factors(self) -> dict[str, ast.BinOp]:
        return wide_factors(self._flow.module)

    def _made(self, index: Atom) -> CSTNode | None:
        """Where a program id, or what is loaded, is made: the index, or what it is computed from."""
        if index not in self._made_at:
            self._made_at[index] = self._find_made(index)
        return self._made_at[index]

    def _find_made(self, index: Atom) -> CSTNode | None:
        place = self._flow.places.get(index)
        if place is not None or (index.kind is not Kind.OPAQUE and index.name != LOADED):
            return place
        if index.name == LOADED:
            return next((node for atom, node in self._flow.places.items() if _is_moved(index, atom)), None)
        inside = [atom for part in index.inner for atom in part.atoms() if _moves(atom)]
        inside.sort(key=lambda atom: atom.name != LOADED)
        return next((node for atom in inside if (node := self._made(atom)) is not None), None)

    @cached_property
    def _outermost(self) -> list[Product]:
        inner = {id(operand) for product in self._flow.products for operand in product.operands}
        return [product for product in self._flow.products if id(product.value) not in inner]

    @cached_property
    def _widened_late(self) -> frozenset[int]:
        return frozenset(id(step.operands[0]) for step in self._casts if step.operands[-1].dtype == "i64")

    @cached_property
    def _casts(self) -> list[Step]:
        return [step for step in self._flow.steps if step.operation == "cast"]

    @cached_property
    def _widens(self) -> bool:
        casts = any(step.operands[-1].dtype == "i64" for step in self._casts)
        takes = any(parameter.wide for parameter in self._flow.function.parameters)
        return (casts or takes) and any(product.value.wide for product in self._flow.products)

    @cached_property
    def _widened(self) -> frozenset[Term]:
        """Products that the kernel computes in 64 bits, too: a flag tells which of the two it takes."""
        wide = (product.value.affine for product in self._flow.products if product.value.wide)
        return frozenset(term for affine in wide if affine is not None for term in affine.terms)

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
        found = []
        for access in self._flow.accesses:
            block = access.pointer.block
            for address in (access.pointer.affine, None if block is None else block.base):
                if address is not None:
                    found.append((access, address))
        return found

    def _is_part(self, term: Term, access: Access) -> bool:
        address = access.pointer.affine
        return address is not None and any(_is_within(term, other) for other in address.terms)

    def _access(self, term: Term) -> Access | None:
        """An access whose address has the term, as it is or multiplied further."""
        for access, address in self._addresses:
            if any(_is_within(term, other) for other in address.terms):
                return access
        return None

    def _cause_of_loaded(self, loaded: Atom, term: Term) -> Cause | None:
        """What the host code says of the tensor which the index is loaded from, or what it is an index of."""
        origins = {atom for part in loaded.inner for atom in part.atoms() if atom.kind is Kind.PARAM}
        pointers = {access.pointer.origin for access in self._flow.accesses} & origins
        if len(pointers) != 1:
            return None
        table = next(iter(pointers))
        told = self._host_type(table)
        if told is None and table is not None and "head" not in table.name.lower():
            access = self._access(term)
            origin = None if access is None else access.pointer.origin
            return Cause.CACHED if origin is not None and _CACHE.search(origin.name.lower()) else None
        return Cause.LOADED if told == "i32" else None

    def _host_type(self, pointer: Atom | None) -> str | None:
        """`i32` or `i64`, where the file names the type of what is passed for the pointer; `i32` if it may be that."""
        if pointer is None:
            return None
        told: set[str] = set()
        for launch in self._flow.launches.launches:
            passed = launch.arguments.get(pointer.name)
            for node in () if passed is None else (passed, *launch.definitions(passed)):
                told |= _types_in(ast.unparse(node))
            if isinstance(passed, ast.Name) and not told:
                told |= _types_of(passed.id, launch.module)
        if not self._flow.launches.launches:
            told |= _types_of(_POINTER.sub("", pointer.name), self._flow.module)
        return "i32" if "i32" in told else "i64" if told else None


def _counted(node: ast.expr) -> ast.expr | None:
    """The tensor whose elements it counts: `x` of `x.numel()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numel":
        return node.func.value
    return None


def _types_in(text: str) -> set[str]:
    return {kind for kind, pattern in (("i64", _WIDE), ("i32", _NARROW)) if pattern.search(text)}


def _types_of(name: str, module: Module, depth: int = 0) -> set[str]:
    """What the host code that sets or checks a tensor of that name says of its type."""
    about = re.compile(rf"\b{name}\.(dtype|to|int|long)\b")
    told = set().union(*(_types_in(line) for line in module.lines if about.search(line)))
    for node in module.nodes(module.tree).of(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id == name:
                told |= _types_in(ast.unparse(node.value))
            elif isinstance(target, ast.Tuple) and depth < _DEPTH and isinstance(node.value, ast.Call):
                told |= _types_of_part(name, target, node.value, module, depth)
    return told


def _types_of_part(name: str, target: ast.Tuple, call: ast.Call, module: Module, depth: int) -> set[str]:
    """What is said of a tensor that a function of the file returns among others."""
    place = next((at for at, part in enumerate(target.elts) if isinstance(part, ast.Name) and part.id == name), None)
    function = next(
        (f for f in module.nodes(module.tree).of(ast.FunctionDef) if f.name == dotted_name(call.func)), None
    )
    told: set[str] = set()
    for node in () if place is None or function is None else module.nodes(function).of(ast.Return):
        if isinstance(node.value, ast.Tuple) and place is not None and place < len(node.value.elts):
            returned = node.value.elts[place]
            if isinstance(returned, ast.Name) and returned.id != name:
                told |= _types_of(returned.id, module, depth + 1)
    return told


def _moves(atom: Atom) -> bool:
    """Whether a program id, a loop's variable or a loaded number is in it, each part looked at once."""
    reached, seen = [atom], {atom}
    for part in reached:  # which grows while it is read
        if part.kind in (Kind.PID, Kind.LOOP) or part.name == LOADED:
            return True
        inside = {inner for one in part.inner for inner in one.atoms()} if part.name in _PARTS else set()
        reached.extend(inside - seen)
        seen |= inside
    return False


def _told(offset: NarrowOffset) -> tuple[bool, float]:
    return offset.elsewhere is not None, offset.bits


def _unlike(offsets: Iterable[NarrowOffset]) -> Iterator[NarrowOffset]:
    """One finding for an index, a product and a place, and one for loops that multiply by the same."""
    seen: set[object] = set()
    for offset in sorted(offsets, key=lambda offset: -offset.bits):
        keys = {offset.index, id(offset.place), id(offset.product)} | (
            {offset.rest} if offset.index.kind is Kind.LOOP else set()
        )
        if not keys & seen:
            yield offset
        seen |= keys


def _is_loops_end(end: Atom, gap: Affine) -> bool:
    """Whether what is compared moves by a loop that goes up to this size."""
    loops = (atom for atom in gap.atoms() if atom.kind is Kind.LOOP)
    return any(loop.stop is not None and end in loop.stop.atoms_inside() for loop in loops)


def _below(gap: Affine) -> list[tuple[Term, Atom]]:
    """The terms that are subtracted from a size: `n - pid * BLOCK - lanes`."""
    ends = [term for term, factor in gap.terms.items() if factor > 0 and term]
    if len(ends) != 1 or len(ends[0]) != 1 or ends[0][0].kind not in GIVEN:
        return []
    return [(term, ends[0][0]) for term, factor in gap.terms.items() if factor == -1]


def _runs(atom: Atom) -> bool:
    return atom.kind is Kind.LANE or _moves(atom)


def _is_moved(moved: Atom, atom: Atom) -> bool:
    """Whether it is the loaded value laid along other axes."""
    return atom.name == LOADED and list(map(str, atom.inner)) == list(map(str, moved.inner))


def _without(term: Term, part: Term) -> Term:
    rest = list(term)
    for atom in part:
        rest.remove(atom)
    return tuple(rest)


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
