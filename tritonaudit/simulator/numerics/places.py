"""Functions of numbers whose result does not depend on where these lie.

Behind the last whole vector, and where elements do not lie side by side, some of torch's functions have other last
bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor

_VECTOR = 64
"""A multiple of the elements that torch computes at once."""
_SERIAL = 1 << 15
"""Elements up to which torch uses one thread, so that there is no rest of another's."""


def anywhere(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The same function of each number, which torch computes in whole vectors only."""

    @wraps(function)
    def of_each(x: Tensor) -> Tensor:
        numbers = x.reshape(-1).contiguous()
        count = numbers.numel()
        if count <= _SERIAL or torch.get_num_threads() == 1:
            found = function(numbers)
        else:
            found = torch.cat([function(part) for part in numbers.split(_SERIAL)])
        if behind := count % _VECTOR:
            rest = numbers.new_zeros(_VECTOR)
            rest[:behind] = numbers[-behind:]
            found[-behind:] = function(rest)[:behind]
        return found.reshape(x.shape)

    return of_each
