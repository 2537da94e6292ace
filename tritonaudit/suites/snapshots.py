"""What memory holds, before a launch and after it. Imports torch."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch


def bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    """The bytes of a storage, in place. Whoever follows what operators do is not to see this."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage, 0, (storage.nbytes(),))


def digest(held: torch.Tensor) -> int:
    """What tells the bytes from others that might be there by chance."""
    if held.device.type == "cpu":
        return zlib.crc32(memoryview(held.numpy()))
    words = held[: len(held) // 8 * 8].view(torch.int64)
    return int(words.sum()) ^ int((words ^ (words >> 7)).sum()) ^ int(held[len(words) * 8 :].sum())


def digests(storages: Mapping[int, torch.UntypedStorage]) -> dict[int, int]:
    """Of each storage, by address."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return {address: digest(bytes_of(storage)) for address, storage in storages.items()}


def copies(storages: Mapping[int, torch.UntypedStorage], addresses: Collection[int]) -> dict[int, torch.Tensor]:
    """The bytes of those with one of these addresses, as they are now."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return {address: bytes_of(one).clone() for address, one in storages.items() if address in addresses}


def storages_in(bound: Mapping[Any, Any]) -> dict[int, torch.UntypedStorage]:
    """Those of the tensors among a launch's arguments that have memory, by address."""
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        tensors = [tensor for value in bound.values() for tensor in _tensors(value)]
        storages = [tensor.untyped_storage() for tensor in tensors if tensor.layout == torch.strided]
    return {storage.data_ptr(): storage for storage in storages if storage.device.type != "meta" and storage.nbytes()}


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """What an argument points into: a tensor, what a view or descriptor is of, what an object with a pointer holds."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, tuple):
        for member in value:
            yield from _tensors(member)
    elif hasattr(value, "base"):
        yield from _tensors(value.base)
    elif hasattr(value, "data_ptr"):
        yield from (held for held in vars(value).values() if isinstance(held, torch.Tensor))
