"""Which thread of a GPU holds which element of a block, as TTGIR's layouts say it.

Sizes are powers of two, so that a layout is known by what each bit of a register's, a lane's or a warp's number adds to
the element's indices: Triton's linear layouts. How the older kinds of layouts come to theirs was read off what Triton
3.6 and 3.9 convert them to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

Basis = tuple[int, ...]
"""What one bit adds to the indices along each axis; zeros where threads hold the same element."""


@dataclass(frozen=True)
class Layout:
    """What each bit adds, from the lowest, of the number of a thread's register, of a lane in its warp, of a warp."""

    registers: tuple[Basis, ...]
    lanes: tuple[Basis, ...]
    warps: tuple[Basis, ...]

    def mapped(self, to: Mapping[Basis, Basis]) -> Layout:
        """With other elements in the same places. Raises KeyError where it is not said which."""

        def moved(bases: Sequence[Basis]) -> tuple[Basis, ...]:
            return tuple(to[basis] for basis in bases if any(basis))

        return Layout(moved(self.registers), moved(self.lanes), moved(self.warps))

    def along(self, axis: int) -> Axis | None:
        """Who holds the elements along an axis; None where an axis is mixed with others."""
        found = []
        for bases in (self.registers, self.lanes, self.warps):
            if any(sum(map(bool, basis)) > 1 or any(step & (step - 1) for step in basis) for basis in bases):
                return None
            found.append(tuple(basis[axis].bit_length() - 1 for basis in bases if basis[axis]))
        return Axis(*found)


@dataclass(frozen=True)
class Axis:
    """The bits of the index along an axis that count registers, lanes and warps, each from their lowest."""

    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]

    @property
    def size(self) -> int:
        return 1 << len(self.registers + self.lanes + self.warps)

    @property
    def is_whole(self) -> bool:
        """Whether each bit of the index is counted once."""
        bits = sorted(self.registers + self.lanes + self.warps)
        return bits == list(range(len(bits)))

    @property
    def places(self) -> list[int]:
        """The indices by register, by lane, by warp."""
        return [sum(one) for one in product(*map(_counted, (self.registers, self.lanes, self.warps)))]


def _counted(bits: Sequence[int]) -> list[int]:
    """What a number stands for whose bits stand for these, from the lowest."""
    found = [0]
    for bit in bits:
        found += [one + (1 << bit) for one in found]
    return found


class Layouts:
    """The layouts of a text of TTGIR."""

    _ALIAS = re.compile(r"^(#\w+) = (#\w+\.\w+<.*>)$", re.MULTILINE)

    def __init__(self, text: str) -> None:
        self._aliases: dict[str, str] = dict(self._ALIAS.findall(text))

    def of(self, text: str, shape: Sequence[int]) -> Layout | None:
        """What an encoding's text says for a block of a shape; None for a kind that is not understood."""
        text = self._aliases.get(text, text)
        kind, fields = _fields(text)
        if kind == "slice":
            return self._slice(fields, shape)
        make = _KINDS.get(kind)
        return make(fields, shape) if make is not None else None

    def _slice(self, fields: Mapping[str, Any], shape: Sequence[int]) -> Layout | None:
        """A layout of one more axis, along which all that it holds is the same."""
        axis = fields["dim"]
        parent = self.of(fields["parent"], [*shape[:axis], 1, *shape[axis:]])
        if parent is None:
            return None

        def without(bases: Sequence[Basis]) -> tuple[Basis, ...]:
            return tuple((*basis[:axis], *basis[axis + 1 :]) for basis in bases)

        registers = tuple(basis for basis in without(parent.registers) if any(basis))
        return Layout(registers, without(parent.lanes), without(parent.warps))


_KIND = re.compile(r"#\w+\.(\w+)<\{(.*)\}>", re.DOTALL)
_FIELD = re.compile(r"(\w+) = (?:(\[[\[\]\d, ]*\])|(\d+)|(#\w+(?:\.\w+<\{.*\}>)?))")


def _fields(text: str) -> tuple[str, dict[str, Any]]:
    """The kind of a layout, and what it says."""
    found = _KIND.fullmatch(text.strip())
    if found is None:
        return "", {}
    fields: dict[str, Any] = {}
    for name, numbers, number, other in _FIELD.findall(found[2]):
        fields[name] = _numbers(numbers) if numbers else int(number) if number else other
    return found[1], fields


def _numbers(text: str) -> Any:
    """Lists of numbers, or of such lists."""
    inner = re.findall(r"\[([\d, ]*)\]", text)
    if text.startswith("[[") or text == "[]":
        return [[int(one) for one in part.split(",")] for part in inner if part.strip()]
    return [int(one) for one in text[1:-1].split(",")]


@dataclass
class _Tile:
    """A block that is covered by ever larger tiles."""

    shape: Sequence[int]

    def __post_init__(self) -> None:
        self.sizes = [1] * len(self.shape)

    def grow(self, sizes: Sequence[int], order: Sequence[int]) -> tuple[Basis, ...]:
        """So many tiles side by side along each axis, counted along the first of `order` first."""
        found = [self._double(axis) for axis in order for _ in range(sizes[axis].bit_length() - 1)]
        return tuple(found)

    def fill(self, order: Sequence[int]) -> tuple[Basis, ...]:
        """As many as the block is large."""
        return self.grow([max(1, whole // size) for whole, size in zip(self.shape, self.sizes, strict=True)], order)

    def _double(self, axis: int) -> Basis:
        step = self.sizes[axis]
        self.sizes[axis] *= 2
        return tuple(step if here == axis and step < size else 0 for here, size in enumerate(self.shape))


def _blocked(fields: Mapping[str, Any], shape: Sequence[int]) -> Layout:
    tile, order = _Tile(shape), fields["order"]
    registers = tile.grow(fields["sizePerThread"], order)
    lanes = tile.grow(fields["threadsPerWarp"], order)
    warps = tile.grow(fields["warpsPerCTA"], order)
    return Layout(registers + tile.fill(order), lanes, warps)


def _nvidia_mma(fields: Mapping[str, Any], shape: Sequence[int]) -> Layout | None:
    """Sums of products in pieces of 16 by 8, of which a lane holds two neighbours in two rows.

    PTX ISA, "Matrix fragments for mma.m16n8k16"; wgmma has such pieces side by side, as many as its instruction has
    columns, and its warps go down the rows first.
    """
    version, rank = fields["versionMajor"], len(shape)
    if version not in (2, 3):
        return None
    rows, columns = rank - 2, rank - 1
    inner_first = list(reversed(range(rank)))
    tile = _Tile(shape)

    def sizes(row: int, column: int) -> list[int]:
        return [*([1] * (rank - 2)), row, column]

    registers = tile.grow(sizes(1, 2), inner_first)
    lanes = tile.grow(sizes(8, 4), inner_first)
    registers += tile.grow(sizes(2, 1), inner_first)
    if version == 3:
        registers += tile.grow(sizes(1, fields["instrShape"][1] // 8), inner_first)
    warps = tile.grow(fields["warpsPerCTA"], inner_first if version == 2 else [rows, columns])
    return Layout(registers + tile.fill(inner_first), lanes, warps)


def _linear(fields: Mapping[str, Any], _: Sequence[int]) -> Layout:
    registers, lanes, warps = (tuple(map(tuple, fields[name])) for name in ("register", "lane", "warp"))
    return Layout(registers, lanes, warps)


_KINDS = {"blocked": _blocked, "nvidia_mma": _nvidia_mma, "linear": _linear}
