"""Spares a process torch's compiler, which takes seconds to import, where nothing is compiled. Imports torch.

Functions that torch keeps its compiler from following import it when they are first called, only to be distinguished.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from inspect import getclosurevars
from types import FunctionType
from typing import Any

import torch

_KEPT = "__dynamo_disable"
"""Where torch (from 2.6) keeps of such a function what is called in its place."""


def spare_compiler() -> None:
    """Have such functions of the modules imported so far called as they are, until something imports the compiler."""
    disable = getattr(torch, "_disable_dynamo", None)
    if disable is None:
        return
    code = disable(spare_compiler).__code__
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__ is code:
            kept = getclosurevars(one).nonlocals["fn"]
            if not hasattr(kept, _KEPT):
                setattr(kept, _KEPT, _called_as_it_is(kept, one))


def _called_as_it_is(function: Any, by_torch: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            return function(*args, **kwargs)
        if getattr(function, _KEPT, None) is called:
            delattr(function, _KEPT)
        return by_torch(*args, **kwargs)

    return called
