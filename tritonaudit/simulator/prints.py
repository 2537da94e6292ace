"""What programs print with `tl.device_print`, line by line as a GPU prints it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.elements import width_of
from tritonaudit.simulator.numerics.unsupported import Unsupported

_MOST_LINES = 10_000
"""Of a launch: what more there is to print is left out."""


def _print(machine: Machine, operation: Operation, frame: Frame) -> tuple[()]:
    """One line for each element of each operand, program by program; of a scalar one, not one for each thread."""
    if frame.has_lanes:
        raise Unsupported(operation.name, "where elements are combined")
    for line in _lines(operation, frame):
        if len(machine.printed) > _MOST_LINES:
            break
        machine.printed.append(line if len(machine.printed) < _MOST_LINES else "…")
    return ()


def _lines(operation: Operation, frame: Frame) -> Iterator[str]:
    prefix = str(operation.attributes.get("prefix", ""))
    types = [frame.type(number) for number in operation.operands]
    count = len(frame.programs)
    tensors = [
        frame.tensor(number).expand(count, *type.shape) for number, type in zip(operation.operands, types, strict=True)
    ]
    signs = operation.attributes.get("isSigned") or (1,) * len(types)
    forms = [
        _form(type, bool(sign), bool(operation.attributes.get("hex"))) for type, sign in zip(types, signs, strict=True)
    ]
    for place in range(count):
        program = "pid ({}, {}, {})".format(*frame.programs.id(place))
        if not types:
            yield program + prefix
        for number, (tensor, type, form) in enumerate(zip(tensors, types, forms, strict=True)):
            which = f"(operand {number}) " if len(types) > 1 else ""
            widths = [len(str(size - 1)) for size in type.shape]
            elements = tensor[place].flatten().tolist()
            for lane, element in zip(product(*map(range, type.shape)), elements, strict=True):
                at = ", ".join(f"{axis:{width}}" for axis, width in zip(lane, widths, strict=True))
                yield f"{program} idx ({at}){prefix}{which}{form(element)}"


def _form(type: Type, is_signed: bool, is_hexadecimal: bool) -> Callable[[float], str]:
    """How an element is written."""
    if type.is_float:
        return lambda element: f"{element:f}"
    bits = width_of(type)
    mask = (1 << bits) - 1
    if type.is_pointer:
        return lambda element: f"{int(element) & mask:#x}"
    if is_hexadecimal:
        return lambda element: f"0x{int(element) & mask:0{max(1, bits // 4)}x}"
    return lambda element: str(int(element) if is_signed else int(element) & mask)


HANDLERS: dict[str, Handler] = {"tt.print": _print}
