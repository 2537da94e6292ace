"""Integers in memory that is not there: what a tensor too large for it would hold, if only its bounds are known.

So that programs that look something up go on: a third of the elements has the largest, a third the least, and the rest
any between. Imports torch: for processes in which user code runs.
"""

from __future__ import annotations

import torch

_bounds: dict[int, tuple[torch.Tensor, int, int]] = {}
"""By the storage, with the tensor, so that no other storage takes its place."""
_MIXING, _MASK = 2654435761, (1 << 31) - 1


def is_hollow(tensor: torch.Tensor) -> bool:
    """Whether it has sizes and strides alone, and no memory."""
    return bool(tensor.untyped_storage().device.type == "meta")


def imagine(tensor: torch.Tensor, low: int, high: int) -> None:
    """Take it, which has no memory, to hold integers from low to below high."""
    _bounds[tensor.untyped_storage()._cdata] = tensor, low, high


def forget() -> None:
    """Take no tensor to hold anything any more."""
    _bounds.clear()


def bounds_of(tensor: torch.Tensor) -> tuple[int, int] | None:
    """The integers that it is taken to hold are from the one to below the other; None where it is taken for nothing."""
    known = _bounds.get(tensor.untyped_storage()._cdata)
    return None if known is None else known[1:]


def is_imagined(tensor: torch.Tensor) -> bool:
    """Whether it is taken to hold something."""
    return tensor.untyped_storage()._cdata in _bounds


def elements_of(tensor: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """What it holds in these places, counted in its storage: int64."""
    _, low, high = _bounds[tensor.untyped_storage()._cdata]
    any_ = low + ((numbers * _MIXING) & _MASK) % max(high - low, 1)
    turn = numbers % 3
    return torch.where(turn == 0, high - 1, torch.where(turn == 1, low, any_))
