"""Memory that was allocated and not yet written: what `torch.empty` gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_ALLOCATIONS = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"))
_MOST_HELD = 1 << 30
"""Bytes of allocations that are kept alive, so that no other tensor takes their address; the oldest are forgotten."""


class FreshMemory(TorchDispatchMode):  # type: ignore[misc]
    """Knows, while it is active, which bytes of tensors on the CPU nobody has written since they were allocated."""

    def __init__(self) -> None:
        super().__init__()
        self._held: dict[int, torch.Tensor] = {}
        self._undefined: dict[int, torch.Tensor] = {}
        self._bytes = 0

    @property
    def undefined(self) -> Mapping[int, torch.Tensor]:
        """By the address of a storage, for each of its bytes whether nobody has written it."""
        return self._undefined

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = function._schema.name.removeprefix("aten::")
        if name in _ALLOCATIONS:
            self._note(result)
        elif self._undefined:
            for tensor in _written(function, args, kwargs or {}):
                self._define(tensor)
        return result

    def _note(self, tensor: Any) -> None:
        if not isinstance(tensor, torch.Tensor) or tensor.device.type != "cpu" or not tensor.numel():
            return
        storage = tensor.untyped_storage()
        self._forget(storage.data_ptr())
        self._held[storage.data_ptr()] = tensor
        self._undefined[storage.data_ptr()] = torch.ones(storage.nbytes(), dtype=torch.bool)
        self._bytes += storage.nbytes()
        while self._bytes > _MOST_HELD:
            self._forget(next(iter(self._held)))

    def _forget(self, address: int) -> None:
        if address in self._held:
            del self._held[address]
            self._bytes -= len(self._undefined.pop(address))

    def _define(self, tensor: torch.Tensor) -> None:
        undefined = self._undefined.get(tensor.untyped_storage().data_ptr())
        if undefined is None or not tensor.numel():
            return
        size = tensor.element_size()
        strides = (*(stride * size for stride in tensor.stride()), 1)
        undefined.as_strided((*tensor.shape, size), strides, tensor.storage_offset() * size).fill_(False)


def _written(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The tensors that an operator writes to."""
    for place, argument in enumerate(function._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = kwargs.get(argument.name) if argument.kwarg_only or place >= len(args) else args[place]
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, torch.Tensor) and one.device.type == "cpu":
                yield one
