"""Operations that move elements and compute none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.boxes import Box
from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.elements import constant
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.values import Data, Doubt, Mask, Value, everywhere, joined, mask_tensor

Change = Callable[[torch.Tensor], torch.Tensor]


def _once(make: Callable[[Operation, Type], Data]) -> Handler:
    """An operation without operands that always gives the same, made when it is first executed."""

    def handle(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
        bound, number = frame.function.bound, operation.results[0]
        found: tuple[Value, ...] | None = bound.get(number)
        if found is None:
            found = bound[number] = (Value(make(operation, frame.result(operation))),)
        return found

    return handle


def _constant(operation: Operation, type: Type) -> Data:
    value = operation.attributes["value"]
    if not value.is_splat or not type.is_integer:
        return constant(type, value)
    number = value.elements[0]
    return everywhere(bool(number), type) if type.element == "i1" else Affine.uniform(int(number), type.shape)


def _range(operation: Operation, type: Type) -> Data:
    start = int(operation.attributes["start"])
    return Affine(start, (1,), type.shape, start, start)


def _program_id(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    return (Value(frame.programs.ids[axis_of(operation)]),)


def _num_programs(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    return (Value(Affine.uniform(frame.programs.grid[axis_of(operation)])),)


def axis_of(operation: Operation) -> int:
    """The axis of the grid that an operation asks about."""
    axis = operation.attributes["axis"]
    return "xyz".index(axis) if isinstance(axis, str) else int(axis)


def _splat(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    value, shape = frame[operation.operands[0]], frame.result(operation).shape
    change: Change = lambda one: one.reshape(-1, *([1] * len(shape)))  # noqa: E731
    if isinstance(value.data, Affine):
        return (value.shaped(_on_masks(change), value.data.splat(shape)),)
    return (_changed(value, frame.type(operation.operands[0]), change),)


def _broadcast(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    value, shape = frame[operation.operands[0]], frame.result(operation).shape
    data = value.data
    if isinstance(data, (Affine, Rows)):
        data = data.broadcast(shape)
    elif isinstance(data, Box):
        data = data.broadcast(shape) or data.tensor()
    return (value.shaped(lambda mask: _broadcast_mask(mask, shape), data),)


def _broadcast_mask(mask: Mask, shape: tuple[int, ...]) -> Mask:
    return mask if isinstance(mask, torch.Tensor) else (mask.broadcast(shape) or mask.tensor())


def _expand_dims(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    value, axis = frame[operation.operands[0]], int(operation.attributes["axis"])
    data = value.data.unsqueeze(axis + 1) if isinstance(value.data, torch.Tensor) else value.data.expand(axis)
    return (value.shaped(lambda m: m.expand(axis) if isinstance(m, Box) else m.unsqueeze(axis + 1), data),)


def _transpose(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    value = frame[operation.operands[0]]
    order = tuple(int(axis) for axis in operation.attributes["order"])
    whole = (0, *(axis + 1 for axis in order))
    data = value.data.permute(whole) if isinstance(value.data, torch.Tensor) else value.data.permute(order)
    return (value.shaped(lambda m: m.permute(order) if isinstance(m, Box) else m.permute(whole), data),)


def _reshape(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    value = frame[operation.operands[0]]
    before, after = frame.type(operation.operands[0]), frame.result(operation)
    if value.affine is not None and value.affine.is_lane_constant:
        data: Data = value.affine.splat(after.shape)
    else:
        data = _reshaped(value.tensor(before), before, after)
    return (value.shaped(lambda mask: _reshaped(mask_tensor(mask), before, after), data),)


def _reshaped(data: torch.Tensor, before: Type, after: Type) -> torch.Tensor:
    if data.numel() == data.shape[0]:
        return data.reshape(-1, *([1] * after.rank))
    return data.expand(-1, *before.shape).reshape(-1, *after.shape)


def _join(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """Two blocks side by side along a new last axis."""
    return (_stacked(operation, frame, lambda parts: torch.stack(parts, -1)),)


def _cat(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    return (_stacked(operation, frame, lambda parts: torch.cat(parts, 1)),)


def _stacked(operation: Operation, frame: Frame, together: Callable[[list[torch.Tensor]], torch.Tensor]) -> Value:
    shape = frame.type(operation.operands[0]).shape
    values = frame.operands(operation)
    tensors = [value.tensor(frame.type(number)) for value, number in zip(values, operation.operands, strict=True)]
    count = max(tensor.shape[0] for tensor in tensors)
    data = together([tensor.expand(count, *shape) for tensor in tensors])
    found = [value.undefined for value in values]
    worst = joined(found)
    if worst is None:
        return Value(data)
    masks = [torch.ones([1] * (len(shape) + 1), dtype=torch.bool) if d is None else mask_tensor(d.sound) for d in found]
    count = max(mask.shape[0] for mask in masks)
    sound = together([mask.expand(count, *shape) for mask in masks])
    return Value(data, replace(worst, sound=sound))


def _split(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    value, type = frame[operation.operands[0]], frame.type(operation.operands[0])
    data = value.tensor(type)
    return tuple(_changed(Value(data, value.undefined, value.wrapped), type, _half(number)) for number in (0, 1))


def _half(number: int) -> Change:
    return lambda one: one.select(-1, number if one.shape[-1] > 1 else 0)


def _gather(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """Elements along an axis, by their places."""
    source, index = operation.operands
    axis = int(operation.attributes["axis"]) + 1
    shape, places = frame.type(source).shape, frame.tensor(index).to(torch.int64)
    result = frame.result(operation).shape
    data = frame.tensor(source)
    count = max(data.shape[0], places.shape[0])
    places = places.expand(count, *result)
    size = shape[axis - 1]
    sound = (places >= 0) & (places < size)
    places = torch.where(sound, places, 0)
    value = frame[source]
    change: Change = lambda one: torch.gather(one.expand(count, *shape), axis, places)  # noqa: E731
    found = _changed(Value(data, value.undefined, value.wrapped), frame.type(source), change)
    outside = None if bool(sound.all()) else Doubt(sound, operation.location)
    return (replace(found, undefined=joined([found.undefined, outside, frame[index].undefined])),)


def _unchanged(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    return (frame[operation.operands[0]],)


def _changed(value: Value, type: Type, change: Change) -> Value:
    return value.shaped(_on_masks(change), change(value.tensor(type)))


def _on_masks(change: Change) -> Callable[[Mask], Mask]:
    return lambda mask: change(mask_tensor(mask))


HANDLERS: dict[str, Handler] = {
    "arith.constant": _once(_constant),
    "tt.make_range": _once(_range),
    "tt.get_program_id": _program_id,
    "tt.get_num_programs": _num_programs,
    "tt.splat": _splat,
    "tt.unsplat": _reshape,
    "tt.broadcast": _broadcast,
    "tt.expand_dims": _expand_dims,
    "tt.trans": _transpose,
    "tt.reshape": _reshape,
    "tt.join": _join,
    "tt.cat": _cat,
    "tt.split": _split,
    "tt.gather": _gather,
    "tt.ptr_to_int": _unchanged,
    "builtin.unrealized_conversion_cast": _unchanged,
}
