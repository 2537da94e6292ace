"""Which of a kernel's values hang on its launch's numbers alone: on what is passed for them and on the grid."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tritonaudit.simulator.ir import Block, Function, Module, Operation, Region
from tritonaudit.simulator.slices import blocks_in, made_of, sources_of

_ACCESSES = {"tt.load": (0, 1), "tt.store": (0, 2)}
"""Of what says where elements lie, and which of them: the groups of operands that hold the pointer and the mask."""
_INDICES = ("i32", "i64")


@dataclass(frozen=True, eq=False)
class Parts:
    """A block's operations, without the last.

    `recomputed` are those whose results depend on more than the launch's numbers, or that do something; each comes
    after the fixed results before it, and `fixed` are the last of these. The operations of `steady`, by their `id`,
    access the same elements in each launch with these numbers. `given` are results of loads: they are taken for fixed,
    too, and have to be compared with what they were.
    """

    recomputed: tuple[tuple[tuple[int, ...], Operation], ...]
    fixed: tuple[int, ...]
    steady: frozenset[int]
    given: frozenset[int]


@dataclass(frozen=True, eq=False)
class Fixed:
    """The blocks, by their `id`, that all launches with the same numbers execute as often, in one order.

    `has_given`: some of them have results that are given. `is_steady`: all accesses to memory are in these blocks, are
    steady, and hang on nothing that is loaded.
    """

    blocks: Mapping[int, Parts]
    has_given: bool
    is_steady: bool


def fixed_of(module: Module, pure: Collection[str]) -> Fixed:
    """Those of a module's kernel.

    `pure` are the names of operations that give the same for the same operands, and do nothing else.
    """
    function = module.kernel
    finding = _Finding(pure, _given(function), set())
    before = -1
    while before < len(finding.moving):
        before = len(finding.moving)
        finding.spread(function.region)
    blocks = {id(block): finding.parts(block) for block in finding.executed(function.region)}
    steady = frozenset[int]().union(*(parts.steady for parts in blocks.values()))
    others = [one for one in blocks_in(function.region.blocks) if id(one) not in steady and one.name not in pure]
    has_given = any(parts.given for parts in blocks.values())
    is_steady = len(module.functions) == 1 and not has_given and not any(_may_access(one, function) for one in others)
    return Fixed(MappingProxyType(blocks), has_given, is_steady)


def _given(function: Function) -> frozenset[int]:
    """The loaded integers that decide where accesses go, and which way programs go."""
    operations = list(blocks_in(function.region.blocks))
    decided = made_of([number for one in operations for number in _deciding(one)], sources_of(function))
    loads = [one for one in operations if one.name == "tt.load"]
    return frozenset(
        one.results[0]
        for one in loads
        if one.results[0] in decided and function.types[one.results[0]].element in _INDICES
    )


def _deciding(operation: Operation) -> tuple[int, ...]:
    """The operands on which hangs what is accessed, or executed."""
    if operation.name in _ACCESSES:
        numbers = map(operation.operand, _ACCESSES[operation.name])
        return tuple(number for number in numbers if number is not None)
    count = {"scf.for": 3, "scf.if": 1, "cf.cond_br": 1}.get(operation.name, 0)
    return operation.operands[:count]


@dataclass(frozen=True, eq=False)
class _Finding:
    """Finds the values that are not fixed, those that are `moving`; `given` are loads that may be taken for fixed."""

    pure: Collection[str]
    given: frozenset[int]
    moving: set[int]

    def spread(self, region: Region) -> None:
        """Add what hangs on memory, of the operands that are known to."""
        if not self._is_followed(region):
            self.moving.update(*_inside(region))
            return
        for block in region.blocks:
            for operation in block.operations:
                self._spread_over(operation)
            for target, passed in block.operations[-1].successors:
                for argument, value in zip(region.blocks[target].arguments, passed, strict=True):
                    if value in self.moving:
                        self.moving.add(argument)

    def _spread_over(self, operation: Operation) -> None:
        if not self._is_known(operation):
            self.moving.update(operation.results)
            for region in operation.regions:
                self.moving.update(*_inside(region))
        if not operation.regions:
            return
        for region in operation.regions:
            self.spread(region)
        for value, sources in _passed(operation):
            if not self.moving.isdisjoint(sources):
                self.moving.add(value)

    def _is_known(self, operation: Operation) -> bool:
        """Whether it gives the same in each launch, or goes the same way."""
        if operation.name in self.pure:
            return self.moving.isdisjoint(operation.operands)
        is_given = not self.given.isdisjoint(operation.results)
        return (is_given or operation.name in ("scf.for", "scf.if")) and self.moving.isdisjoint(_deciding(operation))

    def _is_followed(self, region: Region) -> bool:
        """Whether it is the same each time which of the blocks are executed."""
        return all(self.moving.isdisjoint(_deciding(block.operations[-1])) for block in region.blocks)

    def executed(self, region: Region) -> Iterator[Block]:
        """The blocks that are executed as often each time."""
        if not self._is_followed(region):
            return
        for block in region.blocks:
            yield block
            for operation in block.operations:
                if operation.regions and operation.name in ("scf.for", "scf.if") and self._is_known(operation):
                    for inner in operation.regions:
                        yield from self.executed(inner)

    def parts(self, block: Block) -> Parts:
        recomputed: list[tuple[tuple[int, ...], Operation]] = []
        fixed: list[int] = []
        for one in block.operations[:-1]:
            if one.name in self.pure and self.moving.isdisjoint(one.results):
                fixed += one.results
            else:
                recomputed.append((tuple(fixed), one))
                fixed.clear()
        accesses = [one for _, one in recomputed if one.name in _ACCESSES]
        steady = [one for one in accesses if self.moving.isdisjoint(_deciding(one))]
        given = frozenset(number for one in steady for number in one.results if number not in self.moving)
        return Parts(tuple(recomputed), tuple(fixed), frozenset(map(id, steady)), given)


def _passed(operation: Operation) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The values that a loop or a branch gives, and those that it carries, each with what it may be."""
    if operation.name not in ("scf.for", "scf.if"):
        return
    ends = [region.block.operations[-1].operands for region in operation.regions if region.blocks]
    if operation.name == "scf.if":
        for place, result in enumerate(operation.results):
            yield result, tuple(end[place] for end in ends)
        return
    carried = zip(operation.regions[0].block.arguments[1:], operation.operands[3:], ends[0], strict=True)
    for result, (argument, first, after) in zip(operation.results, carried, strict=True):
        yield argument, (first, after)
        yield result, (first, after)


def _inside(region: Region) -> Iterator[tuple[int, ...]]:
    """The values that are defined in a region."""
    for block in region.blocks:
        yield block.arguments
    for inner in blocks_in(region.blocks):
        yield inner.results
        for own in inner.regions:
            for block in own.blocks:
                yield block.arguments


def _may_access(operation: Operation, function: Function) -> bool:
    """Whether it may read or write memory: whatever takes a pointer does, but for what passes it on."""
    if operation.name.startswith(("scf.", "cf.")):
        return False
    return any(function.types[number].element in ("ptr", "desc") for number in operation.operands)
