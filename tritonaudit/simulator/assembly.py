"""Inline assembly of elements: its PTX, executed for all of them at once.

Elements of fewer than 32 bits come several to a register where several are asked for, those in a row together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import torch
from torch import Tensor

from tritonaudit.simulator.ir import Operation
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.casts import extend_unsigned
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.ptx.code import Code, parse_assembly
from tritonaudit.simulator.ptx.execution import run_assembly
from tritonaudit.simulator.values import Doubt, Value, compact, joined

_NAME = "tt.elementwise_inline_asm"
_OPERAND = re.compile(r"\$(?:\{(\d+)\}|(\d+)|(\$))")
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_WIDTHS = {"h": 2, "r": 4, "f": 4, "l": 8, "d": 8}
"""The bytes of a register, by the letter of its constraint."""
_REGISTER = 4
"""Bytes of one that holds several elements."""


@dataclass(frozen=True)
class _Assembly:
    """The code, and the widths of its registers in bytes: those that it sets come first."""

    code: Code
    results: tuple[int, ...]
    operands: tuple[int, ...]


@lru_cache(maxsize=256)
def _assembly(text: str, constraints: str) -> _Assembly:
    """Raises Unsupported."""
    letters = [one.strip() for one in constraints.split(",")]
    kept = [one for one in letters if one and one[0] != "~"]
    results = tuple(_width(one[1:].lstrip("&")) for one in kept if one[0] == "=")
    operands = tuple(_width(one) for one in kept if one[0] != "=")
    if [one[0] == "=" for one in kept] != [True] * len(results) + [False] * len(operands):
        raise Unsupported(_NAME, f"constraints {constraints}")
    named = _OPERAND.sub(lambda found: "$" if found[3] else _register(int(found[1] or found[2])), text)
    return _Assembly(parse_assembly(named, [_register(place) for place in range(len(results))]), results, operands)


def _width(letter: str) -> int:
    if letter not in _WIDTHS:
        raise Unsupported(_NAME, f"constraint {letter}")
    return _WIDTHS[letter]


def _register(place: int) -> str:
    return f"%operand{place}"


def _execute(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """Every element, or every few in a row, on a thread of its own. Raises Unsupported."""
    try:
        return tuple(_results(operation, frame))
    except Unsupported as error:
        raise Unsupported(_NAME, error.detail or error.name) from None


def _results(operation: Operation, frame: Frame) -> Iterator[Value]:
    pack = int(operation.attributes["packed_element"])
    assembly = _assembly(str(operation.attributes["asm_string"]), str(operation.attributes["constraints"]))
    types = [frame.type(number) for number in operation.results]
    values = frame.operands(operation)
    shape = _shape(frame, operation, pack)
    operands = [
        value.tensor(frame.type(number)).expand(shape) for value, number in zip(values, operation.operands, strict=True)
    ]
    registers = [one for operand in operands for one in _taken_apart(operand, pack)]
    if len(registers) != len(assembly.operands):
        raise Unsupported(_NAME, f"{len(registers)} registers for {len(assembly.operands)} operands")
    first = len(assembly.results)
    given = {
        _register(first + place): _widened(one, width)
        for place, (one, width) in enumerate(zip(registers, assembly.operands, strict=True))
    }
    wanted = [_register(place) for place in range(first)]
    found = run_assembly(assembly.code, given, wanted, prod(shape) // pack)
    undefined, wrapped = joined(value.undefined for value in values), joined(value.wrapped for value in values)
    for type in types:
        count = _registers_of(dtype_of(type), pack)
        mine, found = found[:count], found[count:]
        if any(one is None for one in mine):
            nothing = torch.zeros([1] * len(shape), dtype=torch.bool)
            yield Value(torch.zeros(nothing.shape, dtype=dtype_of(type)), Doubt(nothing, operation.location))
            continue
        data = _put_together([one for one in mine if one is not None], dtype_of(type), pack).reshape(shape)
        yield Value(data if frame.has_lanes else compact(data, type), undefined, wrapped)


def _shape(frame: Frame, operation: Operation, pack: int) -> tuple[int, ...]:
    """Of all elements: programs or 1, then the block's sizes, as far as elements differ along these."""
    numbers = operation.operands
    shapes = [frame.tensor(number).shape for number in numbers]
    if pack == 1:
        rank = frame.type(operation.results[0]).rank
        return tuple(torch.broadcast_shapes(*shapes)) if shapes else (1,) * (rank + 1)
    sizes = frame.type(operation.results[0]).shape
    if frame.has_lanes or prod(sizes) % pack:
        raise Unsupported(_NAME, f"{pack} elements together of {prod(sizes)}")
    return (max((shape[0] for shape in shapes), default=1), *sizes)


def _registers_of(dtype: torch.dtype, pack: int) -> int:
    """How many registers a thread's elements of a type come in."""
    return pack // _together(dtype, pack)


def _together(dtype: torch.dtype, pack: int) -> int:
    """How many elements a register holds."""
    if dtype == torch.bool and pack > 1:
        raise Unsupported(_NAME, "truths together in registers")
    return min(pack, max(1, int(_REGISTER // dtype.itemsize)))


def _taken_apart(operand: Tensor, pack: int) -> list[Tensor]:
    """The registers that hold an operand's elements, with a number for each thread."""
    bits = operand.to(torch.int8) if operand.dtype == torch.bool else operand.view(_INTEGERS[operand.dtype.itemsize])
    together = _together(operand.dtype, pack)
    elements = bits.reshape(-1, pack // together, together)
    if together == 1:
        return list(elements[..., 0].unbind(1))
    width = 8 * operand.dtype.itemsize
    wide = elements.to(torch.int64) & ((1 << width) - 1)
    return list((wide << torch.arange(0, width * together, width)).sum(-1).to(torch.int32).unbind(1))


def _put_together(registers: Sequence[Tensor], dtype: torch.dtype, pack: int) -> Tensor:
    """All elements of a result, of the registers that hold them."""
    together = _together(dtype, pack)
    integer = _INTEGERS[dtype.itemsize]
    found = []
    for register in registers:
        bits = register.to(torch.int8) if register.dtype == torch.bool else register
        bits = bits.view(_INTEGERS[bits.dtype.itemsize])
        if bits.dtype.itemsize < dtype.itemsize:
            raise Unsupported(_NAME, f"{8 * bits.dtype.itemsize} bits for a result of {8 * dtype.itemsize}")
        found.append(torch.stack([(bits >> (8 * dtype.itemsize * place)) for place in range(together)], -1))
    elements = torch.stack(found, 1).to(integer).reshape(-1)
    return elements.bool() if dtype == torch.bool else elements.view(dtype)


def _widened(register: Tensor, width: int) -> Tensor:
    """As so many bytes, zeros above. Raises Unsupported for what does not fit."""
    if register.dtype.itemsize > width:
        raise Unsupported(_NAME, f"{8 * register.dtype.itemsize} bits in a register of {8 * width}")
    return register if register.dtype.itemsize == width else extend_unsigned(register, _INTEGERS[width])


HANDLERS: dict[str, Handler] = {_NAME: _execute}
