"""The arguments of a recorded launch, made again in memory. Imports torch: for workers."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tritonaudit.capture.imagined import imagine
from tritonaudit.simulator.engine import Argument
from tritonaudit.trace.reading import NotATrace, Trace, read_blob
from tritonaudit.trace.recorded import Recorded, Storage, View


@dataclass(frozen=True, eq=False)
class Given:
    """The arguments as they were before the launch, the bytes of each storage, and which of these nobody had written,
    by the storage's address."""

    arguments: Sequence[Argument]
    storages: Sequence[torch.Tensor]
    undefined: dict[int, torch.Tensor]


def given(trace: Trace, launch: Recorded) -> Given:
    """What a launch was given. Raises NotATrace."""
    storages = [_bytes(trace, one) if one.contents or not one.size else _absent(one) for one in launch.storages]
    arguments = [
        Argument(one.name, _tensor(storages, one.value) if isinstance(one.value, View) else one.value, one.offset)
        for one in launch.passed
    ]
    undefined = {
        held.data_ptr(): _marks(trace, one)
        for held, one in zip(storages, launch.storages, strict=True)
        if one.undefined and one.contents
    }
    return Given(arguments, storages, undefined)


def _bytes(trace: Trace, storage: Storage) -> torch.Tensor:
    """The bytes of a memory; what is known of a sampled one is repeated."""
    made = torch.empty(storage.size, dtype=torch.uint8)
    if storage.size:
        known = torch.frombuffer(bytearray(read_blob(trace, storage.contents)), dtype=torch.uint8)
        times = -(-storage.size // len(known))
        made.copy_(known.repeat(times)[: storage.size] if times > 1 else known)
    return made


def _absent(storage: Storage) -> torch.Tensor:
    """A memory that is not there, of which bounds are known where it holds integers."""
    made = torch.empty(storage.size, dtype=torch.uint8, device="meta")
    if storage.bounds is not None:
        imagine(made, *storage.bounds)
    return made


def _tensor(storages: Sequence[torch.Tensor], view: View) -> torch.Tensor:
    whole = torch.empty(0, dtype=getattr(torch, view.dtype), device=storages[view.storage].device)
    return whole.set_(storages[view.storage].untyped_storage(), view.offset, view.shape, view.strides)


def _marks(trace: Trace, storage: Storage) -> torch.Tensor:
    try:
        reader = zlib.decompressobj()
        marks = reader.decompress(read_blob(trace, storage.undefined), storage.size + 1)
    except zlib.error as error:
        raise NotATrace(trace.path, f"it is damaged: {error}") from error
    if len(marks) != storage.size:
        raise NotATrace(trace.path, f"{len(marks):,} marks are not those of {storage.size:,} bytes")
    return torch.frombuffer(bytearray(marks), dtype=torch.uint8) != 0
