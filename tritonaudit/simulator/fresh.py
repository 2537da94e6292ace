"""Memory that was allocated and not yet written: what `torch.empty` gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from tritonaudit.simulator.operator_mode import OperatorMode
from tritonaudit.simulator.torch_memory import allocates, per_byte, storage_address, written_by

_HANDED_OUT = frozenset(("numpy", "__array__", "__dlpack__"))
"""What gives a tensor's memory to others, who may write there unseen."""
_MOST_HELD = 1 << 30
"""Bytes of allocations that are kept alive, so that no other tensor takes their address; the oldest are forgotten."""


class FreshMemory(OperatorMode):
    """Knows, while it is active, which bytes of tensors on the CPU nobody has written since they were allocated."""

    def __init__(self) -> None:
        super().__init__()
        self._held: dict[int, torch.Tensor] = {}
        self._undefined: dict[int, torch.Tensor] = {}
        self._bytes = 0
        self._handing = _HandingOut(self)

    def __enter__(self) -> FreshMemory:
        self._handing.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self._handing.__exit__(*raised)

    @staticmethod
    def active() -> FreshMemory:
        """The one that is active, innermost first; one that knows of nothing where none is."""
        stack = reversed(_get_current_dispatch_mode_stack())
        return next((mode for mode in stack if isinstance(mode, FreshMemory)), None) or FreshMemory()

    @property
    def undefined(self) -> Mapping[int, torch.Tensor]:
        """By the address of a storage, for each of its bytes whether nobody has written it."""
        for address in [address for address, tensor in self._held.items() if storage_address(tensor) != address]:
            self._forget(address)  # it was resized: another tensor may be there now
        return self._undefined

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        result = function(*args, **kwargs)
        if allocates(function):
            self._note(result)
        elif self._undefined:
            for tensor in filter(_is_here, written_by(function, args, kwargs)):
                self.define(tensor)
        return result

    @contextmanager
    def watching(self, sizes: Mapping[int, int]) -> Iterator[Mapping[int, torch.Tensor]]:
        """Tell apart what is written while this lasts, in storages given by address with their sizes in bytes.

        What it yields has in the end, by address, which of their bytes were written.
        """
        before = {address: self._undefined.get(address) for address in sizes}
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            self._undefined.update({address: torch.ones(size, dtype=torch.bool) for address, size in sizes.items()})
        written: dict[int, torch.Tensor] = {}
        try:
            yield written
        finally:
            with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
                for address, known in before.items():
                    left = self._undefined.pop(address)
                    written[address] = ~left
                    if known is not None:
                        self._undefined[address] = known & left

    def _note(self, tensor: Any) -> None:
        if not isinstance(tensor, torch.Tensor) or not _is_here(tensor) or not tensor.numel():
            return
        address, size = storage_address(tensor), tensor.untyped_storage().nbytes()
        self._forget(address)
        self._held[address] = tensor
        self._undefined[address] = torch.ones(size, dtype=torch.bool)
        self._bytes += size
        while self._bytes > _MOST_HELD:
            self._forget(next(iter(self._held)))

    def _forget(self, address: int) -> None:
        if address in self._held:
            del self._held[address]
            self._bytes -= len(self._undefined.pop(address))

    def define(self, tensor: torch.Tensor) -> None:
        """Take the tensor's elements for written."""
        undefined = self._undefined.get(storage_address(tensor))
        if undefined is None or not tensor.numel():
            return
        if len(undefined) < tensor.untyped_storage().nbytes():
            self._forget(storage_address(tensor))
            return
        per_byte(tensor, undefined).fill_(False)


class _HandingOut(TorchFunctionMode):  # type: ignore[misc]
    """Takes for written what is handed out to other libraries."""

    def __init__(self, fresh: FreshMemory) -> None:
        super().__init__()
        self._fresh = fresh

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(function, "__name__", "") in _HANDED_OUT and isinstance(args[0], torch.Tensor):
            self._fresh.define(args[0])
        return function(*args, **(kwargs or {}))


def _is_here(tensor: torch.Tensor) -> bool:
    """Whether its data are on the CPU, wherever it says that it is."""
    return bool(tensor.untyped_storage().device.type == "cpu")
