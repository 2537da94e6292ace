"""What fills the tensors of a case, and how they lie in memory. Imports torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import torch

from tritonaudit.subject.given import ANY_INTEGERS, OF_TENSOR, RUNS, special_of
from tritonaudit.subject.model import Case, Layout

_NUMBERS = {"zeros": (0.0, -0.0), "ones": (1.0,), "nan": (math.nan, -math.nan)}
"""What fills are made of: zeros and NaN of both signs, which count as equal."""
_ROWS, _SHIFT, _TIMES, _NORMAL = " rows", "+normal", "*normal", "normal"
_EXTREME = 4
"""So many runs are of the extremes for one that is of a number beside them."""
_STEP = 5
"""So many elements are from one zero to the next."""
_PLACES = (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1))
"""Where special values are among others, as parts of the rows and columns."""
_PARTS = {"|": -1, "/": -2}
"""What is between parts of a fill, and the axis along which these come one after the other."""


class Turn(NamedTuple):
    """How many matrices, or more, come before a tensor, how many tensors of any dimensions after it, and its place."""

    before: int = 0
    after: int = 0
    place: int = 0


def filled(
    case: Case, shape: tuple[int, ...], dtype: torch.dtype, usual: torch.Tensor | None = None, place: int = 0
) -> torch.Tensor:
    """A tensor of the case's fill; numbers beyond the dtype's become its largest, infinities stay.

    Where the fill leaves numbers as usual they are those of `usual`, else normal ones. One that is of a single tensor
    fills the one at that `place`. Unless negative numbers are meant, those beside it and those of the others are
    positive, so that whatever they are multiplied with the infinities in it have one sign.
    """
    fill, alone, number = case.fill.partition(OF_TENSOR)
    if alone:
        there = replace(case, fill=fill if int(number) == place else _NORMAL)
        values = filled(there, shape, dtype, usual, place)
        keeps_signs = special_of(fill) is not None or _has_negative(fill)
        return values if keeps_signs else values.where(values.isinf(), values.abs())
    wide = torch.float64 if dtype == torch.float64 else torch.float32

    def ordinary() -> torch.Tensor:
        if usual is None:
            return torch.randn(shape, dtype=wide, device=case.device)
        return usual.to(wide, copy=True)

    if case.fill in (_NORMAL, ANY_INTEGERS, RUNS):
        values = ordinary()
    elif (special := special_of(case.fill)) is not None:
        values = among(ordinary(), special[0], place)
    elif case.fill == "alternating":
        values = torch.arange(math.prod(shape), device=case.device).remainder(2).mul(-2).add(1).reshape(shape).to(wide)
    elif case.fill.endswith(_ROWS):
        values = ordinary()
        values[1 :: 2 if len(shape) > 1 else 1] = float(case.fill.removesuffix(_ROWS))
    elif case.fill.endswith(_SHIFT):
        values = ordinary() + float(case.fill.removesuffix(_SHIFT))
    elif (times := times_normal(case.fill)) is not None:
        values = ordinary() * times
    elif between := next((one for one in _PARTS if one in case.fill), ""):
        parts = [
            ordinary() if part == _NORMAL else torch.full(shape, float(part), dtype=wide, device=case.device)
            for part in case.fill.split(between)
        ]
        values = _one_after_the_other(parts, _PARTS[between])
    else:
        numbers = [number for part in case.fill.split(",") for number in _NUMBERS.get(part) or (float(part),)]
        values = _repeated(numbers, shape, wide, case.device)
    limit = torch.finfo(dtype).max
    return values.where(values.isinf(), values.clamp(-limit, limit)).to(dtype)


def _has_negative(fill: str) -> bool:
    """Whether a fill of parts has a finite number below 0."""
    parts = fill.replace("/", "|").split("|")
    return any(part.startswith("-") and math.isfinite(float(part)) for part in parts)


def times_normal(fill: str) -> float | None:
    """By what a fill multiplies what all tensors hold usually; None for another one."""
    return float(fill.removesuffix(_TIMES)) if fill.endswith(_TIMES) else None


def among(tensor: torch.Tensor, special: float, place: int = 0) -> torch.Tensor:
    """The same with the special value in the first place, in the last, and where the second third and half begin, each
    in a row of its own: parts of a row that are treated apart are likely to end there.

    Of NaN, every other one has its sign bit set. Zeros, of both signs, come every few elements instead, from that
    `place` on: those of a tensor meet other numbers of the next.
    """
    values = tensor.contiguous().clone()
    if not special:
        for start, zero in ((place % _STEP, 0.0), (place % _STEP + _STEP, -0.0)):
            values.view(-1)[start :: 2 * _STEP] = zero
        return values
    rows = values.reshape(-1, values.shape[-1] if values.numel() and values.dim() else 1)
    for turn, part in enumerate(_PLACES if values.numel() else ()):
        row, column = (min(int(part * size), size - 1) for size in rows.shape)
        rows[row, column] = -special if math.isnan(special) and turn % 2 else special
    return values


def in_runs(least: int, largest: int, shape: Sequence[int], seed: int) -> torch.Tensor:
    """Integers of which each row has runs, short ones or long ones: of the least and the largest, or those beside."""
    generator = torch.Generator().manual_seed(seed)
    length = shape[-1] if shape else 1
    rows = math.prod(shape[:-1])
    few = torch.rand(rows, 1, generator=generator) * math.log2(length + 1)
    begins = torch.rand(rows, length, generator=generator) < 2.0**-few
    beside = torch.tensor([least, largest] * _EXTREME + [min(least + 1, largest), max(largest - 1, least)])
    levels = beside[torch.randint(len(beside), (rows, length + 1), generator=generator)]
    return levels.gather(1, begins.long().cumsum(1)).reshape(tuple(shape))


def _one_after_the_other(parts: Sequence[torch.Tensor], axis: int) -> torch.Tensor:
    """Along the axis, or the only one, a part of each of them, of equal lengths."""
    if not parts[0].dim():
        return parts[0]
    axis = max(axis, -parts[0].dim())
    cuts = [part.tensor_split(len(parts), axis)[place] for place, part in enumerate(parts)]
    return torch.cat(cuts, axis)


def _repeated(numbers: Sequence[float], shape: tuple[int, ...], dtype: torch.dtype, device: str) -> torch.Tensor:
    """The numbers one after the other, along each row again."""
    given = torch.tensor(numbers, dtype=dtype, device=device)
    if len(numbers) == 1:
        return given.expand(shape).clone()
    size = shape[-1] if shape else 1
    row = given.repeat(-(-size // len(numbers)))[:size]
    return row.expand(shape).clone() if shape else row.reshape(())


def turns(ranks: Sequence[int]) -> list[Turn]:
    """That of each tensor, by their numbers of dimensions."""
    return [
        Turn(sum(rank > 1 for rank in ranks[:place]), sum(rank > 0 for rank in ranks[place + 1 :]), place)
        for place in range(len(ranks))
    ]


def laid_out(values: torch.Tensor, layout: Layout, turn: Turn) -> torch.Tensor:
    """The same values, placed in memory as the layout says."""
    if layout is Layout.TRANSPOSED and values.dim() >= 2:
        return values.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout is Layout.OFFSET and values.dim() >= 1:
        wider = values.new_zeros((*values.shape[:-1], values.shape[-1] + 1))
        wider[..., 1:].copy_(values)
        return wider[..., 1:]
    if layout is Layout.PADDED and values.dim() >= 2 and turn.before:
        wider = values.new_zeros((*values.shape[:-1], values.shape[-1] + turn.before))
        return wider[..., : values.shape[-1]].copy_(values)
    if layout is Layout.SPREAD and values.dim() >= 1 and turn.after:
        return spread(values, turn.after + 1)
    return values


def spread(values: torch.Tensor, step: int) -> torch.Tensor:
    """The same values, of which each is so many elements behind the one before it."""
    wider = values.new_zeros((*values.shape[:-1], values.shape[-1] * step))
    return wider[..., ::step].copy_(values)
