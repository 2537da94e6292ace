"""Executes a product that is added to something as the fused multiply-add that a GPU's compiler makes of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import torch

from tritonaudit.simulator.ir import Function, Module, Operation
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.fma import fma
from tritonaudit.simulator.slices import blocks_in
from tritonaudit.simulator.values import Value

_SUMS = ("arith.addf", "arith.subf")

Products: TypeAlias = Mapping[int, Operation]


def contracted(known: Mapping[str, Handler]) -> Mapping[str, Handler]:
    """Handlers that contract every sum one of whose operands is a product."""
    return contracted_where(known, lambda: True)


def contracted_where(known: Mapping[str, Handler], is_fused: Callable[[], bool]) -> Mapping[str, Handler]:
    """Handlers that contract such sums when told so."""
    products: dict[str, Products] = {}

    def contracting(handler: Handler) -> Handler:
        def execute(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
            (plain,) = handler(machine, operation, frame)
            function = frame.function
            if function.name not in products:
                products[function.name] = _products(function)
            fused = _fused(products[function.name], operation, frame) if is_fused() else None
            return (plain if fused is None else replace(plain, data=fused),)

        return execute

    return {name: contracting(handler) if name in _SUMS else handler for name, handler in known.items()}


def may_contract(module: Module) -> bool:
    """Whether any product is added to something."""
    return any(
        operation.name in _SUMS and any(number in products for number in operation.operands)
        for function in module.functions
        for products in [_products(function)]
        for operation in blocks_in(function.region.blocks)
    )


def _fused(products: Products, operation: Operation, frame: Frame) -> torch.Tensor | None:
    """The sum with its left operand's product unrounded, or else its right one's."""
    left, right = operation.operands
    sign = -1 if operation.name == "arith.subf" else 1
    if left in products:
        a, b = (frame.tensor(number) for number in products[left].operands)
        return fma(*torch.broadcast_tensors(a, b, sign * frame.tensor(right)))
    if right in products:
        a, b = (frame.tensor(number) for number in products[right].operands)
        return fma(*torch.broadcast_tensors(sign * a, b, frame.tensor(left)))
    return None


def _products(function: Function) -> Products:
    """The products of a function by their values, also where they are only broadcast."""
    found: dict[int, Operation] = {}
    for operation in blocks_in(function.region.blocks):
        if operation.name == "arith.mulf":
            found[operation.results[0]] = operation
        elif operation.name == "tt.broadcast" and operation.operands[0] in found:
            found[operation.results[0]] = found[operation.operands[0]]
    return found
