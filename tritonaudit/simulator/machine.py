"""Executes a kernel's operations, each for all programs at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import torch

from tritonaudit.simulator.access import Accesses
from tritonaudit.simulator.faults import Fault, FaultKind, Faults, Site
from tritonaudit.simulator.ir import Block, Function, Location, Module, Operation, Type
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.programs import Programs
from tritonaudit.simulator.recall import Known, Recall
from tritonaudit.simulator.turns import Turns
from tritonaudit.simulator.values import Value, mask_tensor, merged


class NotSimulated(Exception):
    """The launch holds what is not modelled: the operation, what of it, and where it stands."""

    def __init__(self, unsupported: Unsupported, location: Location | None) -> None:
        super().__init__(str(unsupported))
        self.location = location


@dataclass(eq=False)
class Frame:
    """A function being executed for some programs; those of a branch take what they need from the frame around it.

    `has_lanes` says that its scalars stand for many, as in the region of a reduction. `parts` are the frames of blocks
    that some of its programs went through: what these computed has no meaning and no use for the others.
    """

    function: Function
    programs: Programs
    values: dict[int, Value] = field(default_factory=dict)
    outer: Frame | None = None
    places: torch.Tensor | None = None
    has_lanes: bool = False
    parts: list[Frame] = field(default_factory=list)

    def __getitem__(self, number: int) -> Value:
        found = self.values.get(number)
        if found is None:
            found = self.values[number] = self._elsewhere(number)
        return found

    def _elsewhere(self, number: int) -> Value:
        """A value that was computed in a part, or in the frame around."""
        for part in self.parts:
            if number in part.values and part.places is not None:
                return merged([(part.places, part.values[number])], self.type(number), len(self.programs))
        if self.outer is None or self.places is None:
            raise KeyError(f"%{number}")
        return self.outer[number].take(self.places)

    def type(self, number: int) -> Type:
        return self.function.types[number]

    def operands(self, operation: Operation) -> list[Value]:
        values = self.values
        try:
            return [values[number] for number in operation.operands]
        except KeyError:  # some are those of the frame around
            return [self[number] for number in operation.operands]

    def tensor(self, number: int) -> torch.Tensor:
        return self[number].tensor(self.function.types[number])

    def site(self, operation: Operation) -> Site:
        """Where an operation is executed, and by whom."""
        return Site(self.programs, operation, self)

    def result(self, operation: Operation) -> Type:
        """The type of an operation's one result."""
        return self.function.types[operation.results[0]]

    def set(self, numbers: Sequence[int], values: Sequence[Value]) -> None:
        self.values.update(zip(numbers, values, strict=True))

    def subset(self, places: torch.Tensor) -> Frame:
        """For the programs at these places only."""
        return Frame(self.function, self.programs.take(places), {}, self, places)

    def part(self, places: torch.Tensor) -> Frame:
        """The same, for a block whose values later ones may use."""
        found = self.subset(places)
        self.parts.append(found)
        return found


@dataclass(eq=False)
class Machine:
    """One launch: its module, memory and the faults found so far.

    `handlers` tells what executes an operation. `addresses` are the values, by function and number, that addresses are
    computed from; `tick` is called now and then, and may raise. With `turns` programs may wait for each other.
    `is_partial` says that only some programs run, to see where their accesses go. `recall` has what is known of the
    launch's blocks beforehand; None where that is not asked for.
    """

    module: Module
    accesses: Accesses
    faults: Faults
    handlers: Mapping[str, Handler]
    is_checked: bool = True
    addresses: frozenset[tuple[str, int]] = frozenset()
    tick: Callable[[], None] = lambda: None
    turns: Turns | None = None
    is_partial: bool = False
    recall: Recall | None = None
    printed: list[str] = field(default_factory=list)

    def block(self, block: Block, frame: Frame) -> tuple[Value, ...]:
        """Execute a block, and give the operands of its last operation."""
        self.go_through(block, frame)
        self.tick()
        return tuple(frame.operands(block.operations[-1]))

    def go_through(self, block: Block, frame: Frame) -> None:
        """Execute a block, but for its last operation."""
        recall = self.recall
        if recall is None:
            for operation in block.operations[:-1]:
                self.execute(operation, frame)
            return
        outer, known = recall.current, recall.enter(block)
        if known is None:
            for operation in block.operations[:-1]:
                self.execute(operation, frame)
                if recall.is_watchful:
                    recall.is_same(operation, frame)
        else:
            self._go_through_known(block, known, recall, frame)
        recall.leave(frame, outer)

    def _go_through_known(self, block: Block, known: Known, recall: Recall, frame: Frame) -> None:
        """The same where something is known: the rest is executed, or all that follows what is not as it was."""
        for values, operation in known.steps:
            frame.values.update(values)
            self.execute(operation, frame)
            if recall.is_watchful and not recall.is_same(operation, frame):
                for other in block.operations[block.operations.index(operation) + 1 : -1]:
                    self.execute(other, frame)
                return
        frame.values.update(known.rest)

    def execute(self, operation: Operation, frame: Frame) -> None:
        """Execute one operation and set its results."""
        try:
            results = self.handlers.get(operation.name, _unknown)(self, operation, frame)
        except Unsupported as error:
            raise NotSimulated(error, operation.location) from None
        if len(operation.results) == 1:
            (frame.values[operation.results[0]],) = results
        elif operation.results:
            frame.set(operation.results, results)

    def condition(self, value: Value, frame: Frame, operation: Operation) -> torch.Tensor:
        """For which programs the condition of a branch or loop holds, of shape (programs,)."""
        if value.undefined is not None and self.is_checked and not value.undefined.is_unknown:
            bad = ~mask_tensor(value.undefined.sound)
            fault = Fault(FaultKind.UNDEFINED_BRANCH, operation.location, origin=value.undefined.origin)
            self.faults.add_lanes(fault, bad, frame.site(operation))
        return value.tensor(Type("i1")).reshape(-1).expand(len(frame.programs))


def _unknown(_: Machine, operation: Operation, __: Frame) -> tuple[Value, ...]:
    raise Unsupported(operation.name)


Handler: TypeAlias = Callable[[Machine, Operation, Frame], "tuple[Value, ...]"]
