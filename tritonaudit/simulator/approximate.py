"""Operations on elements that a GPU approximates, executed as the PTX that Triton makes of them for an H100.

Triton's own compiler says what an operation becomes: an instruction that approximates, or a function of libdevice,
which is a sequence of them and of others. One element's worth of it is executed for all elements, bit by bit. What has
instructions that are not modelled is executed as it always is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import torch
from torch import Tensor

from tritonaudit.capture.launch import Program
from tritonaudit.simulator.arithmetic import elementwise
from tritonaudit.simulator.gpu_program import TARGET
from tritonaudit.simulator.ir import Module, Operation, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.bounds import ulps
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.ptx.code import Code, parse
from tritonaudit.simulator.ptx.execution import run
from tritonaudit.simulator.values import Value, compact, joined

_FUNCTION = "tt.extern_elementwise"
_NAMES = ("arith.divf", "math.", _FUNCTION)
_FLOATS = ("f16", "bf16", "f32", "f64")


def handlers_of(_: Module, __: str, known: Mapping[str, Handler]) -> dict[str, Handler]:
    """What executes the operations that are approximated."""
    return {name: _execute for name, handler in known.items() if name.startswith(_NAMES) and handler is elementwise}


def _execute(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    result = frame.result(operation)
    types = tuple(frame.type(number).element for number in operation.operands)
    symbol = str(operation.attributes["symbol"]) if operation.name == _FUNCTION else ""
    code = (
        code_of(operation.name, symbol, types, result.element) if _is_inexact(symbol or operation.name, types) else None
    )
    if code is None:
        return elementwise(machine, operation, frame)
    try:
        return _value(code, operation, frame)
    except Unsupported:
        return elementwise(machine, operation, frame)


def _value(code: Code, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    result = frame.result(operation)
    values = frame.operands(operation)
    operands = [value.tensor(frame.type(number)) for value, number in zip(values, operation.operands, strict=True)]
    data = computed(code, operands, result)
    undefined, wrapped = joined([v.undefined for v in values]), joined([v.wrapped for v in values])
    return (Value(data if frame.has_lanes else compact(data, result), undefined, wrapped),)


def computed(code: Code, operands: Sequence[Tensor], result: Type) -> Tensor:
    """What the code makes of operands that broadcast; raises Unsupported."""
    if len({operand.shape for operand in operands}) > 1:
        operands = torch.broadcast_tensors(*operands)
    lanes = [operand.reshape(-1) for operand in operands]
    return run(code, lanes, dtype_of(result)).reshape(operands[0].shape)


def _is_inexact(name: str, types: Sequence[str]) -> bool:
    floats = [type for type in types if type in _FLOATS]
    return bool(floats) and ulps(name, floats[0]) != 0


@cache
def code_of(name: str, symbol: str, types: tuple[str, ...], result: str) -> Code | None:
    """The PTX of a kernel that does the operation on one element; None where there is none that is known."""
    if not symbol:
        return _compiled(f"{name} {_numbered(types)} : {result}", types, result)
    attributes = f'{{libname = "", libpath = "", pure = true, symbol = "{symbol}"}}'
    return _compiled(f"{name} {_numbered(types)} {attributes} : ({', '.join(types)}) -> {result}", types, result)


def _numbered(types: tuple[str, ...]) -> str:
    return ", ".join(f"%x{place}" for place in range(len(types)))


def _compiled(operation: str, types: tuple[str, ...], result: str) -> Code | None:
    """The PTX of a kernel that loads an element from each pointer but the last, and stores the result there."""
    from tritonaudit.compile.pipeline import compile_program  # imports Triton, which the engine can do without

    parameters = ", ".join(f"%p{place}: !tt.ptr<{type}>" for place, type in enumerate([*types, result]))
    loads = [f"%x{place} = tt.load %p{place} : !tt.ptr<{type}>" for place, type in enumerate(types)]
    store = f"tt.store %p{len(types)}, %y : !tt.ptr<{result}>"
    body = "\n".join(f"    {line}" for line in (*loads, f"%y = {operation}", store, "tt.return"))
    text = f"module {{\n  tt.func public @function({parameters}) {{\n{body}\n  }}\n}}\n"
    ptx = getattr(compile_program(Program(TARGET, text, ()), "ptx"), "texts", {}).get("ptx")
    try:
        return None if ptx is None else parse(ptx)
    except Unsupported:
        return None
