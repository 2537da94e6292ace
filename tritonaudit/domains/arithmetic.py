"""Arithmetic on abstract values: integers as polynomials, bounds, padding, overflowing exponentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from tritonaudit.domains.affine import ONE, Affine, Atoms
from tritonaudit.domains.facts import Product
from tritonaudit.domains.joins import union
from tritonaudit.domains.padding import combined, spoiled_at
from tritonaudit.domains.value import (
    ANYTHING,
    FLOATS,
    INTEGERS,
    UNKNOWN,
    ExpTerm,
    Mask,
    Opaque,
    Step,
    Value,
    broadcast,
    promote,
)

if TYPE_CHECKING:
    from tritonaudit.domains.machine import Machine


def binary(machine: Machine, node: Any, operator: str, left: Value, right: Value) -> Value:
    """`left operator right`; the operator is LibCST's name for it (Add, Multiply, BitAnd …)."""
    if operator in ("BitAnd", "BitOr") and (left.mask is not None or right.mask is not None):
        return logical(operator == "BitAnd", left, right)
    if left is UNKNOWN and right is UNKNOWN:
        return UNKNOWN
    shape = broadcast(left.shape, right.shape)
    paddings, murky = combined(operator, left, right)
    dtype = "fp32" if operator == "Divide" and left.dtype == right.dtype == "i32" else _result_dtype(left, right)
    value = Value(
        shape=shape,
        dtype=dtype,
        affine=_affine(machine.atoms, operator, left, right),
        const=_folded(operator, left.const, right.const),
        constexpr=left.constexpr and right.constexpr,
        paddings=paddings,
        murky=murky,
        origin=_origin(machine, operator, left, right),
    )
    _bounds(value, operator, left, right)
    _track_exps(machine, node, value, operator, left, right)
    if operator in ("Multiply", "Add") and (left.raw or right.raw):
        value.raw = (left.raw or _plain(left)) and (right.raw or _plain(right))
        value.source = left.source or right.source
    elif operator == "Divide" and left.raw and _plain(right):
        value.raw, value.source = True, left.source
    value.narrowed = _narrowed(value.dtype, left, right)
    if value.paddings:
        value.paddings = spoiled_at(node, value, left, right)
    if operator == "Subtract":
        value.difference = _outer_difference(left, right)
    elif operator == "Multiply":
        value.difference = (left.difference and _plain(right)) or (right.difference and _plain(left))
    value.wide = left.wide or right.wide
    if operator == "Multiply" and value.affine is not None and not machine.silent:
        machine.flow.products.append(Product(node, value, (left, right)))
    if operator == "Divide" or left.dtype not in INTEGERS or right.dtype not in INTEGERS:
        value.made = machine.step(operator, (left, right), node)
    return value


def _narrowed(dtype: str | None, left: Value, right: Value) -> cst.CSTNode | None:
    """The cast that rounded the result: of both operands, or of one that is scaled or shifted by a number."""
    if dtype in ("fp32", "fp64"):
        return None
    if left.narrowed is not None and (right.narrowed is not None or _plain(right)):
        return left.narrowed
    return right.narrowed if right.narrowed is not None and _plain(left) else None


def _outer_difference(left: Value, right: Value) -> bool:
    """Whether a row of one tensor is subtracted from the same row as a column: half the results are positive."""
    if not (left.raw and right.raw and left.source is not None and left.source == right.source):
        return False
    if left.shape is None or right.shape is None or not len(left.shape) == len(right.shape) == 2:
        return False
    flat = [[dim == ONE for dim in shape] for shape in (left.shape, right.shape)]
    return flat in ([[True, False], [False, True]], [[False, True], [True, False]])


def _result_dtype(left: Value, right: Value) -> str | None:
    """A constexpr number of unknown kind is as weak as a literal: it takes the other operand's dtype.

    A run-time scalar is an integer or fp32, and leaves fp32 as it is.
    """
    for one, other in ((left, right), (right, left)):
        if one.origin is not None and one.shape == () and other.dtype in ("fp32", "fp64"):
            return other.dtype
        if one.constexpr and one.dtype is None and one.shape == () and other.dtype not in (None, "int", "float"):
            return other.dtype if other.dtype not in INTEGERS else None
    return promote(left.dtype, right.dtype)


def _plain(value: Value) -> bool:
    """A parameter or a constant: scaling or shifting data by it bounds nothing."""
    return value.const is not None or (value.origin is not None and value.shape == ())


def _origin(machine: Machine, operator: str, left: Value, right: Value) -> Any:
    """The pointer that it is in: the first parameter that may be one, whichever side a number stands on."""
    if operator not in ("Add", "Subtract"):
        return None
    known = [one.origin for one in (left, right if operator == "Add" else left) if one.origin is not None]
    return next((one for one in known if one.name not in machine.numbers), known[0] if known else None)


def _affine(atoms: Atoms, operator: str, left: Value, right: Value) -> Affine | None:
    a, b = left.affine, right.affine
    if a is None or b is None or left.dtype in FLOATS or right.dtype in FLOATS:
        return None
    if operator == "Add":
        return a + b
    if operator == "Subtract":
        return a - b
    if operator == "Multiply":
        return atoms.product(a, b)
    x, y = a.value, b.value
    if operator in ("FloorDivide", "Modulo", "LeftShift", "RightShift", "BitAnd", "BitOr", "BitXor", "Power"):
        if x is not None and y is not None:
            folded = _folded(operator, x, y)
            return None if not isinstance(folded, int) else Affine.constant(folded)
        if operator == "FloorDivide" and y == 1:
            return a
        if operator == "LeftShift" and y is not None and 0 <= y < 63:
            return a * Affine.constant(1 << y)
        return atoms.opaque(operator, operator, (a, b), a.axes() | b.axes())
    return None


_FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Subtract": lambda a, b: a - b,
    "Multiply": lambda a, b: a * b,
    "Divide": lambda a, b: a / b,
    "FloorDivide": lambda a, b: a // b,
    "Modulo": lambda a, b: a % b,
    "Power": lambda a, b: a**b if abs(b) < 64 and abs(a) < 65536 else None,
    "LeftShift": lambda a, b: a << b if 0 <= b < 64 else None,
    "RightShift": lambda a, b: a >> b if 0 <= b < 64 else None,
    "BitAnd": lambda a, b: a & b,
    "BitOr": lambda a, b: a | b,
    "BitXor": lambda a, b: a ^ b,
}


def _folded(operator: str, left: Any, right: Any) -> Any:
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return None
    fold = _FOLDS.get(operator)
    try:
        result = None if fold is None else fold(left, right)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return result if isinstance(result, float) or is_counted(result) else None


def is_counted(number: object) -> bool:
    """Whether it is an integer that a computer likes, and that a float can hold."""
    return isinstance(number, int) and number.bit_length() <= _MOST_BITS


_MOST_BITS = 512


def _bounds(value: Value, operator: str, left: Value, right: Value) -> None:
    if operator == "Add":
        if left.upper is not None and right.upper is not None:
            value.upper = left.upper + right.upper
        if left.lower is not None and right.lower is not None:
            value.lower = left.lower + right.lower
    elif operator == "Subtract":
        if left.upper is not None and right.lower is not None:
            value.upper = left.upper - right.lower
        if left.lower is not None and right.upper is not None:
            value.lower = left.lower - right.upper
    elif operator == "Multiply":
        _product_bounds(value, left, right)
    elif operator == "Divide" and right.lower is not None and right.lower >= 0:
        if left.upper is not None and left.upper <= 0:
            value.upper = 0.0
        if left.lower is not None and left.lower >= 0:
            value.lower = 0.0


def _product_bounds(value: Value, left: Value, right: Value) -> None:
    if left is right:
        value.lower = 0.0
        return
    for one, other in ((left, right), (right, left)):
        factor = one.const
        if (isinstance(factor, float) and factor == factor) or (type(factor) is int and is_counted(factor)):
            low, high = (other.lower, other.upper) if factor >= 0 else (other.upper, other.lower)
            value.lower = low * factor if low is not None and factor else value.lower
            value.upper = high * factor if high is not None and factor else value.upper
            return
    signs = [_sign(left), _sign(right)]
    if None not in signs:
        if signs[0] == signs[1]:
            value.lower = 0.0
        else:
            value.upper = 0.0


def _sign(value: Value) -> int | None:
    if value.lower is not None and value.lower >= 0:
        return 1
    return -1 if value.upper is not None and value.upper <= 0 else None


def _track_exps(machine: Machine, node: cst.CSTNode, value: Value, operator: str, left: Value, right: Value) -> None:
    """Follow overflowing exponentials into the expressions in which they do harm."""
    if not left.tainted and not right.tainted:
        return
    value.tainted = union(left.tainted, right.tainted)
    if operator == "Multiply":
        value.exps = union(left.exps, right.exps)
        value.sums = left.sums or right.sums
        for one, other in ((left, right), (right, left)):
            _note_quotient(machine, node, one, "softmax", other.inverse)
    elif operator == "Add":
        for one, other in ((left, right), (right, left)):
            if one.exps and other.const == 1:
                value.one_plus = one.exps
        value.exps = union(left.exps, right.exps)
        value.sums = union(left.sums, right.sums)
    elif operator == "Divide":
        value.exps = left.exps
        value.inverse = right.sums if left.const is not None else ()
        _note_quotient(machine, node, left, "softmax", right.sums)
        _note_quotient(machine, node, left, "sigmoid", right.one_plus)
    elif operator == "Subtract":
        value.exps = left.exps


def _note_quotient(
    machine: Machine, node: cst.CSTNode, numerator: Value, harm: str, denominators: tuple[ExpTerm, ...]
) -> None:
    """An exponential over a sum that holds the same one: inf / inf where it overflows."""
    if not machine.recording:
        return
    above = (*numerator.exps, *numerator.sums)
    for term in denominators:
        if any(term is other or term.argument is other.argument for other in above):
            machine.flow.overflows.append((term, harm, node))


def logical(conjunction: bool, left: Value, right: Value) -> Value:
    """`left and right`, or `left or right`, of conditions."""
    for one, other in ((left, right), (right, left)):
        if one.constexpr and isinstance(one.const, bool):
            return other if one.const is conjunction else one
    shape = broadcast(left.shape, right.shape)
    first = left.mask if left.mask is not None else unknown_mask(left)
    second = right.mask if right.mask is not None else unknown_mask(right)
    mask: Mask
    if conjunction:
        mask = first | second
    else:
        mask = (first & second) | {Opaque(frozenset().union(*(c.axes() for c in first | second)))}
    made = Step("BitAnd" if conjunction else "BitOr", (left, right))
    return Value(shape=shape, dtype="i1", mask=mask, constexpr=left.constexpr and right.constexpr, made=made)


def unknown_mask(value: Value) -> Mask:
    """The condition that a value of unknown content is."""
    if value.constexpr or value.const is not None:
        return frozenset()
    return frozenset((Opaque(frozenset(range(-len(value.shape), 0))),)) if value.shape is not None else ANYTHING
