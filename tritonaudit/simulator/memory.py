"""The tensors of a launch as memory: addresses that say which tensor they belong to, and what lies where."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import torch

from tritonaudit.simulator.shadow import Shadow

_TAG_BITS = 48
_MIDDLE = 1 << (_TAG_BITS - 1)
_POSITION = (1 << _TAG_BITS) - 1

Addresses = TypeVar("Addresses", int, torch.Tensor)


def address(buffer: int, position: int) -> int:
    """The address of a byte of a buffer's storage; positions before its start have one, too."""
    return ((buffer + 1) << _TAG_BITS) + _MIDDLE + position


def buffer_of(address: Addresses) -> Addresses:
    """The number of the buffer that an address, or each of many, belongs to; negative for an address of none."""
    return (address >> _TAG_BITS) - 1


def position_of(address: Addresses) -> Addresses:
    """The byte of the buffer's storage."""
    return (address & _POSITION) - _MIDDLE


@dataclass(eq=False)
class Memory:
    """The storage of one or more tensors. `cell` is how many bytes the shadow keeps apart."""

    bytes: torch.Tensor
    cell: int
    shadow: Shadow
    _typed: dict[torch.dtype, torch.Tensor] = field(default_factory=dict)

    def typed(self, dtype: torch.dtype) -> torch.Tensor:
        """All of it as elements of a type."""
        if dtype not in self._typed:
            size = dtype.itemsize
            whole = self.bytes[: len(self.bytes) // size * size]
            self._typed[dtype] = whole.view(dtype)
        return self._typed[dtype]


@dataclass(frozen=True, eq=False)
class Buffer:
    """A tensor argument: its view of a memory, in bytes from the memory's start (`low` to behind `high`)."""

    number: int
    name: str
    tensor: torch.Tensor
    memory: Memory
    start: int
    low: int
    high: int

    @property
    def itemsize(self) -> int:
        return int(self.tensor.element_size())

    @property
    def address(self) -> int:
        """That of its first element."""
        return address(self.number, self.start)

    @property
    def is_dense(self) -> bool:
        """Whether the view has no holes."""
        return bool((self.high - self.low) // self.itemsize <= self.tensor.numel())

    @cached_property
    def holes(self) -> torch.Tensor:
        """For each element from the lowest to the highest, whether it is none of the view's."""
        found = torch.ones((self.high - self.low) // self.itemsize, dtype=torch.bool)
        found.as_strided(self.tensor.shape, self.tensor.stride(), (self.start - self.low) // self.itemsize).fill_(False)
        return found

    def element(self, positions: torch.Tensor) -> torch.Tensor:
        """The elements at these bytes, counted from the view's first."""
        return torch.div(positions - self.start, self.itemsize, rounding_mode="floor")


@dataclass(frozen=True, eq=False)
class AddressSpace:
    """The buffers of a launch, by their numbers."""

    buffers: tuple[Buffer, ...]

    @cached_property
    def _by_number(self) -> dict[int, Buffer]:
        return {buffer.number: buffer for buffer in self.buffers}

    def __getitem__(self, number: int) -> Buffer | None:
        return self._by_number.get(number)


def address_space(
    tensors: Sequence[tuple[int, str, torch.Tensor]],
    written: Collection[int] | None = None,
    undefined: Mapping[int, torch.Tensor] | None = None,
    cell: int | None = None,
) -> AddressSpace:
    """The memory of a launch's tensors, each with the place and the name of its parameter.

    Only memories that hold a tensor at a place in `written` tell programs apart (None: all). `undefined` gives, by the
    address of a storage, for each of its bytes whether nobody has written it yet; it is kept up to date. `cell` bounds
    how many bytes the shadow keeps apart.
    """
    storages: dict[int, list[tuple[int, str, torch.Tensor]]] = {}
    for one in tensors:
        storages.setdefault(one[2].untyped_storage().data_ptr() or -one[0] - 1, []).append(one)
    buffers: list[Buffer] = []
    for key, together in storages.items():
        is_shared = written is None or any(place in written for place, _, _ in together)
        memory = _memory([tensor for _, _, tensor in together], cell, (undefined or {}).get(key), is_shared)
        buffers.extend(_buffer(place, name, tensor, memory) for place, name, tensor in together)
    return AddressSpace(tuple(buffers))


def _memory(
    tensors: Sequence[torch.Tensor], most: int | None, undefined: torch.Tensor | None, is_shared: bool
) -> Memory:
    storage = tensors[0].untyped_storage()
    content = torch.empty(0, dtype=torch.uint8)
    content.set_(storage, 0, (storage.nbytes(),))
    cell = min([tensor.element_size() for tensor in tensors] + ([most] if most else []))
    cells = -(-storage.nbytes() // cell)
    is_written = undefined is None or not bool(undefined.any())
    return Memory(content, cell, Shadow(cells, is_shared, None if is_written else undefined))


def _buffer(number: int, name: str, tensor: torch.Tensor, memory: Memory) -> Buffer:
    size = tensor.element_size()
    start = tensor.storage_offset() * size
    if not tensor.numel():
        return Buffer(number, name, tensor, memory, start, start, start)
    reach = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return Buffer(number, name, tensor, memory, start, start, start + (reach + 1) * size)
