"""Elementwise operations: on intervals and strides where integers and masks are kept so, else on every element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.boxes import Box, box_where_negative
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.ir import Module, Operation, Type
from tritonaudit.simulator.low_bits import overflow_freely
from tritonaudit.simulator.machine import Frame, Machine
from tritonaudit.simulator.numerics.elements import chosen, dtype_of
from tritonaudit.simulator.numerics.elementwise import Function, bind
from tritonaudit.simulator.rows import Rows
from tritonaudit.simulator.unsigned import may_lack_sign
from tritonaudit.simulator.values import (
    Data,
    Doubt,
    Mask,
    Value,
    compact,
    doubts_of,
    everywhere,
    is_within,
    joined,
    mask_tensor,
)

_DIVISIONS = frozenset(
    ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.ceildivsi", "arith.floordivsi")
)
_LEAST_ROW = 8
"""Lanes that a number stands for, so many that it is better kept as one."""
ABSORBING = {"arith.andi": 0, "arith.muli": 0, "arith.ori": -1}
"""What operand decides the result alone, whatever the other one is."""
_INDEX_BITS = 32
"""Of integers that count elements: what is cut to fewer of them is seldom a place."""
_MAY_WRAP = frozenset(("arith.addi", "arith.subi", "arith.muli", "arith.shli"))


@dataclass(frozen=True, eq=False)
class Bound:
    """What of an elementwise operation is the same whenever it is executed.

    `rule` is what may give its result without a look at every element, and `compute` what gives it from tensors. The
    type's integers are from `-edge` to below `edge`. `is_compact`: what is the same in all lanes is kept as one number.
    `cuts_offsets`: what it cuts to fewer bits may be where an element lies. `loses_nothing`: what an overflow changes
    of its result is read nowhere.
    """

    operation: Operation
    types: tuple[Type, ...]
    type: Type
    rule: _Rule | None
    compute: Function
    edge: int
    is_division: bool
    may_wrap: bool
    is_compact: bool
    cuts_offsets: bool
    loses_nothing: bool

    @staticmethod
    def of(operation: Operation, frame: Frame, module: Module) -> Bound:
        """That of an operation; raises Unsupported."""
        types, type = tuple(frame.type(number) for number in operation.operands), frame.result(operation)
        edge = 0 if type.is_float else 1 << (_bits(type) - 1)
        name, compute = operation.name, bind(operation, types, type)
        loses_nothing = (frame.function.name, operation.results[0]) in overflow_freely(module)
        may_wrap = name in _MAY_WRAP and not loses_nothing
        flags = name in _DIVISIONS, may_wrap, not type.is_float, _cuts(operation, type, frame), loses_nothing
        return Bound(operation, types, type, _RULES.get(name), compute, edge, *flags)

    def holds(self, bounds: tuple[int, int]) -> bool:
        """Whether the type holds what lies between these."""
        return -self.edge <= bounds[0] and bounds[1] < self.edge


def elementwise(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """One operation on elements; what is in doubt in an operand is in doubt in the result."""
    bound: Bound | None = frame.function.bound.get(operation.results[0])
    if bound is None:
        bound = frame.function.bound[operation.results[0]] = Bound.of(operation, frame, machine.module)
    values = frame.operands(operation)
    if bound.is_division and machine.is_checked:
        _check_divisor(machine, operation, frame, values)
    undefined, wrapped = doubts_of(values)
    if undefined is not None and operation.name in ABSORBING:
        undefined = _undecided(undefined, values, bound)
    data = None
    if bound.rule is not None and not frame.has_lanes:
        data = bound.rule(bound, [value.data for value in values])
    if isinstance(data, Affine):
        return (_fitted(Value(data, undefined, wrapped), bound),)
    if data is None:
        tensors = _tensors(values, bound.types)
        data = bound.compute(*tensors)
        if bound.may_wrap and _is_watched(machine, operation, frame):
            wrapped = joined([wrapped, _overflow(operation, tensors, data)])
        if bound.is_compact and not frame.has_lanes:
            data = compact(data, bound.type)
    return (Value(data, undefined, wrapped),)


def _undecided(doubt: Doubt, values: Sequence[Value], bound: Bound) -> Doubt | None:
    """What is in doubt of a result, without the lanes that an operand which is not in doubt decides alone."""
    sound = mask_tensor(doubt.sound)
    for value, operand in zip(values, _tensors(values, bound.types), strict=True):
        decides = operand == torch.tensor(ABSORBING[bound.operation.name]).to(operand.dtype)
        sound = sound | (decides if value.undefined is None else decides & mask_tensor(value.undefined.sound))
    return None if bool(sound.all()) else replace(doubt, sound=sound)


def _tensors(values: Sequence[Value], types: Sequence[Type]) -> list[torch.Tensor]:
    """Every element of each."""
    found = []
    for value, type in zip(values, types, strict=True):
        data = value.data
        found.append(data if isinstance(data, torch.Tensor) else value.tensor(type))
    return found


def select(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """Of two values, in each lane the one that the condition says; only what is chosen can be in doubt."""
    condition, left, right = frame.operands(operation)
    type = frame.result(operation)
    mask = condition.data
    if isinstance(mask, Box) and mask.is_full:
        undefined = joined([left.undefined, condition.undefined])
        return (left if undefined is left.undefined else replace(left, undefined=undefined),)
    assert not isinstance(mask, Affine)
    if mask_is_single(mask):
        data = (left if bool(mask_tensor(mask).any()) else right).data
    else:
        data = chosen(mask_tensor(mask), left.tensor(type), right.tensor(type))
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


def _sum(bound: Bound, data: Sequence[Data]) -> Data | None:
    left, right = data
    if isinstance(left, Affine) and isinstance(right, Affine):
        return left.plus(right)
    return row_sum(left, right, bound.type)


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


def _difference(_: Bound, data: Sequence[Data]) -> Data | None:
    left, right = data
    return left.minus(right) if isinstance(left, Affine) and isinstance(right, Affine) else None


def _product(bound: Bound, data: Sequence[Data]) -> Data | None:
    left, right = data
    if isinstance(left, Rows) and isinstance(right, Affine) and right.is_uniform:
        total = left.times(right.value)
        return total if bound.holds(total.bounds) else None
    return left.product(right) if isinstance(left, Affine) and isinstance(right, Affine) else None


def _shifted(bound: Bound, data: Sequence[Data]) -> Data | None:
    left, right = data
    if (
        isinstance(left, Affine)
        and isinstance(right, Affine)
        and right.is_uniform
        and 0 <= right.value < _bits(bound.type)
    ):
        return left.times(1 << right.value)
    return None


def _same(bound: Bound, data: Sequence[Data]) -> Data | None:
    is_kept = isinstance(data[0], Affine) or (isinstance(data[0], Rows) and bound.operation.name != "arith.trunci")
    return data[0] if is_kept else None


def _zero_extended(_: Bound, data: Sequence[Data]) -> Data | None:
    return data[0] if isinstance(data[0], Affine) and data[0].bounds[0] >= 0 else None


def _remainder(bound: Bound, data: Sequence[Data]) -> Data | None:
    """Of what lies between 0 and the divisor it is the same."""
    left, right = data
    if not isinstance(left, Affine) or not isinstance(right, Affine) or right.low <= 0:
        return None
    low, high = left.bounds
    if low >= 0 and high < right.low:
        return left
    if (quotient := _one_quotient(left, right)) is not None:
        return left.plus(Affine.uniform(-quotient * right.value, left.shape))
    return _of_bases(bound, left, right)


def _quotient(bound: Bound, data: Sequence[Data]) -> Data | None:
    left, right = data
    if not isinstance(left, Affine) or not isinstance(right, Affine):
        return None
    if right.is_uniform and right.value == 1:
        return left
    if (quotient := _one_quotient(left, right)) is not None:
        return Affine.uniform(quotient, left.shape)
    return _of_bases(bound, left, right)


def _one_quotient(left: Affine, right: Affine) -> int | None:
    """The quotient of what is not negative by a positive integer, where the bounds show that it is one number."""
    if not right.is_uniform or right.value <= 0:
        return None
    low, high = left.bounds
    return low // right.value if low >= 0 and low // right.value == high // right.value else None


def _extreme(bound: Bound, data: Sequence[Data]) -> Data | None:
    """The greater or smaller of two, where one is so everywhere."""
    left, right = data
    if not isinstance(left, Affine) or not isinstance(right, Affine):
        return None
    name = bound.operation.name
    if name.endswith("ui") and min(left.bounds[0], right.bounds[0]) < 0:
        return None
    low, high = left.minus(right).bounds
    is_max = ".max" in name
    if low >= 0:
        return left if is_max else right
    if high <= 0:
        return right if is_max else left
    return _of_bases(bound, left, right)


def _of_bases(bound: Bound, left: Affine, right: Affine) -> Data | None:
    """The operation on what is the same in all lanes, once for each program."""
    if not (left.is_lane_constant and right.is_lane_constant):
        return None
    dtype = dtype_of(bound.type)
    bases = [torch.as_tensor(one.base).reshape(-1).to(dtype) for one in (left, right)]
    return Affine.per_program(bound.compute(*bases), left.shape)


def _comparison(bound: Bound, data: Sequence[Data]) -> Data | None:
    left, right = data
    if not isinstance(left, Affine) or not isinstance(right, Affine):
        return None
    predicate: str = bound.operation.attributes["predicate"]
    if predicate[0] == "u" and min(left.bounds[0], right.bounds[0]) < 0:
        return None
    if predicate in ("eq", "ne"):
        return _equality(predicate, left.minus(right), bound.type)
    order = predicate[1:]
    below = left.minus(right) if order in ("lt", "le") else right.minus(left)
    if order in ("le", "ge"):
        below = below.plus(Affine.uniform(-1, below.shape))
    box = box_where_negative(below)
    if isinstance(box, bool):
        return everywhere(box, bound.type)
    if box is None and below.is_lane_constant:
        return _truth(torch.as_tensor(below.base) < 0, bound.type)
    return box


def _equality(predicate: str, difference: Affine, type: Type) -> Data | None:
    low, high = difference.bounds
    if low > 0 or high < 0:
        return everywhere(predicate == "ne", type)
    if not difference.is_lane_constant:
        return None
    if low == high:
        return everywhere(predicate == "eq", type)
    base = torch.as_tensor(difference.base)
    return _truth(base == 0 if predicate == "eq" else base != 0, type)


def _truth(holds: torch.Tensor, type: Type) -> Data:
    """What is the same in all lanes of a program."""
    if type.rank and bool((holds == holds[0]).all()):
        return everywhere(bool(holds[0]), type)
    return holds.reshape(-1, *([1] * type.rank))


def _conjunction(bound: Bound, data: Sequence[Data]) -> Data | None:
    type = bound.type
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


_Rule: TypeAlias = "Callable[[Bound, Sequence[Data]], Data | None]"

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


def _fitted(value: Value, bound: Bound) -> Value:
    """An affine value that its type can hold; one that it cannot hold wraps around, lane by lane."""
    affine = value.affine
    assert affine is not None
    if bound.holds(affine.bounds):
        return value
    affine = affine.exact()
    if bound.holds(affine.bounds):
        return replace(value, data=affine)
    wide = affine.tensor(torch.int64)
    wrapped = wide.to(dtype_of(bound.type))
    if bound.loses_nothing or (bound.operation.name == "arith.trunci" and not bound.cuts_offsets):
        return replace(value, data=wrapped)
    sound = (wide >= -bound.edge) & (wide < bound.edge)
    return replace(value, data=wrapped, wrapped=joined([value.wrapped, Doubt(sound, bound.operation.location)]))


def _cuts(operation: Operation, type: Type, frame: Frame) -> bool:
    """Whether what an operation cuts to fewer bits is a number with a sign that counts elements, as far as it tells."""
    is_cut = operation.name == "arith.trunci" and _bits(type) == _INDEX_BITS
    return is_cut and not may_lack_sign(frame.function, operation.results[0])


def _is_watched(machine: Machine, operation: Operation, frame: Frame) -> bool:
    """Whether an overflow would end in an address."""
    return machine.is_checked and (frame.function.name, operation.results[0]) in machine.addresses


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
        machine.faults.add_lanes(Fault(FaultKind.DIVISION_BY_ZERO, operation.location), zero, frame.site(operation))
