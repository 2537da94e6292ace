"""What lies in the memory of a launch's tensors, as bytes. Imports torch: for the processes of the command."""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Callable, Mapping, Sequence

import torch

from tritonaudit.capture.imagined import bounds_of
from tritonaudit.simulator.engine import Argument
from tritonaudit.trace.recorded import Passed, Storage, View

_PIECE = 4096
"""Bytes of a sample that stay together."""


class NotRecorded(Exception):
    """Why a launch cannot be recorded."""


def passed_of(arguments: Sequence[Argument]) -> tuple[tuple[Passed, ...], list[torch.Tensor]]:
    """The arguments as data, and a tensor on each of the storages that they number. Raises NotRecorded."""
    numbers: dict[int, int] = {}
    held: list[torch.Tensor] = []
    passed: list[Passed] = []
    for one in arguments:
        if isinstance(one.value, torch.Tensor):
            if one.value.untyped_storage().device.type not in ("cpu", "meta"):
                raise NotRecorded(f"`{one.name}` has no memory")
            address = one.value.untyped_storage()._cdata
            if address not in numbers:
                numbers[address] = len(held)
                held.append(one.value)
            passed.append(Passed(one.name, _view(one.value, numbers[address]), one.offset))
        elif isinstance(one.value, (bool, int, float)):
            passed.append(Passed(one.name, one.value, one.offset))
        else:
            raise NotRecorded(f"`{one.name}` is neither a tensor nor a number, but a {type(one.value).__name__}")
    return tuple(passed), held


def _view(tensor: torch.Tensor, storage: int) -> View:
    dtype = str(tensor.dtype).removeprefix("torch.")
    return View(storage, dtype, tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset())


def keep_storage(
    tensor: torch.Tensor, undefined: Mapping[int, torch.Tensor], blob: Callable[[bytes], str], limit: int
) -> Storage:
    """The memory that a tensor is on: whole up to so many bytes, and where it holds integers, which may be indices."""
    storage = tensor.untyped_storage()
    if storage.device.type == "meta":
        return Storage(storage.nbytes(), "", bounds=bounds_of(tensor))
    size, address = storage.nbytes(), storage.data_ptr()
    unknown = undefined.get(address)
    is_sampled = size > limit and (tensor.is_floating_point() or tensor.is_complex())
    contents = blob(_sample(address, size, limit) if is_sampled else _bytes(address, size))
    return Storage(size, contents, is_sampled, "" if unknown is None else _marks(unknown, blob))


def _bytes(address: int, size: int) -> bytes:
    return ctypes.string_at(address, size) if size else b""


def _sample(address: int, size: int, limit: int) -> bytes:
    pieces = max(limit // _PIECE, 1)
    step = size // pieces // _PIECE * _PIECE
    return b"".join(_bytes(address + number * step, _PIECE) for number in range(pieces))


def _marks(undefined: torch.Tensor, blob: Callable[[bytes], str]) -> str:
    """Nothing where all has been written."""
    if not bool(undefined.any()):
        return ""
    return blob(zlib.compress(_bytes(undefined.data_ptr(), undefined.numel()), 1))
