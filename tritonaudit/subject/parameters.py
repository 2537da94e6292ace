"""The parameters of a model that are one number throughout when it is new, as weights of 1 and biases of 0 are.

Whoever takes them for granted is right only until the model is trained, or loaded: with others drawn in their place
that shows. Imports torch.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

_Kind = tuple[tuple[int, ...], str, float]
"""What such parameters have in common: their shape, their dtype, and the number."""
_AWAY = 0.5
"""How far a number that is drawn may lie from 0, or from 1 as a factor of what it was."""


_DIGITS = 8
"""Of a checksum, before the number of elements."""


class OtherParameters(Exception):
    """A model has other constant parameters than the one that it stands beside, so that none are drawn for both."""


class FewerParameters(Exception):
    """Its constant parameters have fewer elements: it may take the others' numbers for granted."""


def constants_of(model: Any) -> str:
    """A digest of the constant parameters of a model, whatever they are called in it; empty where it has none."""
    kinds = Counter(kind for kind, _ in _constant(model))
    return f"{zlib.crc32(repr(sorted(kinds.items())).encode()):0{_DIGITS}x}{_elements(kinds):x}" if kinds else ""


def check_constants(model: Any, parameters: str) -> None:
    """Raises OtherParameters or FewerParameters where this is not the digest of the model's."""
    own = constants_of(model)
    if int(own[_DIGITS:] or "0", 16) < int(parameters[_DIGITS:], 16):
        raise FewerParameters("its constant parameters are fewer than those of the reference")
    if own != parameters:
        raise OtherParameters("its constant parameters are other ones than those of the reference")


def _elements(kinds: Counter[_Kind]) -> int:
    return sum(number * math.prod(shape) for (shape, _, _), number in kinds.items())


def draw_constants(model: Any, seed: int) -> None:
    """Give those parameters other numbers, the same to all of a kind, so that no order of them matters."""
    for kind, parameter in _constant(model):
        shape, _, number = kind
        generator = torch.Generator().manual_seed(zlib.crc32(repr((kind, seed)).encode()))
        away = (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1) * _AWAY
        with torch.no_grad():
            parameter.copy_(number * (1 + away) if number else away)


def _constant(model: Any) -> Iterator[tuple[_Kind, torch.nn.Parameter]]:
    if not isinstance(model, torch.nn.Module):
        return
    for parameter in model.parameters():
        if parameter.is_floating_point() and parameter.numel() and parameter.layout == torch.strided:
            with torch.no_grad():
                first = parameter.reshape(-1)[:1]
                number = float(first)
                is_constant = math.isfinite(number) and bool((parameter == first).all())
            if is_constant:
                yield (tuple(parameter.shape), str(parameter.dtype), number), parameter
