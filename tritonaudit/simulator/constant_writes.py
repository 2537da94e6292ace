"""What a kernel can write nothing to but one constant: programs that write there write the same, whatever they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch

from tritonaudit.simulator.ir import Constant, Function, Location, Module, Operation
from tritonaudit.simulator.slices import SPREADING, blocks_in, made_of, pointed_to, pointers_written, sources_of
from tritonaudit.simulator.torch_memory import storage_address

_WRITES = "tt.store"
_OTHER_WRITES = ("tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_store", "tt.descriptor")

_Written = tuple[str, Any] | None
"""The type and the constant of all elements that a store writes; None where they may be any."""


def write_one_constant(location: Location | None, module: Module, values: Sequence[object]) -> bool:
    """Whether all that the launch can write to the memory that it writes to there is one constant.

    `values` are the kernel's arguments, of which several can be tensors in one storage.
    """
    if pointers_written(module) is None:
        return False
    stores = _stores(module)
    memory = {_memory(values[place]) for places, where, _ in stores if where == location for place in places}
    written = {what for to, _, what in stores if not to or any(_memory(values[place]) in memory for place in to)}
    return bool(memory) and len(written) == 1 and None not in written


def _memory(value: object) -> int | None:
    return storage_address(value) if isinstance(value, torch.Tensor) else None


@lru_cache(maxsize=64)
def _stores(module: Module) -> tuple[tuple[frozenset[int], Location | None, _Written], ...]:
    """Of each write of the kernel to which arguments' memory it goes, by their places, where it is, and what it writes.

    One without a place may go anywhere.
    """
    kernel = module.kernel
    sources = sources_of(kernel)
    makers = {one.results[0]: one for one in blocks_in(kernel.region.blocks) if len(one.results) == 1}
    return tuple(
        (pointed_to(one.operands[:1], kernel, sources), one.location, _written(one, kernel, makers, sources))
        for one in blocks_in(kernel.region.blocks)
        if one.name == _WRITES or one.name.startswith(_OTHER_WRITES)
    )


def _written(
    write: Operation, kernel: Function, makers: Mapping[int, Operation], sources: Mapping[int, Sequence[int]]
) -> _Written:
    if write.name != _WRITES:
        return None
    value = write.operands[1]
    made = [makers.get(number) for number in made_of([value], sources)]
    constants = [one for one in made if one is not None and one.name == "arith.constant"]
    if len(constants) != 1 or any(one is None or one.name not in {"arith.constant", *SPREADING} for one in made):
        return None
    elements = constants[0].attributes.get("value")
    if not isinstance(elements, Constant) or len(elements.elements) != 1:
        return None
    return str(kernel.types[value].element), elements.elements[0]
