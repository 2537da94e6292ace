"""Tiles that are too large for the registers of the threads that they are spread over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import libcst as cst

from tritonaudit.domains.affine import Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, Dot, KernelFlow, Path
from tritonaudit.domains.value import Shape
from tritonaudit.kernel.settings import Setting, settings

REGISTERS = 255
"""What a thread of NVIDIA's GPUs has at most, of 32 bits each."""

_PRODUCT, _COPY = 256, 512
"""So many elements per thread are too many: of a copied tile two of 16 bits may share a register."""


@dataclass(frozen=True, eq=False)
class LargeTile:
    """At `node` the program holds a tile of these extents, `per_thread` elements for each thread of the setting.

    `is_copied` says that it is loaded and stored, and of no known type: four elements of 8 bits share a register.
    """

    setting: Setting
    node: cst.CSTNode
    extents: tuple[int, ...]
    per_thread: int
    is_copied: bool


def large_tiles(flow: KernelFlow) -> Iterator[LargeTile]:
    """For each config or launch, the largest tile of which no thread can hold its part."""
    tiles = [] if flow.is_helper else list(_tiles(flow))
    if not tiles:
        return
    for setting in settings(flow.module, flow.function, flow.launches):
        found = [large for tile in tiles if (large := _large(tile, setting)) is not None]
        if found:
            yield max(found, key=lambda large: large.per_thread)


@dataclass(frozen=True, eq=False)
class _Tile:
    """A matrix product, or what is loaded and stored; no thread can hold `too_many` of its elements."""

    node: cst.CSTNode
    shape: Shape
    too_many: int


def _large(tile: _Tile, setting: Setting) -> LargeTile | None:
    extents = [None if extent is None else number_of(extent, setting.numbers) for extent in tile.shape]
    known = tuple(extent for extent in extents if extent is not None)
    per_thread = prod(known) // setting.threads
    if len(known) < len(extents) or per_thread < tile.too_many:
        return None
    return LargeTile(setting, tile.node, known, per_thread, tile.too_many == _COPY)


def _tiles(flow: KernelFlow) -> Iterator[_Tile]:
    """What every program holds in its registers.

    Operands of matrix products need not be there, and what is reduced as it is loaded need not be there at once.
    """
    if any(step.operation == "dot" for step in flow.all_steps):
        for dot in flow.dots:
            left, right = dot.left.shape, dot.right.shape
            if left and right and len(left) > 1 and _is_always(dot.path) and not _says_dtype(dot):
                yield _Tile(dot.node, (*left[:-1], right[-1]), _PRODUCT)
        return
    stored = {_shape_of(access) for access in flow.accesses if access.kind == "store" and _is_always(access.path)}
    for access in flow.accesses:
        shape = _shape_of(access)
        if access.kind == "load" and shape and shape in stored and _is_always(access.path):
            yield _Tile(access.node, shape, _COPY)


def _shape_of(access: Access) -> Shape | None:
    """The shape of a tile of pointers; None of a block pointer."""
    return access.pointer.shape if access.pointer.block is None else None


def _says_dtype(dot: Dot) -> bool:
    """Whether the sums may be kept in fewer than 32 bits."""
    assert isinstance(dot.node, cst.Call)
    return any(argument.keyword is not None and argument.keyword.value == "out_dtype" for argument in dot.node.args)


def _is_always(path: Path) -> bool:
    """Whether no constant of the launch decides about it."""
    return not any(guard.constexpr for guard in path)


def number_of(value: Affine, numbers: Mapping[str, int]) -> int | None:
    """The number that the constants of a launch make of an expression of constexpr parameters."""
    total = 0
    for product, factor in value.terms.items():
        parts = [_number_of_atom(atom, numbers) for atom in product]
        if None in parts:
            return None
        total += factor * prod(part for part in parts if part is not None)
    return total


def _number_of_atom(atom: Atom, numbers: Mapping[str, int]) -> int | None:
    return numbers.get(atom.name) if atom.kind is AtomKind.CONSTEXPR else None
