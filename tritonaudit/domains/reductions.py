"""Reductions, scans and matrix products."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tritonaudit.domains.affine import ONE
from tritonaudit.domains.arguments import Arguments, Handler, dtype_of, is_none
from tritonaudit.domains.facts import Dot, Reduction
from tritonaudit.domains.joins import union
from tritonaudit.domains.layouts import move_axes
from tritonaudit.domains.padding import murky_axes, placed, poisoned
from tritonaudit.domains.value import (
    FLOATS,
    HALF,
    UNSIGNED,
    Padding,
    Shape,
    Step,
    Value,
)

if TYPE_CHECKING:
    from tritonaudit.domains.machine import Machine


_SMALL_INTEGERS = frozenset(("i1", "i8", "i16", "u1", "u8", "u16"))


def _axis(arguments: Arguments, operand: Value) -> tuple[int | None, bool]:
    """The reduced axis, counted from the right, and whether it is known."""
    found = arguments.get(1, "axis") or arguments.keywords.get("dim")
    if found is None or is_none(found):
        return (-1, True) if operand.rank == 1 else (None, True)
    axis = found[0].const
    if not isinstance(axis, int):
        return None, False
    if axis < 0:
        return axis, True
    return (axis - operand.rank, True) if operand.rank is not None else (None, False)


def _reduction(name: str) -> Handler:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        operand = arguments.value(0, "input")
        axis, known = _axis(arguments, operand)
        if machine.recording and known:
            _note_reduction(machine, arguments, name, operand, axis)
        return _reduced(machine, arguments, name, operand, axis, known)

    return operation


def _note_reduction(machine: Machine, arguments: Arguments, name: str, operand: Value, axis: int | None) -> None:
    bad = poisoned(name, operand, axis)
    machine.flow.reductions.append(Reduction(arguments.node, name, operand, axis, machine.path, bad))
    if name in ("sum", "cumsum") and "dtype" not in arguments.keywords:
        machine.flow.narrow_sums.append((arguments.node, operand, name))


def _reduced(machine: Machine, arguments: Arguments, name: str, operand: Value, axis: int | None, known: bool) -> Value:
    keep = arguments.keywords.get("keep_dims")
    shape: Shape | None = None
    axes: dict[int, int] = {}
    if not known or operand.shape is None:
        shape = None
    elif axis is None:
        shape = ()
    else:
        rank = len(operand.shape)
        position = axis + rank
        if keep is not None and keep[0].const is not False:
            shape = (*operand.shape[:position], ONE, *operand.shape[position + 1 :])
        else:
            shape = (*operand.shape[:position], *operand.shape[position + 1 :])
            axes = {old: old + 1 for old in range(-rank, axis)}
    dtype = dtype_of(arguments.keywords.get("dtype")) or _result_dtype(name, arguments, operand.dtype)
    simple = name in ("max", "min", "sum")
    result = Value(
        shape=shape,
        dtype=dtype,
        raw=operand.raw and simple,
        source=operand.source,
        murky=operand.murky if simple else murky_axes(operand),
    )
    if name in ("max", "min"):
        result.upper, result.lower = operand.upper, operand.lower
    elif name == "sum":
        result.lower = 0.0 if operand.lower is not None and operand.lower >= 0 else None
        result.upper = 0.0 if operand.upper is not None and operand.upper <= 0 else None
        result.sums, result.narrowed, result.tainted = operand.exps, operand.narrowed, operand.tainted
        if operand.dtype is not None and (operand.dtype in HALF or operand.dtype.startswith("*")) and operand.is_block:
            result.narrowed = arguments.node
    if simple and axis is not None and known:
        kept = tuple(p for p in operand.paddings if axis not in p.axes())
        rest = operand.but(paddings=kept, murky=operand.murky - {axis})
        moved = move_axes(machine.atoms, rest, shape, axes)
        result.paddings, result.murky = placed(moved, arguments.node), moved.murky
    if result.dtype is None or result.dtype not in FLOATS:
        loops = tuple(loop.counter.id for loop in machine.loops)
        over = frozenset(range(-len(shape), 0)) if shape else frozenset()
        result.affine = machine.atoms.opaque(f"tl.{name}", (arguments.key, loops), (), over)
    return result


def _result_dtype(name: str, arguments: Arguments, dtype: str | None) -> str | None:
    """What Triton's standard library reduces in: it widens small integers, and for maxima and minima small floats."""
    if name in ("argmax", "argmin"):
        return "i32"
    if name in ("max", "min"):
        return None if arguments.get(2, "return_indices") else _widened(dtype)
    if name in ("sum", "cumsum", "cumprod") and dtype in _SMALL_INTEGERS:
        return "u32" if dtype in UNSIGNED else "i32"
    return dtype


def _widened(dtype: str | None) -> str | None:
    """The dtype of a maximum: at least 32 bits, so not known where that of the operand is not."""
    if dtype in HALF:
        return "fp32"
    if dtype in _SMALL_INTEGERS:
        return "i32"
    return None if dtype is None or dtype.startswith("*") else dtype


