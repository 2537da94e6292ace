"""Elementwise operations: on intervals and strides where integers and masks are kept so, else on every element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.boxes import Box, box_where_negative
from tritonaudit.simulator.faults import Fault, Kind
from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.machine import Frame, Machine
from tritonaudit.simulator.numerics.elements import bits_of, dtype_of
from tritonaudit.simulator.numerics.elementwise import compute
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.values import Data, Doubt, Mask, Value, compact, everywhere, is_within, joined, mask_tensor

_DIVISIONS = frozenset(
    ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.ceildivsi", "arith.floordivsi")
)
_LEAST_ROW = 8
"""Lanes that a number stands for, so many that it is better kept as one."""
_MAY_WRAP = frozenset(("arith.addi", "arith.subi", "arith.muli", "arith.shli"))


def elementwise(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """One operation on elements; what is in doubt in an operand is in doubt in the result."""
    values = frame.operands(operation)
    type = frame.result(operation)
    if operation.name in _DIVISIONS and machine.is_checked:
        _check_divisor(machine, operation, frame, values)
    doubts = joined([v.undefined for v in values]), joined([v.wrapped for v in values])
    data = None if frame.has_lanes else _structured(operation, values, type)
    if data is None:
        tensors = [v.tensor(frame.type(number)) for v, number in zip(values, operation.operands, strict=True)]
        types = [frame.type(number) for number in operation.operands]
        data = compute(operation, tensors, types, type)
        if _is_watched(machine, operation, frame):
            doubts = doubts[0], joined([doubts[1], _overflow(operation, tensors, data)])
        if not frame.has_lanes:
            data = compact(data, type)
    elif isinstance(data, Affine):
        return (_fitted(Value(data, *doubts), type, operation),)
    return (Value(data, *doubts),)


def select(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """Of two values, in each lane the one that the condition says; only what is chosen can be in doubt."""
    condition, left, right = frame.operands(operation)
    type = frame.result(operation)
    mask = condition.data
    if isinstance(mask, Box) and mask.is_full:
        return (replace(left, undefined=joined([left.undefined, condition.undefined])),)
    assert not isinstance(mask, Affine)
    if mask_is_single(mask):
        data = (left if bool(mask_tensor(mask).any()) else right).data
    else:
        data = torch.where(mask_tensor(mask), bits_of(left.tensor(type)), bits_of(right.tensor(type))).view(
            dtype_of(type)
        )
    undefined = _chosen_doubt(mask, left.undefined, right.undefined)
    wrapped = _chosen_doubt(mask, left.wrapped, right.wrapped)
    return (Value(data, joined([undefined, condition.undefined]), wrapped),)


def mask_is_single(mask: Mask) -> bool:
    """Whether it is one truth for all programs and lanes."""
    return isinstance(mask, torch.Tensor) and mask.numel() == 1


def _chosen_doubt(mask: Mask, left: Doubt | None, right: Doubt | None) -> Doubt | None:
    found: Doubt | None = None
    if left is not None and not is_within(mask, left.sound):
        found = replace(left, sound=mask_tensor(left.sound) | ~mask_tensor(mask))
    if right is not None:
        sound = mask_tensor(right.sound) | mask_tensor(mask)
        if not bool(sound.all()):
            found = joined([found, replace(right, sound=sound)])
    return found


# -- what is kept as strides and intervals -----------------------------------------------------------------------------


def _structured(operation: Operation, values: Sequence[Value], type: Type) -> Data | None:
    rule = _RULES.get(operation.name)
    return None if rule is None else rule(operation, [value.data for value in values], type)


def _sum(_: Operation, data: Sequence[Data], type: Type) -> Data | None:
    left, right = data
    if isinstance(left, Affine) and isinstance(right, Affine):
        return left.plus(right)
    return row_sum(left, right, type)


def row_sum(left: Data, right: Data, type: Type) -> Rows | None:
    """The sum of what is affine, rows or a tensor, where it is rows that the type can hold."""
    if isinstance(left, Box) or isinstance(right, Box) or not type.rank:
        return None
    if not any(isinstance(one, (Affine, Rows)) and any(one.strides) for one in (left, right)):
        return None
    if any(isinstance(one, torch.Tensor) and one[0].numel() * _LEAST_ROW > prod(type.shape) for one in (left, right)):
        return None
    total = Rows.of(left, type.shape).plus(Rows.of(right, type.shape))
    return total if total is not None and _holds(type, total.bounds) else None


def _difference(_: Operation, data: Sequence[Data], __: Type) -> Data | None:
    left, right = data
    return left.minus(right) if isinstance(left, Affine) and isinstance(right, Affine) else None


def _product(_: Operation, data: Sequence[Data], type: Type) -> Data | None:
    left, right = data
    if isinstance(left, Rows) and isinstance(right, Affine) and right.is_uniform:
        total = left.times(right.value)
        return total if _holds(type, total.bounds) else None
    return left.product(right) if isinstance(left, Affine) and isinstance(right, Affine) else None


def _shifted(_: Operation, data: Sequence[Data], type: Type) -> Data | None:
    left, right = data
    if isinstance(left, Affine) and isinstance(right, Affine) and right.is_uniform and 0 <= right.value < _bits(type):
        return left.times(1 << right.value)
    return None


def _same(operation: Operation, data: Sequence[Data], __: Type) -> Data | None:
    is_kept = isinstance(data[0], Affine) or (isinstance(data[0], Rows) and operation.name != "arith.trunci")
    return data[0] if is_kept else None


def _zero_extended(_: Operation, data: Sequence[Data], __: Type) -> Data | None:
    return data[0] if isinstance(data[0], Affine) and data[0].bounds[0] >= 0 else None


def _remainder(operation: Operation, data: Sequence[Data], type: Type) -> Data | None:
    """Of what lies between 0 and the divisor it is the same."""
    left, right = data
    if not isinstance(left, Affine) or not isinstance(right, Affine) or right.low <= 0:
        return None
    low, high = left.bounds
    if low >= 0 and high < right.low:
        return left
    return _of_bases(operation, left, right, type)


def _quotient(operation: Operation, data: Sequence[Data], type: Type) -> Data | None:
    left, right = data
    if not isinstance(left, Affine) or not isinstance(right, Affine):
        return None
    if right.is_uniform and right.value == 1:
        return left
    return _of_bases(operation, left, right, type)


def _extreme(operation: Operation, data: Sequence[Data], type: Type) -> Data | None:
    """The greater or smaller of two, where one is so everywhere."""
    left, right = data
    if not isinstance(left, Affine) or not isinstance(right, Affine):
        return None
    if operation.name.endswith("ui") and min(left.bounds[0], right.bounds[0]) < 0:
        return None
    low, high = left.minus(right).bounds
    is_max = ".max" in operation.name
    if low >= 0:
        return left if is_max else right
    if high <= 0:
        return right if is_max else left
    return _of_bases(operation, left, right, type)


def _of_bases(operation: Operation, left: Affine, right: Affine, type: Type) -> Data | None:
    """The operation on what is the same in all lanes, once for each program."""
    if not (left.is_lane_constant and right.is_lane_constant):
        return None
    scalar = type.scalar
    bases = [torch.as_tensor(one.base).reshape(-1).to(dtype_of(scalar)) for one in (left, right)]
    return Affine.per_program(compute(operation, bases, [scalar, scalar], scalar), left.shape)


def _comparison(operation: Operation, data: Sequence[Data], type: Type) -> Data | None:
    left, right = data
    if not isinstance(left, Affine) or not isinstance(right, Affine):
        return None
    predicate: str = operation.attributes["predicate"]
    if predicate[0] == "u" and min(left.bounds[0], right.bounds[0]) < 0:
        return None
    difference = left.minus(right)
    if predicate in ("eq", "ne"):
        return _equality(predicate, difference, type)
    signed = predicate[1:]
    below = {
        "lt": difference,
        "le": difference.plus(Affine.uniform(-1, difference.shape)),
        "gt": difference.times(-1),
        "ge": difference.times(-1).plus(Affine.uniform(-1, difference.shape)),
    }[signed]
    if below.is_lane_constant:
        return _truth(torch.as_tensor(below.base) < 0, type)
    box = box_where_negative(below)
    if isinstance(box, bool):
        return everywhere(box, type)
    return box


def _equality(predicate: str, difference: Affine, type: Type) -> Data | None:
    if difference.is_lane_constant:
        base = torch.as_tensor(difference.base)
        return _truth(base == 0 if predicate == "eq" else base != 0, type)
    low, high = difference.bounds
    return everywhere(predicate == "ne", type) if low > 0 or high < 0 else None


def _truth(holds: torch.Tensor, type: Type) -> Data:
    """What is the same in all lanes of a program."""
    holds = holds.reshape(-1)
    if type.rank and bool((holds == holds[0]).all()):
        return everywhere(bool(holds[0]), type)
    return holds.reshape(-1, *([1] * type.rank))


def _conjunction(operation: Operation, data: Sequence[Data], type: Type) -> Data | None:
    if type.element != "i1" or not type.rank:
        return None
    left, right = (_as_box(one, type) for one in data)
    return left.both(right) if left is not None and right is not None else None


def _as_box(data: Data, type: Type) -> Box | None:
    """A mask that is the same in all lanes of a program holds in all of them or in none."""
    if isinstance(data, Box):
        return data
    if isinstance(data, (Affine, Rows)) or data.numel() != data.shape[0]:
        return None
    holds = data.reshape(-1)
    if len(holds) == 1:
        whole = everywhere(bool(holds), type)
        return whole if isinstance(whole, Box) else None
    return Box(((0, torch.where(holds, type.shape[0], 0)), *([None] * (type.rank - 1))), type.shape)


_Rule = Callable[[Operation, Sequence[Data], Type], "Data | None"]

_RULES: dict[str, _Rule] = {
    "arith.addi": _sum,
    "arith.subi": _difference,
    "arith.muli": _product,
    "arith.shli": _shifted,
    "arith.extsi": _same,
    "arith.extui": _zero_extended,
    "arith.trunci": _same,
    "arith.index_cast": _same,
    "arith.remsi": _remainder,
    "arith.remui": _remainder,
    "arith.divsi": _quotient,
    "arith.divui": _quotient,
    "arith.maxsi": _extreme,
    "arith.minsi": _extreme,
    "arith.maxui": _extreme,
    "arith.minui": _extreme,
    "arith.cmpi": _comparison,
    "arith.andi": _conjunction,
}


# -- widths ------------------------------------------------------------------------------------------------------------


def _bits(type: Type) -> int:
    return 64 if type.element in ("index", "ptr") else int(type.element[1:])


def _holds(type: Type, bounds: tuple[int, int]) -> bool:
    """Whether the type holds what lies between these."""
    edge = 1 << (_bits(type) - 1)
    return -edge <= bounds[0] and bounds[1] < edge


def _fitted(value: Value, type: Type, operation: Operation) -> Value:
    """An affine value that its type can hold; one that it cannot hold wraps around, lane by lane."""
    affine = value.affine
    assert affine is not None
    edge = 1 << (_bits(type) - 1)
    if _holds(type, affine.bounds):
        return value
    affine = affine.exact()
    if _holds(type, affine.bounds):
        return replace(value, data=affine)
    wide = affine.tensor(torch.int64)
    wrapped = wide.to(dtype_of(type))
    if operation.name == "arith.trunci":
        return replace(value, data=wrapped)
    sound = (wide >= -edge) & (wide < edge)
    return replace(value, data=wrapped, wrapped=joined([value.wrapped, Doubt(sound, operation.location)]))


def _is_watched(machine: Machine, operation: Operation, frame: Frame) -> bool:
    """Whether an overflow would end in an address."""
    watched = operation.name in _MAY_WRAP and machine.is_checked
    return watched and (frame.function.name, operation.results[0]) in machine.addresses


def _overflow(operation: Operation, tensors: Sequence[torch.Tensor], data: torch.Tensor) -> Doubt | None:
    """Where 64 bits give another result."""
    if data.dtype not in (torch.int8, torch.int16, torch.int32):
        return None
    left, right = (one.to(torch.int64) for one in tensors)
    exact = {
        "arith.addi": torch.add,
        "arith.subi": torch.sub,
        "arith.muli": torch.mul,
        "arith.shli": torch.bitwise_left_shift,
    }[operation.name](left, right)
    sound = exact == data
    return None if bool(sound.all()) else Doubt(sound, operation.location)


def _check_divisor(machine: Machine, operation: Operation, frame: Frame, values: Sequence[Value]) -> None:
    divisor = values[1]
    if divisor.affine is not None and (divisor.affine.bounds[0] > 0 or divisor.affine.bounds[1] < 0):
        return
    zero = divisor.tensor(frame.type(operation.operands[1])) == 0
    if divisor.undefined is not None:
        zero = zero & mask_tensor(divisor.undefined.sound)
    if bool(zero.any()):
        machine.faults.add_lanes(Fault(Kind.DIVISION_BY_ZERO, operation.location), zero, frame.site(operation))
