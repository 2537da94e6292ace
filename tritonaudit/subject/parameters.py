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
    """A model's parameters have fewer elements than those of the one that it stands beside: some are left out."""


def constants_of(model: Any) -> str:
    """A digest of the constant parameters of a model, whatever they are called in it; empty where it has none.

    It ends in how many elements all parameters have.
    """
    kinds = Counter(kind for kind, _ in _constant(model))
    checksum = zlib.crc32(repr(sorted(kinds.items())).encode())
    return f"{checksum:0{_DIGITS}x}{_elements(model):x}" if kinds else ""


def check_constants(model: Any, parameters: str) -> None:
    """Raises OtherParameters or FewerParameters where this is not the digest of the model's."""
    if _elements(model) < int(parameters[_DIGITS:], 16):
        raise FewerParameters("its parameters are fewer than those of the reference")
    if constants_of(model)[:_DIGITS] != parameters[:_DIGITS]:
        raise OtherParameters("its constant parameters differ from those of the reference")


def _elements(model: Any) -> int:
    return sum(one.numel() for one in _parameters(model))


def draw_constants(model: Any, seed: int) -> None:
    """Give those parameters other numbers, the same to all of a kind, so that no order of them matters."""
    for kind, parameter in _constant(model):
        shape, _, number = kind
        generator = torch.Generator().manual_seed(zlib.crc32(repr((kind, seed)).encode()))
        away = (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1) * _AWAY
        with torch.no_grad():
            parameter.copy_(number * (1 + away) if number else away)


def _constant(model: Any) -> Iterator[tuple[_Kind, torch.nn.Parameter]]:
    for parameter in _parameters(model):
        if parameter.is_floating_point() and parameter.numel() and parameter.layout == torch.strided:
            with torch.no_grad():
                first = parameter.reshape(-1)[:1]
                number = float(first)
                is_constant = math.isfinite(number) and bool((parameter == first).all())
            if is_constant:
                yield (tuple(parameter.shape), str(parameter.dtype), number), parameter


def _parameters(model: Any) -> Iterator[torch.nn.Parameter]:
    """Those that have a size by now."""
    if isinstance(model, torch.nn.Module):
        yield from (one for one in model.parameters() if not torch.nn.parameter.is_lazy(one))
