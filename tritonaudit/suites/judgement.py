"""What judging a result came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import torch

from tritonaudit.finding import Status

Tensor: TypeAlias = torch.Tensor
Number: TypeAlias = complex | float | int | bool

_WIDE = {"complex": torch.complex128, "floating": torch.float64, "integer": torch.int64, "boolean": torch.bool}


@dataclass(frozen=True)
class Element:
    """One element: where it is, what the kernel gave and what the reference has."""

    index: tuple[int, ...]
    got: Number
    wanted: Number


@dataclass(frozen=True)
class Extent:
    """Something that each element has: that of the worst element, and the root mean square over all."""

    max: float
    rms: float


@dataclass(frozen=True)
class Judgement:
    """What a result came to.

    `error` and `budget` are absolute; `ratio` is of the quotients of the two, element by element. `max` is of the
    `worst` element, the one that exceeds its own budget the most. `exceeding` counts the elements beyond what passes.
    `rounded_again` is the share of elements that were rounded more than once. `nonfinite` is the first element that is
    finite, infinite (with its sign) or NaN where it should be another of these. `unasked` counts the elements that are
    finite where the reference is not, which are not judged; where no other is, it is inconclusive. `beyond` of them are
    off where PyTorch's own are not finite, and where these are most, it is, too. `strict` and `loose` say whether
    rtol = atol = 1e-5 and 1e-3 hold, which decides nothing. `narrowed` names the 16-bit type of which all elements of a
    float32 result are numbers, as the reference's are not; else it is empty. `wrong` marks the exceeding elements and
    those that are not finite where they should be, or the other way round; None where the two cannot be compared.
    """

    status: Status
    reason: str
    error: Extent = Extent(0.0, 0.0)
    budget: Extent = Extent(0.0, 0.0)
    ratio: Extent = Extent(0.0, 0.0)
    worst: Element | None = None
    exceeding: int = 0
    rounded_again: float = 0.0
    bias: float = 0.0
    nonfinite: Element | None = None
    unasked: int = 0
    beyond: int = 0
    strict: bool = False
    loose: bool = False
    narrowed: str = ""
    wrong: Tensor | None = field(default=None, compare=False, repr=False)


def element(output: Tensor, precise: Tensor, place: int) -> Element:
    """The one at that place, counted through."""
    index = tuple(int(one) for one in torch.unravel_index(torch.tensor(place), output.shape))
    return Element(index, output[index].to(_WIDE[kind(output)]).item(), precise[index].item())


def kind(tensor: Tensor) -> str:
    if tensor.is_complex():
        return "complex"
    if tensor.is_floating_point():
        return "floating"
    return "boolean" if tensor.dtype == torch.bool else "integer"


def described(element: Element) -> str:
    place = ", ".join(map(str, element.index))
    return f"the worst at [{place}]: {_number(element.got)}, wanted {_number(element.wanted)}"


def _number(number: Number) -> str:
    return f"{number:.6g}" if isinstance(number, (float, complex)) else str(number)
