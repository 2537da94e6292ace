"""Which elements of a memory an access means, as a strided view where it can be one."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import torch


# Not frozen where every access makes one, which would take three times as long. Nothing changes them once made.
@dataclass(eq=False, slots=True)
class Strided:
    """A view: `sizes` are (*programs or 1, *lanes), strides and offset in elements.

    `grid` is the number of axes of programs. What is read and written has one axis for all of them.
    """

    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    grid: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the elements: (programs or 1, *lanes)."""
        return self.sizes if self.grid == 1 else (prod(self.sizes[: self.grid]), *self.sizes[self.grid :])

    def of(self, memory: torch.Tensor) -> torch.Tensor:
        """The elements, as a view of the memory where no stride is negative and programs have one axis."""
        if min(self.strides) >= 0:
            found = memory.as_strided(self.sizes, self.strides, self.offset)
        else:
            found = self._forward(memory).flip(self._backward)
        return found if self.grid == 1 else found.reshape(self.shape)

    def put(self, memory: torch.Tensor, values: torch.Tensor) -> None:
        if self.grid > 1:
            values = values.expand(self.shape).reshape(self.sizes)
        if min(self.strides) >= 0:
            memory.as_strided(self.sizes, self.strides, self.offset).copy_(values)
        else:
            self._forward(memory).copy_(values.expand(self.sizes).flip(self._backward))

    def fill(self, memory: torch.Tensor, value: int) -> None:
        self._forward(memory).fill_(value)

    @property
    def _backward(self) -> list[int]:
        """The axes along which the numbers fall."""
        return [axis for axis, stride in enumerate(self.strides) if stride < 0]

    def _forward(self, memory: torch.Tensor) -> torch.Tensor:
        """The elements, those axes the other way round."""
        return memory.as_strided(self.sizes, [abs(stride) for stride in self.strides], self.bounds[0])

    def kept_of(self, lanes: torch.Tensor) -> torch.Tensor:
        """Those of the lanes that are meant."""
        return lanes

    @property
    def numbers(self) -> torch.Tensor:
        """The number of each element, of shape (programs or 1, *lanes)."""
        rank = len(self.sizes)
        found = torch.full([1] * rank, self.offset)
        for axis, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            found = found + (torch.arange(size) * stride).reshape([size if i == axis else 1 for i in range(rank)])
        return found.reshape(self.shape)

    def for_each(self, programs: int) -> Strided:
        """With every program's lanes, also where they are the same for all."""
        if self.grid > 1 or self.sizes[0] == programs:
            return self
        return Strided(self.offset, (programs, *self.sizes[1:]), (0, *self.strides[1:]))

    def once(self) -> Strided:
        """Those of one program of each axis along which programs mean the same elements."""
        sizes = [1 if stride == 0 else size for stride, size in zip(self.strides, self.sizes, strict=True)]
        return Strided(self.offset, (*sizes[: self.grid], *self.sizes[self.grid :]), self.strides, self.grid)

    def define(self, undefined: torch.Tensor, size: int) -> None:
        """Note, for each byte of a memory, that these elements of `size` bytes are written."""
        self.in_bytes(size).fill(undefined, False)

    def in_bytes(self, size: int) -> Strided:
        """All bytes of each element."""
        strides = (*(stride * size for stride in self.strides), 1)
        return Strided(self.offset * size, (*self.sizes, size), strides, self.grid)

    def in_cells(self, factor: int) -> Strided:
        """The first cell of each element, in a memory whose cells are `factor` times smaller."""
        if factor == 1:
            return self
        return Strided(self.offset * factor, self.sizes, tuple(stride * factor for stride in self.strides), self.grid)

    @property
    def bounds(self) -> tuple[int, int]:
        """The first element and the one behind the last."""
        low = last = self.offset
        for stride, size in zip(self.strides, self.sizes, strict=True):
            if stride < 0:
                low += stride * (size - 1)
            else:
                last += stride * (size - 1)
        return low, last + 1

    @property
    def is_injective(self) -> bool:
        """Whether it is certain that no element is meant twice."""
        span = 1
        for stride, size in sorted([(abs(s), n) for s, n in zip(self.strides, self.sizes, strict=True) if n > 1]):
            if stride < span:
                return False
            span += stride * (size - 1)
        return True


