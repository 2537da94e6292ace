"""Matrix products with the bits that an H100 gives, in place of those that are rounded once.

Which instruction multiplies two blocks, and in which order, is in the TTGIR. What that does not tell, or what is not
modelled, is multiplied as it always is; what no tensor core multiplies is so in K's order, as on the GPU.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

import torch

from tritonaudit.simulator.ir import Module, Operation, Type
from tritonaudit.simulator.machine import Handler
from tritonaudit.simulator.numerics import tensor_cores
from tritonaudit.simulator.numerics.dot import ScaledOperand, dot, dot_scaled, scaled_operands
from tritonaudit.simulator.numerics.tensor_cores import Instruction
from tritonaudit.simulator.products import is_fast, multiplied, multiplied_scaled, precision_of

_Sizes: TypeAlias = "tuple[int, ...]"
"""The result's, and K."""

_PRODUCT = re.compile(r" = (tt\.dot|\w+\.warp_group_dot) .*?:([^:]*->.*)")
_BLOCK = re.compile(r"(?:tensor|memdesc)<((?:\d+x)+)\w+, *(#[^>]*)")
_WIDTH = re.compile(r"kWidth = (\d+)")
_TARGET = '"cuda:90"'


def handlers_of(_: Module, ttgir: str, known: Mapping[str, Handler]) -> dict[str, Handler]:
    """What executes the matrix products of a module, if there are any."""
    if _TARGET not in ttgir:
        return {}
    instructions = instructions_of(ttgir)
    found: dict[str, Handler] = {
        "tt.dot": partial(multiplied, partial(_dot, instructions)),
        "tt.dot_scaled": partial(multiplied_scaled, partial(_dot_scaled, instructions)),
    }
    return {name: handler for name, handler in found.items() if name in known}


def instructions_of(ttgir: str) -> dict[_Sizes, Instruction]:
    """The instruction for each product, by its sizes; none for sizes that more than one multiplies."""
    found: dict[_Sizes, set[Instruction | None]] = {}
    for name, types in _PRODUCT.findall(ttgir):
        left, _, result = _BLOCK.findall(types)
        sizes = (*_numbers(result[0]), _numbers(left[0])[-1])
        found.setdefault(sizes, set()).add(_instruction(name, left[1]))
    return {sizes: one for sizes, known in found.items() if len(known) == 1 for one in known if one is not None}


def _instruction(name: str, layout: str) -> Instruction | None:
    """None for blocks that no tensor cores multiply."""
    if name.endswith("warp_group_dot"):
        return Instruction(is_for_group=True, width=0)
    width = _WIDTH.search(layout)
    return Instruction(is_for_group=False, width=int(width[1])) if width is not None else None


def _numbers(sizes: str) -> tuple[int, ...]:
    return tuple(map(int, sizes.rstrip("x").split("x")))


def _dot(
    instructions: Mapping[_Sizes, Instruction],
    operation: Operation,
    operands: Sequence[torch.Tensor],
    types: Sequence[Type],
) -> torch.Tensor:
    left, right, total = operands
    precision = precision_of(operation)
    instruction = instructions.get((*types[2].shape, types[0].shape[-1]))
    if instruction is not None:
        longest = int(operation.attributes.get("maxNumImpreciseAcc", 0))
        found = tensor_cores.dot(left, right, total, types, precision, instruction, longest)
        if found is not None:
            return found
    return dot(left, right, total, types, precision)


def _dot_scaled(
    instructions: Mapping[_Sizes, Instruction],
    operation: Operation,
    left: ScaledOperand,
    right: ScaledOperand,
    total: torch.Tensor,
    result: Type,
) -> torch.Tensor:
    a, b = scaled_operands(left, right, is_fast(operation))
    instruction = instructions.get((*result.shape, a.shape[-1]))
    if instruction is not None:
        found = tensor_cores.dot_scaled(a, b, total, "fp16" in (left.format, right.format), instruction)
        if found is not None:
            return found
    return dot_scaled(left, right, total, result, is_fast(operation))
