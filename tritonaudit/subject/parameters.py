"""The parameters of a model as it is when it is new: weights of 1, biases of 0, matrices that are orthogonal.

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

_Kind = tuple[tuple[int, ...], str, float | str]
"""What such parameters have in common: their shape, their dtype, and the number; or a checksum of their numbers."""
_AWAY = 0.5
"""How far a number that is drawn may lie from 0, or from 1 as a factor of what it was."""
_ALL = "*"
"""What the digest of all parameters begins with, and that of constant ones does not."""
_DIGITS = 8
"""Of a checksum, before the number of elements."""


class OtherParameters(Exception):
    """A model has other constant parameters than the one that it stands beside, so that none are drawn for both."""


class FewerParameters(Exception):
    """A model's parameters have fewer elements than those of the one that it stands beside: some are left out."""


def digests_of(model: Any) -> Iterator[str]:
    """Digests of parameters of a model, whatever they are called in it: of the constant ones, and of all.

    There is none of nothing. Each ends in how many elements all parameters have.
    """
    constant = Counter(kind for kind, _ in _constant(model))
    if constant:
        yield _digest(model, constant)
    if varied := Counter(kind for kind, _ in _varied(model)):
        yield f"{_ALL}{_digest(model, constant + varied)}"


def _digest(model: Any, kinds: Counter[_Kind]) -> str:
    checksum = zlib.crc32(repr(sorted(kinds.items(), key=repr)).encode())
    return f"{checksum:0{_DIGITS}x}{_elements(model):x}"


def check_parameters(model: Any, digest: str) -> None:
    """Raises OtherParameters or FewerParameters where this is not the digest of the model's."""
    if _elements(model) < int(digest.removeprefix(_ALL)[_DIGITS:], 16):
        raise FewerParameters("its parameters are fewer than those of the reference")
    checksum = digest[: _DIGITS + len(_ALL)] if digest.startswith(_ALL) else digest[:_DIGITS]
    if not any(own.startswith(checksum) for own in digests_of(model)):
        which = "parameters" if digest.startswith(_ALL) else "constant parameters"
        raise OtherParameters(f"its {which} differ from those of the reference")


def _elements(model: Any) -> int:
    return sum(one.numel() for one in _parameters(model))


def draw_parameters(model: Any, digest: str, seed: int) -> None:
    """Give those of the digest other numbers, the same to all of a kind, so that no order of them matters."""
    chosen = [*_constant(model), *(_varied(model) if digest.startswith(_ALL) else ())]
    for kind, parameter in chosen:
        shape, _, number = kind
        generator = torch.Generator().manual_seed(zlib.crc32(repr((kind, seed)).encode()))
        away = (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1) * _AWAY
        with torch.no_grad():
            parameter.copy_(parameter.double() * (1 + away.to(parameter.device)) if number else away)


def _constant(model: Any) -> Iterator[tuple[_Kind, torch.nn.Parameter]]:
    for parameter in _parameters(model):
        number = _number_throughout(parameter)
        if number is not None:
            yield (tuple(parameter.shape), str(parameter.dtype), number), parameter


def _varied(model: Any) -> Iterator[tuple[_Kind, torch.nn.Parameter]]:
    for parameter in _parameters(model):
        if _number_throughout(parameter) is None:
            numbers = parameter.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            yield (tuple(parameter.shape), str(parameter.dtype), f"{zlib.crc32(numbers.tobytes()):x}"), parameter


def _number_throughout(parameter: torch.nn.Parameter) -> float | None:
    """The finite number that each element is."""
    with torch.no_grad():
        first = parameter.reshape(-1)[:1]
        number = float(first)
        return number if math.isfinite(number) and bool((parameter == first).all()) else None


def _parameters(model: Any) -> Iterator[torch.nn.Parameter]:
    """Those that have a size by now, and numbers which can be others."""
    for one in model.parameters() if isinstance(model, torch.nn.Module) else ():
        is_known = not torch.nn.parameter.is_lazy(one) and one.layout == torch.strided
        if is_known and one.is_floating_point() and one.numel():
            yield one
