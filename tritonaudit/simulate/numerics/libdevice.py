"""Functions of CUDA's libdevice and AMD's OCML that kernels call by symbol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from torch import Tensor

Function: TypeAlias = Callable[..., Tensor]

FUNCTIONS: Mapping[str, Function] = {}
