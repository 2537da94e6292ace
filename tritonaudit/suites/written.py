"""Which storages a launch may write, as its program tells. Imports torch: for workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from tritonaudit.capture.launch import Launch
from tritonaudit.simulator.foreign import storages_at
from tritonaudit.simulator.live import arguments_of, module_of
from tritonaudit.simulator.slices import finds_pointers, place_found, places_written, pointers_written
from tritonaudit.simulator.torch_memory import storage_address
from tritonaudit.suites.integers import Contents

_ADDRESSES = (torch.int64, torch.uint64)


@dataclass(frozen=True)
class Written:
    """A storage that a launch may write: its size in bytes, and the path, line and column where that is done."""

    size: int
    place: tuple[str, int, int]


def storages_written(launch: Launch, bound: Mapping[str, Any]) -> Mapping[int, Written]:
    """Those among the launch's arguments, which are given by name, by their addresses; none without its program."""
    if launch.program is None:
        return {}
    with torch._C.DisableTorchFunction():
        arguments, module = arguments_of(launch, bound), module_of(launch.program.ttir)
        places = places_written(module)
        storages = [(arguments[number].value.untyped_storage(), at) for number, at in places.items()]
        if (place := place_found(module)) is not None:
            storages += [(storage, place) for storage in storages_found(bound).values()]
        return {
            storage.data_ptr(): Written(storage.nbytes(), (at.path, at.line, at.column)) for storage, at in storages
        }


def may_find_storages(launch: Launch) -> bool:
    """Whether its program makes pointers of numbers; where none is known, it may."""
    return launch.program is None or finds_pointers(module_of(launch.program.ttir))


def storages_found(bound: Mapping[Any, Any]) -> dict[int, torch.UntypedStorage]:
    """Those in which numbers lie that are in its arguments' memory, by their addresses.

    Only a launch that `may_find_storages` finds its way there: what others compute with may be such numbers by chance.
    """
    found: dict[int, torch.UntypedStorage] = {}
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        for value in bound.values():
            if isinstance(value, torch.Tensor) and value.dtype in _ADDRESSES and not value.is_meta:
                found |= storages_at(value.detach().flatten().to("cpu", torch.int64))
    return found


def still_known(contents: Contents, launch: Launch, written: Mapping[int, Written]) -> Contents:
    """What tensors without memory hold after a launch that may have written to these storages, as far as is known."""
    if launch.program is None or pointers_written(module_of(launch.program.ttir)) is None:
        return {}
    return {key: tensor for key, tensor in contents.items() if storage_address(tensor) not in written}
