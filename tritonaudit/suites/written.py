"""Which storages a launch may write, as its program tells. Imports torch: for workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from tritonaudit.capture.launch import Launch
from tritonaudit.simulator.live import arguments_of, module_of
from tritonaudit.simulator.slices import places_written, pointers_written
from tritonaudit.simulator.torch_memory import storage_address
from tritonaudit.suites.integers import Contents


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
        arguments = arguments_of(launch, bound)
        places = places_written(module_of(launch.program.ttir))
        storages = [(arguments[number].value.untyped_storage(), at) for number, at in places.items()]
        return {
            storage.data_ptr(): Written(storage.nbytes(), (at.path, at.line, at.column)) for storage, at in storages
        }


def still_known(contents: Contents, launch: Launch, written: Mapping[int, Written]) -> Contents:
    """What tensors without memory hold after a launch that may have written to these storages, as far as is known."""
    if launch.program is None or pointers_written(module_of(launch.program.ttir)) is None:
        return {}
    return {key: tensor for key, tensor in contents.items() if storage_address(tensor) not in written}
