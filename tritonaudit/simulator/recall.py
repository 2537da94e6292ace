"""What is the same in each launch of one form: computed when a form is met again, and kept for the launches after."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.fixed import Fixed, Parts
from tritonaudit.simulator.ir import Block, Operation
from tritonaudit.simulator.values import Data, Value, is_same

if TYPE_CHECKING:
    from tritonaudit.simulator.access import Way
    from tritonaudit.simulator.machine import Frame

_MOST_BYTES = 1 << 22
"""That are kept of the launches of one form: of what they execute later nothing is."""
_MOST_FORMS = 32
_MOST_MET = 256
_BYTES_OF_VALUE = 256
"""About what one takes, beside the elements of its tensor."""


_Values: TypeAlias = dict[int, Value]


@dataclass(eq=False, slots=True)
class Known:
    """One execution of a block: its values that are fixed, and by the `id` of its steady accesses how they are made.

    `steps` are the operations that are executed again, each with the values set before it, and `rest` are those
    set behind the last of them.
    """

    parts: Parts
    steps: Sequence[tuple[_Values, Operation]] = ()
    rest: _Values = field(default_factory=dict)
    given: _Values = field(default_factory=dict)
    ways: dict[int, Way] = field(default_factory=dict)

    def keep(self, values: Mapping[int, Value]) -> None:
        """Take what is fixed from the values of the frame, now that the block has been executed."""
        self.steps = [({number: values[number] for number in fixed}, one) for fixed, one in self.parts.recomputed]
        self.rest = {number: values[number] for number in self.parts.fixed}
        self.given = {number: values[number] for number in self.parts.given}

    @property
    def bytes(self) -> int:
        """About how much is kept, but for the ways."""
        held = [self.rest, self.given, *(values for values, _ in self.steps)]
        return sum(_bytes_of(value.data) for values in held for value in values.values())


@dataclass(frozen=True, eq=False)
class Form:
    """What launches of one form have in common.

    `known` are the executions of blocks in their order, the first ones at least, and `values` those of the kernel's
    arguments. `is_apart`: no program accesses what another one writes.
    """

    known: list[Known]
    values: Sequence[Value]
    is_apart: bool


@dataclass(eq=False, slots=True)
class Recall:
    """Where a launch is in what is known of its form, or makes it known: then `known` grows.

    `is_watchful`: something is given, which has to be compared. `is_lost`: something that was given is another than it
    was, and all that follows is executed.
    """

    parts: Mapping[int, Parts]
    known: list[Known]
    is_learning: bool
    is_watchful: bool
    is_lost: bool = False
    current: Known | None = None
    _next: int = 0
    _bytes: int = 0

    @staticmethod
    def of(fixed: Fixed, form: Form | None) -> Recall:
        """For a launch of that form, or for one that makes it known."""
        return Recall(fixed.blocks, [] if form is None else form.known, form is None, fixed.has_given)

    def enter(self, block: Block) -> Known | None:
        """Begin to execute a block: what is known of it comes back, if anything is."""
        parts = self.parts.get(id(block))
        self.current = None
        if parts is None:
            return None
        if self.is_learning:
            if self._bytes <= _MOST_BYTES:
                self.current = Known(parts)
                self.known.append(self.current)
            return None
        if self.is_lost or self._next == len(self.known):
            return None
        self.current = known = self.known[self._next]
        self._next += 1
        return known

    def leave(self, frame: Frame, outer: Known | None) -> None:
        """End the execution of a block, and go on with that of the one around."""
        known, self.current = self.current, None if self.is_lost else outer
        if self.is_learning and known is not None:
            known.keep(frame.values)
            self._bytes += known.bytes

    def is_same(self, operation: Operation, frame: Frame) -> bool:
        """Whether all is as it was, now that an operation has been executed.

        In a launch that makes its form known, the results that are given are taken out of memory instead.
        """
        known = self.current
        if known is not None and known.parts.given and not self.is_lost:
            for number in known.parts.given.intersection(operation.results):
                if self.is_learning:
                    frame.values[number] = _copied(frame.values[number])
                else:
                    self.is_lost |= not _is_same(known.given[number], frame.values[number])
        return not self.is_lost

    @property
    def is_complete(self) -> bool:
        """Whether all of the launch is known."""
        return self._bytes <= _MOST_BYTES

    def ways(self, operation: Operation) -> dict[int, Way] | None:
        """Where it is kept how an access of the block is made; None where that may be another one each time."""
        known = self.current
        return None if known is None or self.is_lost or id(operation) not in known.parts.steady else known.ways

    def take_in(self, tensors: Sequence[torch.Tensor | None]) -> None:
        """Count what is kept of an access."""
        self._bytes += sum(_bytes_of(tensor) for tensor in tensors if tensor is not None)


@dataclass(eq=False)
class Forms:
    """The forms that launches were of lately; of most there is but one launch, for which nothing is kept."""

    _found: OrderedDict[Hashable, Form] = field(default_factory=OrderedDict)
    _met: OrderedDict[Hashable, None] = field(default_factory=OrderedDict)

    def is_met_again(self, key: Hashable) -> bool:
        """Whether there was a launch of the form before; from now on there was."""
        if key in self._met:
            return True
        self._met[key] = None
        if len(self._met) > _MOST_MET:
            self._met.popitem(last=False)
        return False

    def get(self, key: Hashable) -> Form | None:
        found = self._found.get(key)
        if found is not None:
            self._found.move_to_end(key)
        return found

    def forget(self, key: Hashable) -> None:
        self._found.pop(key, None)

    def start_over(self, key: Hashable) -> None:
        """Take the next launch of the form for the first."""
        self._met.pop(key, None)

    def keep(self, key: Hashable, form: Form) -> None:
        self._found[key] = form
        while len(self._found) > _MOST_FORMS:
            self._found.popitem(last=False)


def _is_same(one: Value, two: Value) -> bool:
    """Whether two values are known to be the same, and in doubt where the same mask says."""
    if (one.undefined is None) != (two.undefined is None):
        return False
    if one.undefined is not None and two.undefined is not None and one.undefined.sound is not two.undefined.sound:
        return False
    return is_same(one, two)


def _copied(value: Value) -> Value:
    """The same, and nothing of the memory that it was loaded from."""
    data = value.data
    if isinstance(data, torch.Tensor):
        return replace(value, data=data.clone())
    if isinstance(data, Affine) and isinstance(data.number, torch.Tensor):
        return replace(value, data=replace(data, number=data.number.clone()))
    return value


def _bytes_of(data: Data) -> int:
    held = int(data.untyped_storage().nbytes()) if isinstance(data, torch.Tensor) else 0
    return held + _BYTES_OF_VALUE
