"""An operation while it is being read, and what its printed form leaves to the reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tritonaudit.simulator.ir import Region, Type

# What the words at the start of an operation say, by MLIR's names of the attributes.
_WORDS = {
    "arith.cmpf": ("predicate",),
    "arith.cmpi": ("predicate",),
    "arith.truncf": ("roundingmode",),
    "tt.atomic_cas": ("sem", "scope"),
    "tt.atomic_load": ("sem", "scope"),
    "tt.atomic_poll": ("sem", "scope"),
    "tt.atomic_rmw": ("atomic_rmw_op", "sem", "scope"),
    "tt.atomic_store": ("sem", "scope"),
    "tt.descriptor_reduce": ("kind",),
    "tt.get_num_programs": ("axis",),
    "tt.get_program_id": ("axis",),
    "ttg.barrier": ("addrSpace",),
}
_FLAGS = frozenset({"allow_reorder", "disjoint", "efficient_layout", "exact", "nneg"})
_STRINGS = {"tt.assert": "message", "tt.elementwise_inline_asm": "asm_string", "tt.print": "prefix"}

# The most groups of one operand that an operation has, the last of which may be missing.
_GROUPS = {
    "tt.atomic_load": 2,  # pointer, mask
    "tt.atomic_poll": 3,  # pointer, value, timeout
    "tt.atomic_rmw": 3,  # pointer, value, mask
    "tt.atomic_store": 3,  # pointer, value, mask
    "tt.histogram": 2,  # values, mask
    "tt.load": 3,  # pointer, mask, other
    "tt.store": 3,  # pointer, value, mask
}


@dataclass
class Draft:
    """What has been read of an operation; `types` are its results', of which there are `expected`.

    `scales` are the places of the operands that follow the word `scale`.
    """

    name: str
    expected: int = 0
    operands: list[int] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    segments: tuple[int, ...] = ()
    successors: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    types: Sequence[Type] = ()
    words: int = 0
    scales: list[int] = field(default_factory=list)

    def word(self, word: str) -> bool:
        """Takes a word that stands alone among the operands, and says whether it is known there."""
        names = _WORDS.get(self.name, ())
        if self.words < len(names):
            self.attributes[names[self.words]] = word
            self.words += 1
        elif word in _FLAGS:
            self.attributes[word] = True
        elif word == "scale" and self.name == "tt.dot_scaled":
            self.scales.append(len(self.operands))
        else:
            return word == "timeout" and self.name == "tt.atomic_poll"
        return True

    def string(self, text: str) -> bool:
        """Takes a string that stands among the operands, and says whether it is known there."""
        name = _STRINGS.get(self.name)
        if name is None:
            return False
        self.attributes[name] = text
        return True


@cache
def segments(name: str, operands: int) -> tuple[int, ...]:
    """How many operands each group has, for an operation whose last groups may be missing."""
    groups = _GROUPS.get(name, 0)
    return tuple(int(group < operands) for group in range(groups))


def _same(type: Type) -> Type:
    return type


def _truth(type: Type) -> Type:
    return Type("i1", type.shape)


def _loaded(pointee: Type, pointers: tuple[int, ...]) -> Type:
    """What is at a pointer, at each of a block of them, or at a block pointer."""
    return Type(pointee.element, pointers + pointee.shape, pointee.pointee)


def _descriptor(type: Type) -> Type:
    """Printed as what is described, without the keyword, or as it is."""
    return Type("desc", (), type.pointee)


def _element(type: Type) -> Type:
    return type.scalar


_FROM_FIRST = {
    "arith.cmpf": _truth,
    "arith.cmpi": _truth,
    "math.isfinite": _truth,
    "math.isinf": _truth,
    "math.isnan": _truth,
    "math.isnormal": _truth,
    "math.fpowi": _same,
    "tt.addptr": _same,
    "tt.unsplat": _element,
}
_FROM_LAST = {"arith.select": _same, "tt.make_tensor_descriptor": _descriptor}


def result_types(name: str, printed: Sequence[Type], count: int) -> Sequence[Type]:
    """The types of results, of which only the operands' may be printed."""
    if name == "tt.load":
        return [_loaded(type.pointee, type.shape) for type in printed[:1] if type.pointee]
    if name in _FROM_FIRST:
        return [_FROM_FIRST[name](type) for type in printed[:1]]
    if name in _FROM_LAST:
        return [_FROM_LAST[name](type) for type in printed[-1:]]
    return printed if len(printed) == count else [*printed] * count
