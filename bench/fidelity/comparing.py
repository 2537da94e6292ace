"""How far two results of a launch are apart, and how far they may be."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tritonaudit.simulator.numerics.bounds import ulp_distance
from tritonaudit.simulator.numerics.rounding import BITS

FACTOR = 2.0
"""How many times the largest deviation that declared errors lead to a result may deviate."""

GROUP = 256
"""How many elements of about the same magnitude are taken together."""


@dataclass(frozen=True)
class Difference:
    """Of two tensors: how many elements differ, and by how many ulps at most (integers: by how much)."""

    elements: int
    worst: float


def same_bits(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Where two tensors of one type hold the same bits; any NaN is the same as any other."""
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[a.itemsize]
    same = a.view(bits) == b.view(bits)
    if a.dtype.is_floating_point and not bool(same.all()):
        wide = torch.float64 if a.dtype is torch.float64 else torch.float32
        same |= a.to(wide).isnan() & b.to(wide).isnan()
    return same


def difference(a: torch.Tensor, b: torch.Tensor) -> Difference:
    """What differs."""
    differs = ~same_bits(a, b)
    one, two = a[differs], b[differs]
    if not one.numel():
        return Difference(0, 0.0)
    if not one.dtype.is_floating_point:
        return Difference(one.numel(), float((one.double() - two.double()).abs().max()))
    if one.dtype not in BITS:  # of 8 bits
        return Difference(one.numel(), float(_ulps_apart(one, two).max()))
    return Difference(one.numel(), float(ulp_distance(one, two).max()))


def distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """How far each element is from the other, float64; infinite where only one is a number, or an infinity."""
    one, two = a.to(torch.float64), b.to(torch.float64)
    apart = (one - two).abs()
    if not a.dtype.is_floating_point:
        return torch.where(a == b, 0.0, apart.clamp(min=1.0))
    alike = (one == two) | (one.isnan() & two.isnan())
    return torch.where(alike, 0.0, torch.where(apart.isfinite(), apart, torch.inf))


def allowed(ours: torch.Tensor, deviation: torch.Tensor) -> torch.Tensor:
    """How far a GPU's result may be from ours, of the largest `deviation` of each element that was seen.

    `FACTOR` times that, or times what was seen in elements like it where that is more, since a few samples of one
    element may miss what is rare: in the `GROUP` elements of about its magnitude, the largest deviation or the largest
    relative to the magnitude, whichever allows less. Where anything in the tensor deviates, any element may be rounded
    to the next one.
    """
    if not bool((deviation > 0).any()):
        return torch.zeros_like(deviation)
    return torch.maximum(FACTOR * torch.maximum(deviation, _of_alike(ours, deviation)), _step(ours))


def _of_alike(ours: torch.Tensor, deviation: torch.Tensor) -> torch.Tensor:
    """The deviation that elements of about the same magnitude have; that one of them overflows says nothing of it."""
    magnitude = ours.to(torch.float64).abs().nan_to_num(torch.inf)
    order = magnitude.argsort()
    groups = max(1, len(order) // GROUP)
    group = torch.div(torch.arange(len(order)) * groups, len(order), rounding_mode="floor")
    absolute, size = deviation.nan_to_num(posinf=0.0)[order], magnitude[order]
    relative = torch.where(size > 0, absolute / size, 0.0).nan_to_num(0.0)
    most = [torch.zeros(groups, dtype=torch.float64).scatter_reduce(0, group, x, "amax") for x in (absolute, relative)]
    found = torch.empty_like(deviation)
    found[order] = torch.minimum(most[0][group], (most[1][group] * size).nan_to_num(torch.inf))
    return found


def are_within(ours: torch.Tensor, theirs: torch.Tensor, deviation: torch.Tensor) -> bool:
    """Whether every element of a GPU's result is as near to ours as it may be."""
    return bool((distance(ours, theirs) <= allowed(ours, deviation)).all())


def _step(x: torch.Tensor) -> torch.Tensor:
    """From each element to the next of its type that is greater in magnitude, float64."""
    if not x.dtype.is_floating_point:
        return torch.ones(x.shape, dtype=torch.float64)
    info = torch.finfo(x.dtype)
    magnitude = x.to(torch.float64).abs().nan_to_num(0.0, 0.0).clamp(min=info.tiny)
    return info.eps * torch.exp2(torch.floor(torch.log2(magnitude)))


def _ulps_apart(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return distance(a, b) / torch.maximum(_step(a), _step(b))
