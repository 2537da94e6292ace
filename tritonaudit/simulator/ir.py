"""Triton's IR (TTIR) as data: what `parse` makes of a module's text, and what the machine executes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Type:
    """The type of a value: a scalar, a block of them, or a block pointer or tensor descriptor.

    `element` is MLIR's name (`f32`, `bf16`, `f8E4M3FN`, `i1`, `i64`, `index`), `ptr` for an address, or `desc` for a
    tensor descriptor; `pointee` is what those two point to. `shape` is empty for a scalar.
    """

    element: str
    shape: tuple[int, ...] = ()
    pointee: Type | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        return self.element[0] == "f" or self.element == "bf16"

    @property
    def is_integer(self) -> bool:
        return self.element[0] == "i"

    @property
    def is_pointer(self) -> bool:
        return self.element == "ptr"

    @property
    def scalar(self) -> Type:
        """The type of one element."""
        return Type(self.element, (), self.pointee)


# Not frozen, as a text has many, which would take three times as long to make. Nothing changes it once made.
@dataclass(unsafe_hash=True)
class Location:
    """A place in a source file, line and column as the compiler counts them; `name` is the variable it says.

    `callers` are the places of the calls that were inlined, the innermost first.
    """

    path: str
    line: int
    column: int
    name: str = ""
    callers: tuple[Location, ...] = ()


@dataclass(frozen=True)
class Constant:
    """The value of an `arith.constant`: one element for all, or every element of the block in order."""

    elements: tuple[int | float, ...]

    @property
    def is_splat(self) -> bool:
        return len(self.elements) == 1


# Not frozen, which would take three times as long to make. Nothing changes it once made.
@dataclass
class Operation:
    """One operation. Operands and results are values, by their number in the function, in MLIR's order.

    `attributes` has what the text says beside the operands, by MLIR's names where the printed form leaves them out:
    numbers, booleans, strings (an enumerator's name, a symbol without its `@`), tuples of these, a `Constant` under
    `value`. `segments` tells, for an operation with several groups of operands, how many each has (`tt.load`: pointer,
    mask, other). `successors` are the blocks that a branch goes to, with the operands that it passes to each.
    """

    name: str
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    regions: tuple[Region, ...] = ()
    segments: tuple[int, ...] = ()
    successors: tuple[tuple[int, tuple[int, ...]], ...] = ()
    location: Location | None = None

    def operand(self, group: int) -> int | None:
        """The operand of a group that has one or none."""
        if not self.segments:
            return self.operands[group] if group < len(self.operands) else None
        if group >= len(self.segments) or not self.segments[group]:
            return None
        return self.operands[sum(self.segments[:group])]


@dataclass(frozen=True)
class Block:
    """Operations in order, the last of which ends it; `arguments` are values."""

    arguments: tuple[int, ...]
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Region:
    """Blocks, of which the first is entered; only regions of functions and of `tt.map_elementwise` have several."""

    blocks: tuple[Block, ...]

    @property
    def block(self) -> Block:
        (only,) = self.blocks
        return only


@dataclass(frozen=True)
class Function:
    """A function: `types` holds the type of every value in it, and `names` what the source calls some of them.

    `location` is that of its `def`. `bound` is for those who execute it: what they need to find out once only of an
    operation, by its first result.
    """

    name: str
    arguments: tuple[int, ...]
    types: tuple[Type, ...]
    region: Region
    names: Mapping[int, str] = field(default_factory=dict)
    is_public: bool = False
    location: Location | None = None
    bound: dict[int, Any] = field(default_factory=dict, init=False, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Module:
    """A kernel and the functions that it calls."""

    functions: tuple[Function, ...]

    @cached_property
    def kernel(self) -> Function:
        """The one function that is launched."""
        (found,) = (function for function in self.functions if function.is_public)
        return found

    def function(self, name: str) -> Function:
        return next(function for function in self.functions if function.name == name)
