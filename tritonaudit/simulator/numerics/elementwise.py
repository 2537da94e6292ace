"""Elementwise operations of the IR on tensors: each by name, in the types of its operands and with a GPU's rounding.

Values are tensors whose leading axis is the programs (size 1 where uniform), then the block's axes (size 1 where
broadcast); operands broadcast against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from tritonaudit.simulator.ir import Operation, Type
from tritonaudit.simulator.numerics import casts, comparisons, floats, integers, libdevice
from tritonaudit.simulator.numerics.elements import dtype_of, item_size
from tritonaudit.simulator.numerics.fma import fma
from tritonaudit.simulator.numerics.mathematics import MATHEMATICS
from tritonaudit.simulator.numerics.unsupported import Unsupported

Function: TypeAlias = Callable[..., Tensor]

_Binder: TypeAlias = Callable[[Operation, Sequence[Type], Type], Function]


def compute(operation: Operation, operands: Sequence[Tensor], types: Sequence[Type], result: Type) -> Tensor:
    """What the operation makes of its operands, whose types are `types`; raises Unsupported."""
    return bind(operation, types, result)(*operands)


def bind(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    """The function that computes the operation, to be called with a tensor per operand; raises Unsupported."""
    binder = _BINDERS.get(operation.name)
    if binder is None:
        raise Unsupported(operation.name)
    return binder(operation, types, result)


def is_elementwise(name: str) -> bool:
    """Whether `bind` knows operations of this name."""
    return name in _BINDERS


def _same(x: Tensor) -> Tensor:
    return x


def _choose(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return torch.where(condition, a, b)


def _integer(function: Function, of_bits: Function | None = None) -> _Binder:
    """An operation of integers; `of_bits` is that of i1."""

    def binder(operation: Operation, types: Sequence[Type], result: Type) -> Function:
        if types[0].element != "i1":
            return function
        if of_bits is None:
            raise Unsupported(operation.name, "i1")
        return of_bits

    return binder


def _float(function: Function) -> _Binder:
    """An operation of floats of 16 bits and more."""

    def binder(operation: Operation, types: Sequence[Type], result: Type) -> Function:
        if dtype_of(types[0]) in casts.FLOAT8:
            raise Unsupported(operation.name, types[0].element)
        return function

    return binder


def _absolute(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    """Of 8-bit floats there is no other arithmetic than this."""
    return casts.without_sign if dtype_of(result) in casts.FLOAT8 else torch.abs


def _cast(function: Callable[[Tensor, torch.dtype], Tensor]) -> _Binder:
    def binder(operation: Operation, types: Sequence[Type], result: Type) -> Function:
        dtype = dtype_of(result)
        return lambda x: function(x, dtype)

    return binder


def _compare_integers(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    table = comparisons.BITS if types[0].element == "i1" else comparisons.INTEGERS
    return _by_predicate(operation, table)


def _compare_floats(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    return _by_predicate(operation, comparisons.FLOATS)


def _by_predicate(operation: Operation, table: Mapping[str, comparisons.Comparison]) -> Function:
    predicate = operation.attributes["predicate"]
    if predicate not in table:
        raise Unsupported(operation.name, str(predicate))
    return table[predicate]


def _select(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    """One condition may choose between whole blocks."""
    missing = types[1].rank - types[0].rank
    if missing == 0:
        return _choose
    return lambda condition, a, b: torch.where(condition.reshape(-1, *(1,) * missing), a, b)


def _bitcast(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    source, target = dtype_of(types[0]), dtype_of(result)
    if source == target:
        return _same
    if item_size(types[0]) != item_size(result) or torch.bool in (source, target):
        raise Unsupported(operation.name, f"{types[0].element} to {result.element}")
    return lambda x: x.view(target)


def _float_to_float(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    rounding = operation.attributes.get("rounding", "rtne")
    dtype = dtype_of(result)
    if rounding == "rtne":
        return lambda x: casts.between_floats(x, dtype)
    if rounding == "rtz" and result.element in ("f16", "bf16", "f32", "f8E5M2"):
        return lambda x: casts.between_floats_toward_zero(x, dtype)
    raise Unsupported(operation.name, f"{rounding} to {result.element}")


def _truncate_float(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    mode = operation.attributes.get("roundingmode", "to_nearest_even")
    if mode != "to_nearest_even":
        raise Unsupported(operation.name, str(mode))
    dtype = dtype_of(result)
    return lambda x: casts.between_floats(x, dtype)


def _clamp(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    return floats.clamp_propagating if operation.attributes.get("propagateNan") == "all" else floats.clamp


def _external(operation: Operation, types: Sequence[Type], result: Type) -> Function:
    symbol = str(operation.attributes["symbol"])
    function = libdevice.FUNCTIONS.get(symbol)
    if function is None:
        raise Unsupported(operation.name, symbol)
    dtype = dtype_of(result)
    return lambda *operands: function(*operands).to(dtype)


_BINDERS: Mapping[str, _Binder] = {
    "arith.addi": _integer(torch.add, torch.logical_xor),
    "arith.subi": _integer(torch.sub, torch.logical_xor),
    "arith.muli": _integer(torch.mul, torch.logical_and),
    "arith.divsi": _integer(integers.divide),
    "arith.divui": _integer(integers.divide_unsigned),
    "arith.remsi": _integer(integers.remainder),
    "arith.remui": _integer(integers.remainder_unsigned),
    "arith.ceildivsi": _integer(integers.divide_ceil),
    "arith.ceildivui": _integer(integers.divide_ceil_unsigned),
    "arith.floordivsi": _integer(integers.divide_floor),
    "arith.andi": _integer(torch.bitwise_and, torch.logical_and),
    "arith.ori": _integer(torch.bitwise_or, torch.logical_or),
    "arith.xori": _integer(torch.bitwise_xor, torch.logical_xor),
    "arith.shli": _integer(torch.bitwise_left_shift),
    "arith.shrsi": _integer(torch.bitwise_right_shift),
    "arith.shrui": _integer(integers.shift_right_logical),
    "arith.maxsi": _integer(torch.maximum, torch.logical_and),
    "arith.minsi": _integer(torch.minimum, torch.logical_or),
    "arith.maxui": _integer(integers.maximum_unsigned, torch.logical_or),
    "arith.minui": _integer(integers.minimum_unsigned, torch.logical_and),
    "arith.cmpi": _compare_integers,
    "arith.addf": _float(torch.add),
    "arith.subf": _float(torch.sub),
    "arith.mulf": _float(torch.mul),
    "arith.divf": _float(torch.true_divide),
    "arith.remf": _float(floats.remainder),
    "arith.negf": _float(torch.neg),
    "arith.maximumf": _float(floats.maximum),
    "arith.minimumf": _float(floats.minimum),
    "arith.maxnumf": _float(floats.maximum_number),
    "arith.minnumf": _float(floats.minimum_number),
    "arith.cmpf": _compare_floats,
    "arith.select": _select,
    "arith.extsi": _cast(casts.extend_signed),
    "arith.extui": _cast(casts.extend_unsigned),
    "arith.trunci": _cast(casts.truncate),
    "arith.index_cast": _cast(lambda x, dtype: casts.truncate(casts.extend_signed(x, torch.int64), dtype)),
    "arith.index_castui": _cast(lambda x, dtype: casts.truncate(casts.extend_unsigned(x, torch.int64), dtype)),
    "arith.sitofp": _cast(casts.from_signed),
    "arith.uitofp": _cast(casts.from_unsigned),
    "arith.fptosi": _cast(casts.to_signed),
    "arith.fptoui": _cast(casts.to_unsigned),
    "arith.extf": _cast(casts.between_floats),
    "arith.truncf": _truncate_float,
    "arith.bitcast": _bitcast,
    "tt.bitcast": _bitcast,
    "tt.fp_to_fp": _float_to_float,
    "tt.clampf": _clamp,
    "tt.mulhiui": _integer(integers.multiply_high_unsigned),
    "tt.precise_sqrt": _float(floats.square_root),
    "tt.precise_divf": _float(torch.true_divide),
    "tt.extern_elementwise": _external,
    "math.fma": _float(fma),
    "math.absi": _integer(torch.abs),
    "math.ctlz": _integer(integers.leading_zeros),
    "math.cttz": _integer(integers.trailing_zeros),
    "math.ctpop": _integer(integers.bits_set),
    **{f"math.{name}": _float(function) for name, function in MATHEMATICS.items()},
    "math.absf": _absolute,
}
