"""Results that are computed from nothing: where one of them passes, a pass proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch

from tritonaudit.suites.formats import is_inexact, on
from tritonaudit.suites.tolerance import judging_device

Tensor: TypeAlias = torch.Tensor


def garbage(precise: Tensor, dtype: Any, seed: int = 0) -> Iterator[tuple[str, Tensor]]:
    """Results that no right reference accepts, each with its name: zeros, the mean everywhere, elements shuffled."""
    wide = on(precise, judging_device(precise))
    wide = wide if is_inexact(wide) else wide.double()
    kinds = {"zeros": torch.zeros_like, "the mean": _levelled, "the elements shuffled": _shuffled(seed)}
    for name, make in kinds.items():
        try:
            made = make(wide)
        except torch.cuda.OutOfMemoryError:
            made = make(wide.cpu())
        yield name, made.to(dtype)


def _levelled(wide: Tensor) -> Tensor:
    return torch.full_like(wide, wide.mean() if wide.numel() else 0.0)


def _shuffled(seed: int) -> Callable[[Tensor], Tensor]:
    def shuffled(wide: Tensor) -> Tensor:
        generator = torch.Generator(wide.device).manual_seed(seed)
        order = torch.randperm(wide.numel(), generator=generator, device=wide.device)
        found = wide.flatten()[order]
        if torch.equal(found, wide.flatten()):  # few elements, some of them equal, may come to stand as they did
            found = found.roll(1)
        return found.reshape(wide.shape)

    return shuffled