def _scan(name: str) -> Handler:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        operand = arguments.value(0, "input")
        if machine.recording and name == "cumsum" and "dtype" not in arguments.keywords:
            machine.flow.narrow_sums.append((arguments.node, operand, name))
        dtype = dtype_of(arguments.keywords.get("dtype")) or _result_dtype(name, arguments, operand.dtype)
        murky = murky_axes(operand)
        return Value(shape=operand.shape, dtype=dtype, raw=operand.raw, source=operand.source, murky=murky)

    return operation


def _accumulated(left: str | None, right: str | None) -> str | None:
    """The dtype of a matrix product; not known where the operands' is not, for they may be integers."""
    if left in _SMALL_INTEGERS and right in _SMALL_INTEGERS:
        return "i32"
    known = [dtype for dtype in (left, right) if dtype in FLOATS]
    return None if not known else "fp64" if "fp64" in known else "fp32"


def _dot(machine: Machine, arguments: Arguments) -> Value:
    left, right = arguments.value(0, "input"), arguments.value(1, "other")
    shape: Shape | None = None
    if left.shape is not None and right.shape is not None and len(left.shape) == len(right.shape) >= 2:
        shape = (*left.shape[:-1], right.shape[-1])
    bad = _contracted(machine, left, right)
    if machine.recording:
        machine.flow.reductions.append(Reduction(arguments.node, "dot", left, -1, machine.path, bad))
        machine.flow.dots.append(Dot(arguments.node, left, right, machine.path))
    out = arguments.keywords.get("out_dtype")
    dtype = dtype_of(out) if out is not None else _accumulated(left.dtype, right.dtype)
    return Value(
        shape=shape,
        dtype=dtype,
        paddings=(outer := _outer_paddings(arguments.node, left, right)),
        murky=_murky_product(left, right, outer),
        raw=True,
        narrowed=out[1] if out is not None and dtype in HALF else None,
        sums=(terms := union(left.exps, right.exps)),
        tainted=terms,
        made=Step("dot", (left, right), arguments.node),
    )


def _contracted(machine: Machine, left: Value, right: Value) -> tuple[Padding, ...]:
    """Paddings along the contracted axis that do not vanish in the products."""
    rows = [p for p in left.paddings if -1 in p.axes() and p.load is not None]
    columns = [p for p in right.paddings if -2 in p.axes() and p.load is not None]
    bad: list[Padding] = []
    for padding, others, factor in (*((p, columns, right) for p in rows), *((p, rows, left) for p in columns)):
        if padding.fill == 0.0 or not factor.raw or factor.murky & {-1, -2}:
            continue  # a computed factor, such as a triangle of ones, may be zero there
        zero_there = any(other.fill == 0.0 for other in others)
        if not zero_there or (not isinstance(padding.fill, float) and padding.fill.name == "MAYBE_NAN"):
            bad.append(padding)
    return tuple(bad)


def _outer_paddings(node: cst.CSTNode, left: Value, right: Value) -> tuple[Padding, ...]:
    """Rows padded in `left` and columns padded in `right` give zeros when they hold zeros."""
    rows = [p for p in left.paddings if p.fill == 0.0 and p.axes() == frozenset((-2,))]
    columns = [p for p in right.paddings if p.fill == 0.0 and p.axes() == frozenset((-1,))]
    return tuple(replace(padding, base=node, place=node) for padding in (*rows, *columns))


def _murky_product(left: Value, right: Value, kept: tuple[Padding, ...]) -> frozenset[int]:
    """The axes of a matrix product along which the contents of padded lanes are unknown."""
    conditions = {padding.condition for padding in kept}
    rows = -2 in left.murky or any(-2 in p.axes() and p.condition not in conditions for p in left.paddings)
    columns = -1 in right.murky or any(-1 in p.axes() and p.condition not in conditions for p in right.paddings)
    return frozenset(axis for axis, murky in ((-2, rows), (-1, columns)) if murky)


def _softmax(machine: Machine, arguments: Arguments) -> Value:
    operand = arguments.value(0, "x")
    if machine.recording and operand.rank == 1:
        _note_reduction(machine, arguments, "softmax", operand, -1)
    murky = murky_axes(operand)
    return Value(shape=operand.shape, dtype=_widened(operand.dtype), lower=0.0, upper=1.0, murky=murky)


OPERATIONS: dict[str, Handler] = {
    "sum": _reduction("sum"),
    "max": _reduction("max"),
    "min": _reduction("min"),
    "argmax": _reduction("argmax"),
    "argmin": _reduction("argmin"),
    "xor_sum": _reduction("xor_sum"),
    "cumsum": _scan("cumsum"),
    "cumprod": _scan("cumprod"),
    "softmax": _softmax,
    "dot": _dot,
}
