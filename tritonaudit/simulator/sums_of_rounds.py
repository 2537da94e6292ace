"""Sums over the rounds of a loop, of which Triton lets each thread keep its own until the loop is over.

Where all that a loop does with a reduction is to add it to what the rounds before came to, Triton's compiler reduces in
each round what a thread holds, adds that up thread by thread, and combines lanes and warps behind the loop. Its TTGIR
tells which loops those are; here their TTIR becomes the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tritonaudit.simulator.ir import Block, Constant, Function, Module, Operation, Region, Type
from tritonaudit.simulator.laid_out import LaidOut, laid_out
from tritonaudit.simulator.layouts import Axis
from tritonaudit.simulator.slices import blocks_in

IN_THREADS = "in_threads"
"""An attribute of a reduction that leaves one element of each thread's: who holds them (a `Within`)."""

_SUM = "arith.addf"


@dataclass(frozen=True)
class Within:
    """Who holds the elements along an axis, and who what is left of it: lanes and warps."""

    held: Axis
    left: Axis

    @property
    def is_whole(self) -> bool:
        return self.held.is_whole and self.left.is_whole and len(self.left.registers) == 0

    @property
    def sizes(self) -> tuple[int, int]:
        return self.held.size, self.left.size


@lru_cache(maxsize=64)
def with_sums_of_rounds(module: Module, ttgir: str) -> Module:
    """The module with such loops as they are compiled."""
    known = [one for one in laid_out(ttgir) if one.name == "tt.reduce"]
    functions = tuple(_Rewriter(function, known).function() for function in module.functions)
    return module if functions == module.functions else Module(functions)


class _Rewriter:
    def __init__(self, function: Function, known: Sequence[LaidOut]) -> None:
        self._function = function
        self._known = known
        self._types = list(function.types)
        self._uses = Counter(
            number
            for operation in blocks_in(function.region.blocks)
            for number in (*operation.operands, *(one for _, passed in operation.successors for one in passed))
        )

    def function(self) -> Function:
        region = self._region(self._function.region)
        if len(self._types) == len(self._function.types):
            return self._function
        return replace(self._function, region=region, types=tuple(self._types))

    def _region(self, region: Region) -> Region:
        return Region(tuple(self._block(block) for block in region.blocks))

    def _block(self, block: Block) -> Block:
        operations: list[Operation] = []
        for operation in block.operations:
            inner = replace(operation, regions=tuple(map(self._region, operation.regions)))
            operations += self._loop(inner) if operation.name == "scf.for" else [inner]
        return Block(block.arguments, tuple(operations))

    def _loop(self, loop: Operation) -> list[Operation]:
        """A loop with what goes before and behind it."""
        before: list[Operation] = []
        behind: list[Operation] = []
        for place in range(len(loop.results)):
            body = loop.regions[0].block
            found = self._summed(body, place)
            if found is None:
                continue
            reduction, total = found
            within = self._within(reduction)
            if within is None:
                continue
            axis = int(reduction.attributes["axis"])
            whole = self._types[total.results[0]]
            part = Type(whole.element, _with(self._types[reduction.operands[0]].shape, axis, within.left.size))
            for number in (body.arguments[1 + place], reduction.results[0], total.results[0]):
                self._types[number] = part
            nothing, parts, summed = self._new(part), self._new(part), self._new(whole)
            before.append(
                Operation("arith.constant", (), (nothing,), {"value": Constant((0.0,))}, location=total.location)
            )
            behind.append(replace(reduction, operands=(parts,), results=(summed,)))
            start = loop.operands[3 + place]
            behind.append(replace(total, operands=(summed, start), results=(loop.results[place],)))
            marked = replace(reduction, attributes={**reduction.attributes, IN_THREADS: within})
            operations = tuple(marked if one is reduction else one for one in body.operations)
            loop = replace(
                loop,
                operands=_with(loop.operands, 3 + place, nothing),
                results=_with(loop.results, place, parts),
                regions=(Region((Block(body.arguments, operations),)),),
            )
        return [*before, loop, *behind]

    def _summed(self, body: Block, place: int) -> tuple[Operation, Operation] | None:
        """The reduction that a round adds to what it is passed at a place, and the sum, if nothing else uses them."""
        made = {number: operation for operation in body.operations for number in operation.results}
        passed, total = body.arguments[1 + place], made.get(body.operations[-1].operands[place])
        if total is None or total.name != _SUM or passed not in total.operands:
            return None
        (other,) = (number for number in total.operands if number != passed) if len(set(total.operands)) > 1 else (-1,)
        reduction = made.get(other)
        if reduction is None or reduction.name != "tt.reduce" or len(reduction.operands) != 1:
            return None
        *inner, _ = reduction.regions[0].block.operations
        is_sum = [operation.name for operation in inner] == [_SUM]
        used_once = all(self._uses[number] == 1 for number in (passed, other, total.results[0]))
        return (reduction, total) if is_sum and used_once else None

    def _within(self, reduction: Operation) -> Within | None:
        """Who holds what, if TTGIR has the reduction in two parts."""
        axis, shape = int(reduction.attributes["axis"]), self._types[reduction.operands[0]].shape
        place = (self._function.name, reduction.location)
        found = [one for one in self._known if (one.function, one.location) == place]
        parts = [one for one in found if one.axis == len(shape) and one.before[0] == shape]
        wholes = [one for one in found if one.axis == axis and len(one.shape) == len(shape) and one.shape != shape]
        if len(parts) != 1 or len(wholes) != 1:
            return None
        held, left = parts[0].before[1], wholes[0].layout
        held_axis, left_axis = (None if one is None else one.along(axis) for one in (held, left))
        if held_axis is None or left_axis is None:
            return None
        within = Within(held_axis, left_axis)
        sizes = (shape[axis], wholes[0].shape[axis])
        return within if within.is_whole and within.sizes == sizes else None

    def _new(self, type: Type) -> int:
        self._types.append(type)
        return len(self._types) - 1


def _with(numbers: tuple[int, ...], place: int, number: int) -> tuple[int, ...]:
    return (*numbers[:place], number, *numbers[place + 1 :])
