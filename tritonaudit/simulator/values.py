"""What the machine holds for a value of the IR: its elements for all programs, and which of them mean anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch

from tritonaudit.simulator.affine import Affine, Places
from tritonaudit.simulator.boxes import Box
from tritonaudit.simulator.ir import Location, Type
from tritonaudit.simulator.numerics.elements import bits_of, dtype_of
from tritonaudit.simulator.rows import Rows

Data: TypeAlias = "torch.Tensor | Affine | Rows | Box"
"""A tensor of shape (programs or 1, *sizes or 1), integers that are affine or rows, or a mask that is a box."""

Mask: TypeAlias = "torch.Tensor | Box"


@dataclass(eq=False, slots=True)
class Doubt:
    """Lanes whose elements mean nothing: those in which `sound` does not hold, since what happened at `origin`.

    `is_masked` says that a mask left out all of them: the language leaves open what they hold, every GPU loads 0.
    `is_unknown` says that some of them may mean something, but not to us: what lies in memory was not there to load.
    """

    sound: Mask
    origin: Location | None
    is_masked: bool = False
    is_unknown: bool = False


_NOWHERE = torch.zeros(1, dtype=torch.bool)
_ALWAYS = torch.ones(1, dtype=torch.bool)


# Not frozen, as `Affine` is not.
@dataclass(eq=False, slots=True)
class Value:
    """A value of all programs. `undefined` tells lanes that no one wrote, `wrapped` those that overflowed.

    Nothing changes it, or what it holds, once it is made.
    """

    data: Data
    undefined: Doubt | None = None
    wrapped: Doubt | None = None

    @property
    def affine(self) -> Affine | None:
        return self.data if isinstance(self.data, Affine) else None

    def tensor(self, type: Type) -> torch.Tensor:
        """Every element, of shape (programs or 1, *sizes or 1)."""
        if isinstance(self.data, torch.Tensor):
            return self.data
        if isinstance(self.data, Box):
            return self.data.tensor()
        return self.data.tensor(dtype_of(type))

    def take(self, index: Places) -> Value:
        """Of the programs at these places."""
        if self.undefined is None and self.wrapped is None:
            return Value(taken(self.data, index))
        return Value(taken(self.data, index), _doubt_taken(self.undefined, index), _doubt_taken(self.wrapped, index))

    def shaped(self, change: Callable[[Mask], Mask], data: Data) -> Value:
        """The same elements in another shape, their doubts along with them."""
        if self.undefined is None and self.wrapped is None:
            return Value(data)
        return Value(data, _doubt_shaped(self.undefined, change), _doubt_shaped(self.wrapped, change))


def unknown(type: Type, origin: Location | None) -> Value:
    """A value of which nothing is known, since what happened at `origin`."""
    shape = [1] * (type.rank + 1)
    return Value(
        torch.zeros(shape, dtype=dtype_of(type)), Doubt(torch.zeros(shape, dtype=torch.bool), origin, is_unknown=True)
    )


def taken(data: Data, index: Places) -> Data:
    """What is held, of the programs at these places."""
    if isinstance(data, torch.Tensor):
        return data if data.shape[0] == 1 else bits_of(data)[index].view(data.dtype)
    return data.take(index)


def everywhere(holds: bool, type: Type) -> Mask:
    """The truth of that type that is the same in all lanes of all programs."""
    if not type.rank:
        return _ALWAYS if holds else _NOWHERE
    return Box((None if holds else (0, 0), *([None] * (type.rank - 1))), type.shape)


def compact(data: torch.Tensor, type: Type) -> Data:
    """Integers that are the same in all lanes of a program are kept so."""
    if type.element in ("i16", "i32", "i64", "index") and data.numel() == data.shape[0]:
        return Affine.per_program(data.reshape(-1).to(torch.int64), type.shape)
    return data


def mask_tensor(mask: Mask) -> torch.Tensor:
    return mask.tensor() if isinstance(mask, Box) else mask


def both(one: Mask, two: Mask) -> Mask:
    """Where both masks hold."""
    if one is two:
        return one
    if isinstance(one, Box) and isinstance(two, Box):
        return one.both(two) if one.shape == two.shape else one.tensor() & two.tensor()
    return mask_tensor(one) & mask_tensor(two)


def is_known_within(inner: Mask, outer: Mask) -> bool:
    """Whether that is so without a look at every lane."""
    if inner is outer:
        return True
    return isinstance(inner, Box) and isinstance(outer, Box) and inner.shape == outer.shape and inner.is_within(outer)


def is_within(inner: Mask, outer: Mask) -> bool:
    """Whether one mask holds only where the other does."""
    if is_known_within(inner, outer):
        return True
    return not bool((mask_tensor(inner) & ~mask_tensor(outer)).any())


def is_same(one: Value, two: Value) -> bool:
    """Whether two values of one type are known to have the same elements."""
    if isinstance(one.data, Affine) and isinstance(two.data, Affine):
        difference = one.data.minus(two.data)
        return difference.is_lane_constant and not bool(torch.as_tensor(difference.base).any())
    if isinstance(one.data, torch.Tensor) and isinstance(two.data, torch.Tensor):
        return bool(torch.equal(bits_of(one.data), bits_of(two.data)))
    return one.data is two.data


def doubts_of(values: Iterable[Value]) -> tuple[Doubt | None, Doubt | None]:
    """What is undefined and what overflowed in any of several operands."""
    undefined: Doubt | None = None
    wrapped: Doubt | None = None
    for value in values:
        if value.undefined is not None:
            undefined = value.undefined if undefined is None else _both_doubts(undefined, value.undefined)
        if value.wrapped is not None:
            wrapped = value.wrapped if wrapped is None else _both_doubts(wrapped, value.wrapped)
    return undefined, wrapped


def joined(doubts: Iterable[Doubt | None]) -> Doubt | None:
    """What is in doubt in any of several operands is in doubt in what is computed of them."""
    found: Doubt | None = None
    for doubt in doubts:
        if doubt is not None:
            found = doubt if found is None else _both_doubts(found, doubt)
    return found


def _both_doubts(one: Doubt, two: Doubt) -> Doubt:
    """Lanes of either; what nobody wrote weighs more than what a mask left out, and what is not known most."""
    if one is two:
        return one
    worse = max((one, two), key=lambda doubt: (doubt.is_unknown, not doubt.is_masked))
    return replace(worse, sound=both(one.sound, two.sound))


def merged(parts: Iterable[tuple[Places, Value]], type: Type, programs: int) -> Value:
    """One value of what groups of programs have, each group at its places."""
    known = list(parts)
    data = _affine_merged(known, programs) or _tensor_merged([(i, part.tensor(type)) for i, part in known], programs)
    return Value(
        data,
        doubt_merged([(i, p.undefined) for i, p in known], programs),
        doubt_merged([(i, p.wrapped) for i, p in known], programs),
    )


def _affine_merged(parts: list[tuple[Places, Value]], programs: int) -> Affine | None:
    pieces = [(index, part.data) for index, part in parts if isinstance(part.data, Affine)]
    first = pieces[0][1] if pieces else None
    if first is None or len(pieces) < len(parts) or any(piece.strides != first.strides for _, piece in pieces):
        return None
    if isinstance(first.number, int) and all(piece is first for _, piece in pieces):
        return first
    base = torch.zeros(programs, dtype=torch.int64)
    for index, piece in pieces:
        base[index] = piece.base
    low, high = min(piece.low for _, piece in pieces), max(piece.high for _, piece in pieces)
    return Affine(base, first.strides, first.shape, low, high)


def _tensor_merged(parts: list[tuple[Places, torch.Tensor]], programs: int) -> torch.Tensor:
    shapes = {part.shape[1:] for _, part in parts}
    shape = shapes.pop() if len(shapes) == 1 else torch.broadcast_shapes(*shapes)
    dtype = parts[0][1].dtype
    found = bits_of(torch.zeros((programs, *shape), dtype=dtype))
    for index, part in parts:
        found[index] = bits_of(part)
    return found.view(dtype)


def doubt_merged(parts: list[tuple[Places, Doubt | None]], programs: int) -> Doubt | None:
    """One doubt of what groups of programs have, each group at its places; where no group is nothing is in doubt."""
    if all(doubt is None for _, doubt in parts):
        return None
    worst = joined([None if doubt is None else replace(doubt, sound=_NOWHERE) for _, doubt in parts])
    assert worst is not None
    rank = max(mask_tensor(doubt.sound).dim() for _, doubt in parts if doubt is not None)
    whole = torch.ones([1] * rank, dtype=torch.bool)
    masks = [(index, whole if doubt is None else mask_tensor(doubt.sound)) for index, doubt in parts]
    return replace(worst, sound=_tensor_merged([(slice(0, programs), whole), *masks], programs))


def _doubt_taken(doubt: Doubt | None, index: Places) -> Doubt | None:
    if doubt is None:
        return None
    sound = taken(doubt.sound, index)
    assert not isinstance(sound, (Affine, Rows))
    return replace(doubt, sound=sound)


def _doubt_shaped(doubt: Doubt | None, change: Callable[[Mask], Mask]) -> Doubt | None:
    return None if doubt is None else replace(doubt, sound=change(doubt.sound))
