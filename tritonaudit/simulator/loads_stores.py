"""Operations on memory: addresses, loads, stores, atomics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.arithmetic import row_sum
from tritonaudit.simulator.foreign import as_addresses
from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.elements import bits_of, dtype_of
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.sync import Ordering, ordering
from tritonaudit.simulator.values import Data, Doubt, Value, compact, doubts_of, joined


def _addptr(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    pointer, offset = frame.operands(operation)
    type = frame.result(operation)
    assert type.pointee is not None
    size = dtype_of(type.pointee).itemsize
    doubts = doubts_of((pointer, offset))
    if pointer.affine is not None and offset.affine is not None:
        return (Value(pointer.affine.plus(offset.affine.times(size)), *doubts),)
    steps: Data
    if isinstance(offset.data, (Affine, Rows)):
        steps = offset.data.times(size)
    else:
        steps = offset.tensor(frame.type(operation.operands[1])).to(torch.int64) * size
    if (rows := row_sum(pointer.data, steps, type)) is not None:
        return (Value(rows, *doubts),)
    return (Value(pointer.tensor(type) + Value(steps).tensor(type), *doubts),)


@dataclass(frozen=True, eq=False)
class _Bound:
    """What of a load is the same whenever it is executed: its operands, the type, and that of the moved elements."""

    pointer: int
    mask: int | None
    other: int | None
    type: Type
    moved: Type

    @staticmethod
    def of(operation: Operation, frame: Frame) -> _Bound:
        pointer, mask, other = (operation.operand(group) for group in range(3))
        assert pointer is not None
        type = frame.result(operation)
        return _Bound(pointer, mask, other, type, _moved(type))


def _load(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    bound: _Bound | None = frame.function.bound.get(operation.results[0])
    if bound is None:
        bound = frame.function.bound[operation.results[0]] = _Bound.of(operation, frame)
    mask = None if bound.mask is None else frame[bound.mask]
    other = None if bound.other is None else frame[bound.other]
    type = bound.type
    found = machine.accesses.load(frame[bound.pointer], mask, other, bound.moved, frame.site(operation))
    if type.is_float and type is bound.moved:
        return (found,)
    data = compact(found.tensor(type).view(dtype_of(type)), type)
    if type.is_pointer:
        data = as_addresses(Value(data), type, machine.accesses.addressing.space)
    return (Value(data, found.undefined),)


def _int_to_ptr(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    value = frame[operation.operands[0]]
    return (replace(value, data=as_addresses(value, frame.result(operation), machine.accesses.addressing.space)),)


def _moved(type: Type) -> Type:
    """The type that the elements are moved as: of 8-bit floats the bits."""
    return Type("i8", type.shape) if type.element.startswith("f8") else type


def _store(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    operands, site = frame.operands(operation), frame.site(operation)
    pointer, value = operands[:2]
    mask = operands[2] if len(operands) > 2 else None
    type = frame.type(operation.operands[1])
    machine.accesses.check_stored(value, pointer, mask, site)
    machine.accesses.store(pointer, bits_of(value.tensor(type)), mask, _moved(type), site)
    return ()


def _optional(operation: Operation, frame: Frame, group: int) -> Value | None:
    number = operation.operand(group)
    return None if number is None else frame[number]


# -- atomics -----------------------------------------------------------------------------------------------------------


def _atomic_rmw(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """Read, combine and write, lane by lane: programs in their order, the lanes of a program in theirs."""
    pointer, value, mask = (_optional(operation, frame, group) for group in range(3))
    assert pointer is not None
    assert value is not None
    machine.accesses.check_stored(value, pointer, mask, frame.site(operation))
    kind = str(operation.attributes["atomic_rmw_op"])
    found = _read_and_written(machine, operation, frame, kind, frame.result(operation))
    if kind != "exch":
        machine.accesses.check_stored(found, pointer, mask, frame.site(operation))
    return (found,)


def _atomic_store(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    pointer, value, mask = (_optional(operation, frame, group) for group in range(3))
    assert pointer is not None
    assert value is not None
    machine.accesses.check_stored(value, pointer, mask, frame.site(operation))
    _read_and_written(machine, operation, frame, "exch", frame.type(operation.operands[1]))
    return ()


def _read_and_written(machine: Machine, operation: Operation, frame: Frame, kind: str, type: Type) -> Value:
    """What lay in memory before it is combined with the operand."""
    pointer, value, mask = (_optional(operation, frame, group) for group in range(3))
    assert pointer is not None
    assert value is not None
    combine = _COMBINE.get(kind)
    if combine is None:
        raise Unsupported(operation.name, kind)
    parts, shape, doubt = machine.accesses.atomic(pointer, mask, type, frame.site(operation), _ordering(operation))
    values = value.tensor(type).expand(shape)
    before = torch.zeros(shape, dtype=values.dtype)
    for part in parts:
        memory = machine.accesses.memory(part, values.dtype)
        lanes = part.selection.lanes
        before[lanes] = _combined(combine, memory, part.selection.index[lanes], values[lanes])
    return Value(before, doubt)


def _atomic_load(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    pointer, mask = (_optional(operation, frame, group) for group in range(2))
    assert pointer is not None
    found = _read(machine, operation, frame, frame.result(operation), mask)
    if mask is None:
        return (found,)
    left_out = Doubt(mask.tensor(Type("i1")), operation.location, is_masked=True)
    return (Value(found.data, joined([found.undefined, left_out])),)


def _atomic_poll(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """Whether memory holds what is waited for; without a limit of time it is waited for."""
    expected, timeout = (_optional(operation, frame, group) for group in (1, 2))
    assert expected is not None
    type = frame.type(operation.operands[1])
    turns = machine.turns if timeout is None else None
    found = _read(machine, operation, frame, type, None)
    while turns is not None and not bool((found.tensor(type) == expected.tensor(type)).all()):
        turns.wait(frame.site(operation), is_stuck=True)
        found = _read(machine, operation, frame, type, None)
    if turns is not None:
        turns.proceed()
    holds = found.tensor(type) == expected.tensor(type)
    return (Value(holds, joined([found.undefined, expected.undefined])),)


def _read(machine: Machine, operation: Operation, frame: Frame, type: Type, mask: Value | None) -> Value:
    """What memory holds, read by an atomic."""
    pointer = frame[operation.operands[0]]
    parts, shape, doubt = machine.accesses.atomic(pointer, mask, type, frame.site(operation), _ordering(operation))
    found = torch.zeros(shape, dtype=dtype_of(type))
    for part in parts:
        lanes = part.selection.lanes
        found[lanes] = machine.accesses.memory(part, found.dtype)[part.selection.index[lanes]]
    return Value(found, doubt)


def _ordering(operation: Operation) -> Ordering:
    return ordering(str(operation.attributes["sem"]), str(operation.attributes["scope"]))


def _combined(combine: _Combine, memory: torch.Tensor, index: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """What lay at each place before; lanes that share a place take turns."""
    before = torch.empty_like(values)
    order = torch.argsort(index, stable=True)
    places = index[order]
    first = torch.ones(len(places), dtype=torch.bool)
    first[1:] = places[1:] != places[:-1]
    starts = first.nonzero().flatten()
    turn = torch.arange(len(places)) - starts.repeat_interleave(torch.diff(starts, append=torch.tensor([len(places)])))
    together = order[torch.argsort(turn, stable=True)]
    for lanes in together.split(torch.bincount(turn).tolist()):
        old = memory[index[lanes]]
        before[lanes] = old
        memory[index[lanes]] = combine(old, values[lanes])
    return before


def _unsigned_extreme(old: torch.Tensor, new: torch.Tensor, *, is_max: bool) -> torch.Tensor:
    edge = torch.iinfo(old.dtype).min
    return torch.where(((old ^ edge) < (new ^ edge)) == is_max, new, old)


_Combine = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

_COMBINE: dict[str, _Combine] = {
    "add": torch.add,
    "fadd": torch.add,
    "max": torch.maximum,
    "min": torch.minimum,
    "umax": partial(_unsigned_extreme, is_max=True),
    "umin": partial(_unsigned_extreme, is_max=False),
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "exch": lambda _, new: new,
}
"""What a place holds after an atomic, of what it held and the operand."""


def _atomic_cas(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    pointer, expected, new = frame.operands(operation)
    type = frame.result(operation)
    parts, shape, doubt = machine.accesses.atomic(pointer, None, type, frame.site(operation), _ordering(operation))
    wanted, values = expected.tensor(type).expand(shape), new.tensor(type).expand(shape)
    before = torch.zeros(shape, dtype=values.dtype)
    for part in parts:
        memory = machine.accesses.memory(part, values.dtype)
        for lane in map(tuple, part.selection.lanes.nonzero().tolist()):
            place = part.selection.index[lane]
            before[lane] = memory[place]
            if bool(before[lane] == wanted[lane]):
                memory[place] = values[lane]
    found = Value(before, doubt)
    machine.accesses.check_stored(found, pointer, None, frame.site(operation))
    return (found,)


HANDLERS: dict[str, Handler] = {
    "tt.addptr": _addptr,
    "tt.int_to_ptr": _int_to_ptr,
    "tt.load": _load,
    "tt.store": _store,
    "tt.atomic_rmw": _atomic_rmw,
    "tt.atomic_cas": _atomic_cas,
    "tt.atomic_load": _atomic_load,
    "tt.atomic_store": _atomic_store,
    "tt.atomic_poll": _atomic_poll,
}
