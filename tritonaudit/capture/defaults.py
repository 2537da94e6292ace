"""The devices that torch makes tensors on by default, and casts on by itself, where another one stands in for a GPU."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

_GPU = torch.device("cuda", 0)
_CAST_TO = torch.float16
"""What autocast takes for a GPU unless it is told otherwise."""
_ASKS = ("is_autocast_enabled", "get_autocast_dtype", "set_autocast_enabled", "set_autocast_dtype")


def stand_in_defaults() -> None:
    """Have the default device, autocast and `torch.accelerator` know the GPU that is stood in for."""
    _stand_in_default_device()
    _stand_in_autocast()
    if hasattr(torch, "accelerator"):  # since 2.6
        torch.accelerator.is_available = lambda: True
        torch.accelerator.device_count = lambda: 1
        torch.accelerator.current_accelerator = lambda *_, **__: torch.device("cuda")
        torch.accelerator.current_device_index = torch.accelerator.current_device_idx = lambda: 0
        torch.accelerator.synchronize = lambda *_: torch.cuda.synchronize()


def _stand_in_default_device() -> None:
    """What is made without a device is where the GPU's tensors are, whichever of the two is the default."""
    choose, default = torch.set_default_device, torch.get_default_device
    chosen: list[torch.device] = []

    def set_default_device(device: Any) -> None:
        chosen.clear()
        is_gpu = device is not None and torch.device(device).type == _GPU.type
        if is_gpu:
            chosen.append(_GPU)
        choose(None if is_gpu else device)

    torch.set_default_device = set_default_device
    torch.get_default_device = lambda: chosen[0] if chosen else default()


def _stand_in_autocast() -> None:
    """Autocast for the GPU is that of the CPU, with the GPU's usual type."""
    begin = torch.autocast.__init__

    @functools.wraps(begin)
    def begin_on_host(
        self: Any, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
    ) -> None:
        is_gpu = device_type == _GPU.type
        begin(self, "cpu" if is_gpu else device_type, dtype or (_CAST_TO if is_gpu else None), enabled, cache_enabled)

    torch.autocast.__init__ = begin_on_host
    for name in _ASKS:
        setattr(torch, name, _on_host(getattr(torch, name)))


def _on_host(ask: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is given the kind of a device first, which without one means the GPU."""

    @functools.wraps(ask)
    def asked(*arguments: Any) -> Any:
        first, *rest = arguments or ("cuda",)
        return ask("cpu" if first == _GPU.type else first, *rest)

    return asked