@dataclass(eq=False, slots=True)
class Indexed:
    """Elements by their numbers, of shape (programs or 1, *lanes); only those where `kept` holds are meant.

    `is_within`: the other numbers, too, are those of elements.
    """

    index: torch.Tensor
    kept: torch.Tensor | None = None
    is_within: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the elements: (programs or 1, *lanes)."""
        return tuple(self.index.shape)

    def of(self, memory: torch.Tensor) -> torch.Tensor:
        """The elements, anything where they are not meant."""
        if memory.numel() == 0:
            return torch.zeros(self.index.shape, dtype=memory.dtype)
        index = self.index if self.kept is None or self.is_within else torch.where(self.kept, self.index, 0)
        return memory.index_select(0, index.reshape(-1)).reshape(index.shape)

    def put(self, memory: torch.Tensor, values: torch.Tensor) -> None:
        if self.kept is None:
            memory[self.index] = values
        else:
            memory[self.index[self.kept]] = values.expand(self.kept.shape)[self.kept]

    def fill(self, memory: torch.Tensor, value: int) -> None:
        memory[self.index if self.kept is None else self.index[self.kept]] = value

    def kept_of(self, lanes: torch.Tensor) -> torch.Tensor:
        """Those of the lanes that are meant."""
        return lanes if self.kept is None else lanes & self.kept

    @property
    def lanes(self) -> torch.Tensor:
        """Which lanes are meant."""
        return torch.ones(self.index.shape, dtype=torch.bool) if self.kept is None else self.kept

    @property
    def numbers(self) -> torch.Tensor:
        """The number of each element, of shape (programs or 1, *lanes)."""
        return self.index

    def expand(self, shape: tuple[int, ...]) -> Indexed:
        """With every program's lanes, also where they are the same for all."""
        kept = None if self.kept is None else self.kept.expand(shape)
        return Indexed(self.index.expand(shape), kept, self.is_within)

    def once(self) -> Indexed:
        """The same: programs that mean the same elements are not distinguished."""
        return self

    def for_each(self, programs: int) -> Indexed:
        """With every program's lanes, also where they are the same for all."""
        return self.expand((programs, *self.index.shape[1:]))

    def define(self, undefined: torch.Tensor, size: int) -> None:
        """Note, for each byte of a memory, that these elements of `size` bytes are written."""
        self.fill(undefined[: len(undefined) // size * size].view(-1, size), False)

    def in_cells(self, factor: int) -> Indexed:
        """The first cell of each element, in a memory whose cells are `factor` times smaller."""
        return self if factor == 1 else Indexed(self.index * factor, self.kept, self.is_within)

    @property
    def bounds(self) -> tuple[int, int]:
        meant = self.index if self.kept is None else self.index[self.kept]
        if not meant.numel():
            return 0, 0
        low, high = torch.aminmax(meant)
        return int(low), int(high) + 1

    @property
    def is_injective(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class Windows:
    """Views of one form, each from an element of its own: `starts`, of shape (programs or 1, *sizes or 1).

    Along an axis where the views have more than one element, there is one start.
    """

    starts: torch.Tensor
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def of(self, memory: torch.Tensor) -> torch.Tensor:
        """The elements, of shape (programs or 1, *sizes or 1)."""
        rank = len(self.sizes)
        axes = [axis for axis in range(rank) if self.sizes[axis] > 1]
        sizes, strides = [self.sizes[axis] for axis in axes], [self.strides[axis] for axis in axes]
        reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        found = memory.as_strided((len(memory) - reach, *sizes), (1, *strides)).index_select(0, self.starts.flatten())
        found = found.reshape(*self.starts.shape, *sizes)
        order = [rank + 1 + axes.index(axis) if axis in axes else axis + 1 for axis in range(rank)]
        ordered = found.permute(0, *order, *(axis + 1 for axis in axes))
        return ordered.reshape(ordered.shape[: rank + 1])


Selection: TypeAlias = "Strided | Indexed"
