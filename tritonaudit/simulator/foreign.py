"""Addresses that host code passes as numbers, in memory or alone: which tensors of the process they belong to."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.memory import FIRST_ADDRESS, AddressSpace, Buffer, address
from tritonaudit.simulator.values import Data, Value

_LEAST = 1 << 24
"""No memory is handed out below that; a number below is an index."""


def as_addresses(value: Value, type: Type, space: AddressSpace) -> Data:
    """Numbers as addresses of the launch, where they lie in a tensor that is alive; the others as they are.

    What they belong to becomes part of the space.
    """
    if value.affine is not None and value.affine.bounds[0] >= FIRST_ADDRESS:
        return value.data
    given = value.tensor(type)
    if not bool(_is_number(given).any()):
        return value.data
    found = _reported(given, {one.tensor.untyped_storage().data_ptr(): one for one in space if not one.is_absent})
    if bool(_is_number(found).any()):
        found = _reported(found, {start: _added(space, one) for start, one in _owners(found, _alive()).items()})
    return Affine.per_program(found.reshape(-1), type.shape) if found.numel() == found.shape[0] else found


def storages_at(numbers: torch.Tensor) -> dict[int, torch.UntypedStorage]:
    """Those of the tensors that are alive in which one of the numbers lies, by their addresses."""
    numbers = numbers[numbers >= _LEAST]
    if not bool(_is_number(numbers).any()):
        return {}
    return {start: tensor.untyped_storage() for start, tensor in _owners(numbers, _alive(anywhere=True)).items()}


def _is_number(addresses: torch.Tensor) -> torch.Tensor:
    return (addresses > 0) & (addresses < FIRST_ADDRESS)


def _reported(addresses: torch.Tensor, buffers: dict[int, Buffer]) -> torch.Tensor:
    """With the addresses of the launch for those in the buffers, which are given by their storages' addresses."""
    for start, buffer in buffers.items():
        end = start + buffer.tensor.untyped_storage().nbytes()
        inside = (addresses >= start) & (addresses < end)
        addresses = torch.where(inside, addresses - start + address(buffer.number, 0), addresses)
    return addresses


def _owners(addresses: torch.Tensor, tensors: Iterable[torch.Tensor]) -> dict[int, torch.Tensor]:
    """Of each storage that one of the numbers lies in, the largest tensor, by the storage's address."""
    numbers = addresses[_is_number(addresses)].unique()
    found: dict[int, torch.Tensor] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        start = storage.data_ptr()
        first = int(torch.searchsorted(numbers, start))
        if first < len(numbers) and int(numbers[first]) < start + storage.nbytes():
            known = found.get(start)
            if known is None or known.numel() < tensor.numel():
                found[start] = tensor
    return found


def _added(space: AddressSpace, tensor: torch.Tensor) -> Buffer:
    sizes = ", ".join(map(str, tensor.shape))
    return space.add(f"a {str(tensor.dtype).removeprefix('torch.')} tensor of ({sizes}) by its address", tensor)


def _alive(*, anywhere: bool = False) -> Iterator[torch.Tensor]:
    """The tensors of the process that have memory on the CPU, or anywhere."""
    for one in gc.get_objects():
        if issubclass(type(one), torch.Tensor):
            try:
                storage = one.untyped_storage()
            except (NotImplementedError, RuntimeError):
                continue
            if (storage.device.type == "cpu" or (anywhere and storage.device.type != "meta")) and storage.nbytes():
                yield one
