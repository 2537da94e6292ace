"""Results that hang on which numbers are equal, and so on whether roundings tell these apart. Imports torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch

from tritonaudit.suites.budgets import root_mean_square
from tritonaudit.suites.formats import flat, is_inexact

Results: TypeAlias = Sequence[torch.Tensor]

_MOST_BY_BITS = 2.0**-12
"""How far a result moves at most, as a part of its magnitude, where a rounding of float32 is magnified by thousands."""
_STEADIER = 1 / 8
"""What moves by less of what it moved by hangs on equal numbers."""


def jumps(precise: Results, draws: Sequence[Results]) -> bool:
    """Whether a result in float64 is farther from that of some draw than roundings of its inputs explain."""
    return any(_moved(one, drawn) > _MOST_BY_BITS for one, *drawn in zip(precise, *draws, strict=False))


def jumping(precise: torch.Tensor, same: torch.Tensor | None) -> torch.Tensor:
    """The integers that are another by more than one where the same is computed in float32, as indices are."""
    if same is None or same.shape != precise.shape or is_inexact(precise) or precise.dtype == torch.bool:
        return torch.zeros_like(precise, dtype=torch.bool)
    one, other = _ordered(precise), _ordered(same)
    least, most = torch.minimum(one, other), torch.maximum(one, other)
    return (most != least) & (most - 1 != least)


def _ordered(integers: torch.Tensor) -> torch.Tensor:
    """In 64 bits with a sign, in the same order."""
    if integers.dtype == torch.uint64:
        return integers.view(torch.int64) ^ torch.iinfo(torch.int64).min
    return integers.to(torch.int64)


def steadier(precise: Results, apart: Sequence[Results], alike: Sequence[Results]) -> list[tuple[torch.Tensor, ...]]:
    """Draws as many as there are: those in which equal numbers are off by the same, of results that hang on these.

    A kernel that compares numbers sees equal ones as such, whatever it rounds. Other results have the draws `apart`.
    """
    chosen: list[Results] = []
    for one, *both in zip(precise, *apart, *alike, strict=False):
        of_apart, of_alike = both[: len(apart)], both[len(apart) :]
        chosen.append(of_alike if _moved(one, of_alike) < _STEADIER * _moved(one, of_apart) else of_apart)
    return list(zip(*chosen, strict=True))


def _moved(precise: torch.Tensor, draws: Results) -> float:
    """How far the draws are from it at most, as a part of its own magnitude; 0 of what is no floating-point number."""
    if not precise.numel() or not is_inexact(precise):
        return 0.0
    first = flat(precise).double()
    size = _magnitude(first)
    off = (_magnitude(flat(one).double() - first) for one in draws if one.shape == precise.shape)
    return max(off, default=0.0) / size if size else 0.0


def _magnitude(numbers: torch.Tensor) -> float:
    """That of the finite ones."""
    return root_mean_square(numbers.nan_to_num(0.0, 0.0, 0.0).abs_())
