"""Indices, shapes and layouts: what makes a block, and what lays it out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tritonaudit.domains.affine import Affine, AtomKind
from tritonaudit.domains.arguments import Argument, Arguments, Handler, dtype_of
from tritonaudit.domains.facts import Arange, Hint, ShapeUse
from tritonaudit.domains.layouts import expand, move_axes
from tritonaudit.domains.value import (
    ALL_AXES,
    INTEGERS,
    UNKNOWN,
    Shape,
    Value,
    literal,
    promote,
    scalar,
)

if TYPE_CHECKING:
    from tritonaudit.domains.machine import Machine


def _program_id(machine: Machine, arguments: Arguments) -> Value:
    axis = arguments.value(0, "axis").const
    program = machine.atoms.get(AtomKind.PID, f"tl.program_id({axis})", axis)
    if machine.recording:
        machine.flow.places.setdefault(program, arguments.node)
    return scalar("i32", Affine.of(program), lower=0.0)


def _num_programs(machine: Machine, arguments: Arguments) -> Value:
    axis = arguments.value(0, "axis").const
    return scalar("i32", machine.atoms.opaque(f"tl.num_programs({axis})", axis), lower=0.0)


def _arange(machine: Machine, arguments: Arguments) -> Value:
    start, end = arguments.value(0, "start"), arguments.value(1, "end")
    if machine.recording:
        machine.flow.aranges.append(Arange(arguments.node, start, end, machine.path))
        for index, name in enumerate(("start", "end")):
            _use_as_shape(machine, arguments.get(index, name), "tl.arange")
    if start.affine is None or end.affine is None:
        return Value(shape=(None,), dtype="i32")
    size = end.affine - start.affine
    return Value(shape=(size,), dtype="i32", affine=machine.atoms.lane(size, start.affine, -1), lower=0.0)


def _use_as_shape(machine: Machine, argument: Argument | None, where: str) -> None:
    if argument is not None and machine.recording:
        machine.flow.shape_uses.append(ShapeUse(argument[1], argument[0], where))


def _shape_of(machine: Machine, argument: Argument | None, where: str) -> Shape | None:
    if argument is None:
        return None
    value, node = argument
    if value.parts is None:
        if value.shape == () and value.affine is not None:
            _use_as_shape(machine, argument, where)
            return (value.affine,)
        return None
    if isinstance(node, (cst.Tuple, cst.List)):
        for part, element in zip(value.parts, node.elements, strict=False):
            _use_as_shape(machine, (part, element.value), where)
    return tuple(part.affine for part in value.parts)


def _zeros(machine: Machine, arguments: Arguments) -> Value:
    return _filled(machine, arguments, literal(0), arguments.get(1, "dtype"), "tl.zeros")


def _full(machine: Machine, arguments: Arguments) -> Value:
    return _filled(machine, arguments, arguments.value(1, "value"), arguments.get(2, "dtype"), "tl.full")


def _filled(machine: Machine, arguments: Arguments, fill: Value, dtype: Argument | None, where: str) -> Value:
    kind = dtype_of(dtype)
    number = fill.const if isinstance(fill.const, (int, float)) else None
    return Value(
        shape=_shape_of(machine, arguments.get(0, "shape"), where),
        dtype=kind,
        affine=fill.affine if kind in INTEGERS else None,
        const=number,
        upper=fill.upper,
        lower=fill.lower,
    )


def _like(machine: Machine, arguments: Arguments) -> Value:
    value = arguments.value(0, "input")
    return Value(shape=value.shape, dtype=value.dtype, const=0, upper=0.0, lower=0.0)


def _new_shape(machine: Machine, arguments: Arguments, where: str) -> Shape | None:
    """The shape that is given as a tuple, or as one argument for each axis."""
    if len(arguments.positional) <= 2:
        return _shape_of(machine, arguments.get(1, "shape"), where)
    for argument in arguments.positional[1:]:
        _use_as_shape(machine, argument, where)
    return tuple(part.affine for part, _ in arguments.positional[1:])


def _reshape(machine: Machine, arguments: Arguments) -> Value:
    value = arguments.value(0, "input")
    return Value(
        shape=_new_shape(machine, arguments, "tl.reshape"),
        dtype=value.dtype,
        upper=value.upper,
        lower=value.lower,
        raw=value.raw,
        source=value.source,
        murky=ALL_AXES if value.murky or value.paddings else value.murky,
    )


def _broadcast_to(machine: Machine, arguments: Arguments) -> Value:
    return arguments.value(0, "input").but(shape=_new_shape(machine, arguments, "tl.broadcast_to"))


def _expand_dims(machine: Machine, arguments: Arguments) -> Value:
    value, axis = arguments.value(0, "input"), arguments.value(1, "axis").const
    if not isinstance(axis, int) or value.shape is None:
        return UNKNOWN
    rank = len(value.shape) + 1
    added = [position == axis % rank for position in range(rank)]
    return expand(machine.atoms, value, added)


def _trans(machine: Machine, arguments: Arguments) -> Value:
    value = arguments.value(0, "input")
    order = [argument.const for argument, _ in arguments.positional[1:]]
    if len(order) == 1 and arguments.positional[1][0].parts is not None:
        order = [part.const for part in arguments.positional[1][0].parts or ()]
    if order and order != [1, 0]:
        shape = None if value.shape is None else (None,) * len(value.shape)
        return Value(shape=shape, dtype=value.dtype, murky=ALL_AXES)
    return transposed(machine, value)


def transposed(machine: Machine, value: Value) -> Value:
    """A matrix with its axes swapped."""
    if value.shape is None or len(value.shape) != 2:
        return Value(shape=value.shape, dtype=value.dtype, murky=ALL_AXES)
    shape = (value.shape[1], value.shape[0])
    return move_axes(machine.atoms, value, shape, {-1: -2, -2: -1})


def _same(machine: Machine, arguments: Arguments) -> Value:
    return arguments.value(0, "input")


def _hinted(name: str) -> Handler:
    def apply(machine: Machine, arguments: Arguments) -> Value:
        value, claimed = arguments.value(0, "input"), arguments.get(1, "values")
        if machine.recording and claimed is not None:
            parts = claimed[0].parts
            sizes = (claimed[0],) if parts is None else parts
            machine.flow.hints.append(Hint(arguments.node, name, value, tuple(size.affine for size in sizes)))
        return value

    return apply


def _cdiv(machine: Machine, arguments: Arguments) -> Value:
    x, y = arguments.value(0, "x"), arguments.value(1, "div")
    affine = None
    if x.affine is not None and y.affine is not None:
        a, b = x.affine.value, y.affine.value
        if a is not None and b:
            affine = Affine.constant(-(-a // b))
        else:
            affine = machine.atoms.opaque("cdiv", "cdiv", (x.affine, y.affine), x.affine.axes())
    dtype = promote(x.dtype, y.dtype)
    return scalar(dtype, affine, constexpr=x.constexpr and y.constexpr, wide=x.wide or y.wide)


def _next_power_of_2(machine: Machine, arguments: Arguments) -> Value:
    value = arguments.value(0, "n")
    number = value.const
    if isinstance(number, int):
        return literal(1 << max(number - 1, 0).bit_length())
    if value.affine is None:
        return Value(shape=(), constexpr=value.constexpr)
    affine = machine.atoms.opaque("next_power_of_2", "pow2", (value.affine,))
    return scalar(value.dtype, affine, constexpr=value.constexpr, wide=value.wide)


def _constexpr(machine: Machine, arguments: Arguments) -> Value:
    return arguments.value(0, "value").but(constexpr=True)


def _shapeless(machine: Machine, arguments: Arguments) -> Value:
    return Value(shape=None)


def _like_first(machine: Machine, arguments: Arguments) -> Value:
    return Value(shape=arguments.value(0, "input").shape, murky=ALL_AXES)


OPERATIONS: dict[str, Handler] = {
    "program_id": _program_id,
    "num_programs": _num_programs,
    "arange": _arange,
    "zeros": _zeros,
    "full": _full,
    "zeros_like": _like,
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    "expand_dims": _expand_dims,
    "trans": _trans,
    "ravel": _shapeless,
    "multiple_of": _hinted("multiple_of"),
    "max_contiguous": _hinted("max_contiguous"),
    "max_constancy": _same,
    "tensor": _same,
    "item": _same,
    "cdiv": _cdiv,
    "next_power_of_2": _next_power_of_2,
    "constexpr": _constexpr,
    "flip": _like_first,
    "sort": _like_first,
}
