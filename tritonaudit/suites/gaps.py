"""What lies in the memory of arguments beside their elements: rows may be further apart than they are long.

Imports torch: for workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from tritonaudit.suites.snapshots import bytes_of


@dataclass(frozen=True)
class Gaps:
    """Those of a storage that a tensor is in: its bytes as they were, and which of them no element has."""

    name: str
    tensor: torch.Tensor
    before: torch.Tensor
    beside: torch.Tensor

    @property
    def have_changed(self) -> bool:
        """Whether what is in them now is something else."""
        different = bytes_of(self.tensor.untyped_storage()) != self.before
        return bool((different & self.beside).any())


def gaps_in(tensors: Sequence[tuple[str, torch.Tensor]]) -> Iterator[Gaps]:
    """Those of the storages that tensors with these names are in, each once; tensors without memory have none."""
    by_storage: dict[int, list[tuple[str, torch.Tensor]]] = {}
    for name, tensor in tensors:
        if tensor.layout == torch.strided and not tensor.is_meta and tensor.untyped_storage().nbytes():
            by_storage.setdefault(tensor.untyped_storage().data_ptr(), []).append((name, tensor))
    for held_by in by_storage.values():
        (name, first), same = held_by[0], [tensor for _, tensor in held_by]
        held = bytes_of(first.untyped_storage())
        if sum(one.numel() * one.element_size() for one in same) < len(held):
            beside = torch.ones_like(held, dtype=torch.bool)
            for one in same:
                _without(beside, one)
            yield Gaps(name, first, held.clone(), beside)


def _without(beside: torch.Tensor, tensor: torch.Tensor) -> None:
    """Take the bytes of a tensor's elements out of those beside them."""
    size = tensor.element_size()
    if tensor.numel():
        elements = beside[: len(beside) // size * size].view(-1, size)
        shape, strides = (*tensor.shape, size), (*(size * stride for stride in tensor.stride()), 1)
        elements.as_strided(shape, strides, size * tensor.storage_offset()).fill_(False)
