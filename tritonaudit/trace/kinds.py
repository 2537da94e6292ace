"""Which launches are of one kind, of which a trace keeps the first: what differs between them is only numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tritonaudit.capture.launch import KernelRef, Launch, TensorArgument

MOST_KINDS = 16
"""Of one kernel."""


def kind_of(launch: Launch) -> Hashable:
    """What makes two launches alike: the kernel, what it was specialised for, and the class of each size."""
    constants = dict(launch.signature)
    given = tuple(
        (name, value if constants.get(name) == "constexpr" else _class(value)) for name, value in launch.arguments
    )
    grid = None if launch.grid is None else tuple(map(_size, launch.grid))
    return launch.kernel, launch.config, launch.signature, launch.specialisation, repr(given), grid


def _class(value: Any) -> Any:
    if isinstance(value, TensorArgument):
        strides = tuple(sorted(range(len(value.strides)), key=lambda axis: -value.strides[axis]))
        is_dense = 0 not in value.strides and min(value.strides, default=1) == 1
        return value.dtype, tuple(map(_size, value.shape)), strides, is_dense, value.offset > 0, value.storage
    if isinstance(value, tuple):
        return tuple(map(_class, value))
    return _size(value) if type(value) is int else type(value).__name__


def _size(size: int) -> tuple[int, bool]:
    """How many bits it has, and whether it is a multiple of 16."""
    return size.bit_length(), size % 16 == 0


@dataclass
class Kinds:
    """The kinds that were met, each with the number of what is recorded of it; None where nothing is."""

    known: dict[Hashable, int | None] = field(default_factory=dict)
    _of_kernel: dict[KernelRef, int] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)

    def next_number(self) -> int:
        """Another number for what is recorded."""
        return next(self._numbers)

    def has_room(self, kernel: KernelRef) -> bool:
        """Whether another kind of the kernel is to be recorded; it is counted."""
        found = self._of_kernel[kernel] = self._of_kernel.get(kernel, 0) + 1
        return found <= MOST_KINDS
