"""As an H100 computes: handlers that give its bits, approximations and orders of sums included.

A model says of which operations of a module it knows the bits. What none covers is executed as it always is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from tritonaudit.simulator import approximate, running_sums, sums, tensor_products
from tritonaudit.simulator.ir import Module
from tritonaudit.simulator.machine import Handler
from tritonaudit.simulator.sums_of_rounds import with_sums_of_rounds


def as_compiled(module: Module, ttgir: str) -> Module:
    """A module with what Triton's compiler moves elsewhere in it, where that changes what is computed."""
    return with_sums_of_rounds(module, ttgir) if ttgir else module


Model: TypeAlias = Callable[[Module, str, Mapping[str, Handler]], Mapping[str, Handler]]
"""From a module, its TTGIR (empty if that is not known) and what executes it so far: what is to execute it instead."""

_MODELS: tuple[Model, ...] = (approximate.handlers_of, tensor_products.handlers_of)


def handlers_of(
    module: Module, ttgir: str, known: Mapping[str, Handler], contracts: bool = True
) -> Mapping[str, Handler]:
    """What executes the operations of a module as a GPU does, with those of `known` for the rest.

    `contracts`: sums take in products without a rounding between.
    """
    found = dict(known)
    found |= sums.handlers_of(module, ttgir, found, contracts)
    found |= running_sums.handlers_of(module, ttgir, found, contracts)
    for model in _MODELS:
        found |= model(module, ttgir, found)
    return found
