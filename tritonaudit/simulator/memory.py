"""The tensors of a launch as memory: addresses that say which tensor they belong to, and what lies where."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import torch

from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.selection import Strided
from tritonaudit.simulator.shadow import Shadow

_TAG_BITS = 48
_MIDDLE = 1 << (_TAG_BITS - 1)
_POSITION = (1 << _TAG_BITS) - 1

Addresses = TypeVar("Addresses", int, torch.Tensor)


FIRST_ADDRESS = 1 << _TAG_BITS
"""Below it are no addresses of a launch, but those of the process."""


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
    """The storage of one or more tensors. `cell` is how many bytes the shadow keeps apart.

    `storage` is None where what they hold is not known.
    """

    storage: torch.UntypedStorage | None
    cell: int
    shadow: Shadow
    _typed: dict[torch.dtype, torch.Tensor] = field(default_factory=dict)

    @property
    def layout(self) -> Hashable:
        """What an access to it may hang on."""
        size = None if self.storage is None else self.storage.nbytes()
        return size, self.cell, self.shadow.is_shared, self.shadow.is_kept

    def typed(self, dtype: torch.dtype) -> torch.Tensor:
        """All of it as elements of a type. Raises Unsupported where there is nothing."""
        if self.storage is None:
            raise Unsupported("this access", "to a tensor whose contents are not there")
        found = self._typed.get(dtype)
        if found is None:
            found = torch.empty(0, dtype=dtype).set_(self.storage, 0, (self.storage.nbytes() // dtype.itemsize,))
            self._typed[dtype] = found
        return found


@dataclass(eq=False)
class Buffer:
    """A tensor argument: its view of a memory, in bytes from the memory's start (`low` to behind `high`).

    Nothing changes it once made.
    """

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
    def is_absent(self) -> bool:
        """Whether what it holds is not known."""
        return self.memory.storage is None

    @property
    def is_dense(self) -> bool:
        """Whether the view has no holes."""
        return self.tensor.is_contiguous() or self._is_whole

    @cached_property
    def _is_whole(self) -> bool:
        """The same of a view that is not known to be so."""
        reach = 0  # from the first element to the last of those that the smaller axes reach
        for size, stride in reversed(self._axes):
            if stride > reach + 1:
                return False
            reach += (size - 1) * stride
        return True

    @cached_property
    def _axes(self) -> tuple[tuple[int, int], ...]:
        """Sizes and strides of the view, the greatest stride first, without axes along which nothing changes."""
        axes = zip(self.tensor.shape, self.tensor.stride(), strict=True)
        return tuple(sorted((axis for axis in axes if axis[0] > 1 and axis[1]), key=lambda axis: -axis[1]))

    def has_all(self, cells: Strided, size: int) -> bool:
        """Whether elements of that size, which lie within the view's bounds, are known to be elements of the view."""
        if self.is_dense:
            return True
        if self.is_absent or size != self.itemsize:
            return False
        inside = Strided(cells.offset - self.low // size, cells.sizes, cells.strides, cells.grid)
        return not bool(inside.of(self._holes).any())

    def is_between(self, positions: torch.Tensor) -> torch.Tensor:
        """Whether the bytes, which lie within the view's bounds, belong to none of its elements.

        Raises Unsupported for a view that is too large to tell.
        """
        rest = torch.div(positions - self.low, self.itemsize, rounding_mode="floor")
        if not self.is_absent:
            return self._holes[rest]
        if not self._is_nested:
            raise Unsupported("this access", "to a view without memory, whose axes overlap")
        for size, stride in self._axes:
            rest = rest - torch.div(rest, stride, rounding_mode="floor").clamp(max=size - 1) * stride
        return rest != 0

    @property
    def _is_nested(self) -> bool:
        """Whether along each axis all of the smaller ones lie between two elements."""
        reach = 0
        for size, stride in reversed(self._axes):
            if stride <= reach:
                return False
            reach += (size - 1) * stride
        return True

    @cached_property
    def _holes(self) -> torch.Tensor:
        """For each element from the first to the last, whether it is none of the view's."""
        found = torch.ones((self.high - self.low) // self.itemsize, dtype=torch.bool)
        found.as_strided(self.tensor.shape, self.tensor.stride(), 0).fill_(False)
        return found

    def element(self, positions: torch.Tensor) -> torch.Tensor:
        """The elements at these bytes, counted from the view's first."""
        return torch.div(positions - self.start, self.itemsize, rounding_mode="floor")


@dataclass(eq=False)
class AddressSpace:
    """The buffers of a launch, by their numbers; `undefined` and `cell` are what `address_space` takes."""

    buffers: tuple[Buffer, ...]
    undefined: Mapping[int, torch.Tensor] | None = None
    cell: int | None = None

    def __post_init__(self) -> None:
        self._by_number = {buffer.number: buffer for buffer in self.buffers}

    @property
    def layout(self) -> Hashable:
        """All that decides which element an address means."""
        memories = [buffer.memory for buffer in self.buffers]
        places = {id(memory): place for place, memory in enumerate(memories)}
        return tuple(
            (
                buffer.number,
                buffer.start,
                buffer.tensor.dtype,
                buffer.tensor.shape,
                buffer.tensor.stride(),
                places[id(buffer.memory)],
                buffer.memory.layout,
            )
            for buffer in self.buffers
        )

    def __getitem__(self, number: int) -> Buffer | None:
        return self._by_number.get(number)

    def buffer(self, number: int) -> Buffer:
        """The one of that number, which there is."""
        return self._by_number[number]

    def __iter__(self) -> Iterator[Buffer]:
        return iter(self._by_number.values())

    def add(self, name: str, tensor: torch.Tensor) -> Buffer:
        """A tensor that is none of the arguments, of whose storage none is a view."""
        number = max(self._by_number, default=-1) + 1
        undefined = (self.undefined or {}).get(tensor.untyped_storage().data_ptr())
        size = tensor.element_size()
        memory = _memory(tensor.untyped_storage(), min(size, self.cell or size), undefined, is_shared=True)
        found = _buffer(number, name, tensor, memory)
        self._by_number[number] = found
        return found


def address_space(
    tensors: Sequence[tuple[int, str, torch.Tensor]],
    written: Collection[int] | None = None,
    undefined: Mapping[int, torch.Tensor] | None = None,
    cell: int | None = None,
    is_partial: bool = False,
) -> AddressSpace:
    """The memory of a launch's tensors, each with the place and the name of its parameter.

    Only memories that hold a tensor at a place in `written` tell programs apart (None: all). `undefined` gives, by the
    address of a storage, for each of its bytes whether nobody has written it yet; it is kept up to date. `cell` bounds
    how many bytes the shadow keeps apart. Tensors on the meta device hold nothing that is known, nor, where the launch
    `is_partial`, do those that it writes to.
    """
    storages: dict[int, tuple[torch.UntypedStorage, list[tuple[int, str, torch.Tensor]]]] = {}
    for one in tensors:
        storage = one[2].untyped_storage()
        storages.setdefault(_storage_key(storage, one[0]), (storage, []))[1].append(one)
    buffers: list[Buffer] = []
    for key, (storage, together) in storages.items():
        is_shared = written is None or any(place in written for place, _, _ in together)
        size = min(tensor.element_size() for _, _, tensor in together)
        if (is_partial and is_shared) or _has_no_memory(storage):
            memory = Memory(None, size, Shadow(0, False))
        else:
            memory = _memory(storage, min(size, cell or size), (undefined or {}).get(key), is_shared)
        buffers.extend(_buffer(place, name, tensor, memory) for place, name, tensor in together)
    return AddressSpace(tuple(buffers), undefined, cell)


def _has_no_memory(storage: torch.UntypedStorage) -> bool:
    return bool(storage.device.type == "meta")


def _storage_key(storage: torch.UntypedStorage, place: int) -> int:
    """The address of a storage; one that has none has a number below 0."""
    return int(-storage._cdata) if _has_no_memory(storage) else int(storage.data_ptr() or -place - 1)


def _memory(storage: torch.UntypedStorage, cell: int, undefined: torch.Tensor | None, is_shared: bool) -> Memory:
    is_written = undefined is None or not undefined.numel() or not int(undefined.view(torch.uint8).max())
    shadow = Shadow(-(-storage.nbytes() // cell), is_shared, None if is_written else undefined)
    return Memory(storage, cell, shadow)


def _buffer(number: int, name: str, tensor: torch.Tensor, memory: Memory) -> Buffer:
    size = tensor.element_size()
    start = tensor.storage_offset() * size
    if not tensor.numel():
        return Buffer(number, name, tensor, memory, start, start, start)
    reach = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return Buffer(number, name, tensor, memory, start, start, start + (reach + 1) * size)
