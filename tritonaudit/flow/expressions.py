"""What each Python expression of a kernel means, as Triton's front end reads it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from tritonaudit.flow import operations, shapes
from tritonaudit.flow.affine import GIVEN, ONE, ZERO, Affine, Atoms
from tritonaudit.flow.arguments import Arguments
from tritonaudit.flow.arithmetic import binary, logical, unknown_mask
from tritonaudit.flow.facts import BooleanUse, ShapeUse
from tritonaudit.flow.joins import join
from tritonaudit.flow.padding import combined
from tritonaudit.flow.value import (
    ALL_AXES,
    ANYTHING,
    DTYPES,
    NONE,
    UNKNOWN,
    Less,
    Mask,
    Opaque,
    Step,
    Value,
    broadcast,
    literal,
)
from tritonaudit.kernel.launch import Constant
from tritonaudit.source.outline import dotted_name as host_name

if TYPE_CHECKING:
    from tritonaudit.flow.machine import Machine


# -- names and literals ------------------------------------------------------------------------------------------


def _name(machine: Machine, node: cst.Name) -> Value:
    known = machine.lookup(node.value)
    if known is not None:
        return known
    if node.value in ("True", "False", "None"):
        return literal({"True": True, "False": False, "None": None}[node.value])
    return _global(machine, node.value)


def _global(machine: Machine, name: str) -> Value:
    module = machine.module_names.module
    constant = module.constants.get(name)
    if constant is not None:
        return default_value(constant)
    return _dtype_value(module.origin(name)) or UNKNOWN


def default_value(node: ast.expr | None) -> Value:
    """A literal of the file's own level: a default argument, `tl.constexpr(…)`, a module constant."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func).endswith("constexpr"):
        return default_value(node.args[0])
    if node is None:
        return UNKNOWN
    dotted = None if isinstance(node, ast.Name) else host_name(node)
    if dotted is not None and dotted.endswith(".value"):
        return constant(Constant(name=dotted))
    try:
        return literal(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return Value(shape=(), constexpr=True)


def constant(known: Constant) -> Value:
    """A constant of the host code; members of one enum are equal when their names are."""
    if known.name is None:
        return literal(known.value)
    return Value(shape=(), const=("member", known.name), constexpr=True)


_MAX_DIGITS = 80  # beyond any integer of a kernel; Python refuses to print thousands of digits


def _integer(machine: Machine, node: cst.Integer) -> Value:
    return literal(int(node.value.replace("_", ""), 0)) if len(node.value) <= _MAX_DIGITS else UNKNOWN


def _float(machine: Machine, node: cst.Float) -> Value:
    return literal(float(node.value.replace("_", "")))


def _string(machine: Machine, node: cst.SimpleString) -> Value:
    return literal(node.evaluated_value)


def _dtype_value(origin: str) -> Value | None:
    head, _, name = origin.rpartition(".")
    if head.startswith("triton.language") and name in DTYPES:
        return Value(shape=(), const=("dtype", DTYPES[name]), constexpr=True)
    return None


def _attribute(machine: Machine, node: cst.Attribute) -> Value:
    dotted = dotted_name(node)
    if dotted is not None and machine.lookup(dotted.partition(".")[0]) is None:
        return _dtype_value(machine.module_names.module.origin(dotted)) or UNKNOWN
    value = machine.evaluate(node.value)
    name = node.attr.value
    if name in ("dtype", "type"):
        dtype = value.dtype if value.origin is None else machine.flow.element_of(value.origin.name)
        return Value(shape=(), const=("dtype", dtype), constexpr=True)
    if name in ("element_ty", "scalar"):
        return value
    if name == "T":
        return shapes.transposed(machine, value)
    if name == "shape" and value.shape is not None:
        dims = tuple(Value(shape=(), affine=dim, dtype="int", constexpr=True) for dim in value.shape)
        return Value(parts=dims, constexpr=True)
    return UNKNOWN


def dotted_name(node: cst.BaseExpression) -> str | None:
    """`a.b.c` of a chain of attributes."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def _tuple(machine: Machine, node: cst.Tuple | cst.List) -> Value:
    parts = tuple(_flat(machine.evaluate(element.value)) for element in node.elements)
    return Value(parts=parts, constexpr=all(part.constexpr for part in parts))


def _flat(value: Value) -> Value:
    """Tuples of tuples are kept, deeper ones are not: joining them would take time exponential in their depth."""
    if value.parts is not None and any(part.parts is not None for part in value.parts):
        return UNKNOWN
    return value


# -- arithmetic --------------------------------------------------------------------------------------------------


def _binary(machine: Machine, node: cst.BinaryOperation) -> Value:
    left, right = machine.evaluate(node.left), machine.evaluate(node.right)
    return binary(machine, node, type(node.operator).__name__, left, right)


def _unary(machine: Machine, node: cst.UnaryOperation) -> Value:
    value = machine.evaluate(node.expression)
    if isinstance(node.operator, cst.Not):
        _note_boolean(machine, node, "not", (value,))
        return _negated(value)
    if isinstance(node.operator, cst.BitInvert):
        if value.mask is not None:
            result = _negated(value)
            result.made = Step("not", (value,), node)
            return result
        return value.but(affine=None, const=None, paddings=(), murky=ALL_AXES)
    if isinstance(node.operator, cst.Minus):
        result = _minus(value)
        result.made = Step("Minus", (value,), node)
        return result
    return value


def _minus(value: Value) -> Value:
    paddings, murky = combined("Subtract", literal(0), value)
    const = -value.const if isinstance(value.const, (int, float)) else None
    return Value(
        shape=value.shape,
        dtype=value.dtype,
        affine=None if value.affine is None else -value.affine,
        const=const,
        constexpr=value.constexpr,
        upper=None if value.lower is None else -value.lower,
        lower=None if value.upper is None else -value.upper,
        paddings=paddings,
        murky=murky,
        exps=value.exps,
        tainted=value.tainted,
        raw=value.raw,
        source=value.source,
        wide=value.wide,
    )


def _negated(value: Value) -> Value:
    if value.constexpr and isinstance(value.const, (bool, int, type(None))) and value.dtype is not None:
        return literal(not value.const)
    over = frozenset().union(*(c.axes() for c in value.mask)) if value.mask is not None else None
    mask: Mask | None = None if over is None else frozenset((Opaque(over),))
    return Value(shape=value.shape, dtype="i1", mask=mask, constexpr=value.constexpr)


# -- conditions --------------------------------------------------------------------------------------------------


def _boolean(machine: Machine, node: cst.BooleanOperation) -> Value:
    left, right = machine.evaluate(node.left), machine.evaluate(node.right)
    conjunction = isinstance(node.operator, cst.And)
    _note_boolean(machine, node, "and" if conjunction else "or", (left, right))
    return logical(conjunction, left, right)


def _note_boolean(machine: Machine, node: cst.CSTNode, operator: str, operands: tuple[Value, ...]) -> None:
    if machine.recording:
        machine.flow.booleans.append(BooleanUse(node, operator, operands))


def _comparison(machine: Machine, node: cst.Comparison) -> Value:
    values = [machine.evaluate(node.left), *(machine.evaluate(target.comparator) for target in node.comparisons)]
    if len(values) > 2:
        _note_boolean(machine, node, "chained comparison", tuple(values))
    result: Value | None = None
    for index, target in enumerate(node.comparisons):
        one = _compare(target.operator, values[index], values[index + 1])
        if one.mask is not None:
            one.made = machine.step(type(target.operator).__name__, (values[index], values[index + 1]), node)
        result = one if result is None else logical(True, result, one)
    return result or UNKNOWN


_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    cst.LessThan: lambda a, b: a < b,
    cst.LessThanEqual: lambda a, b: a <= b,
    cst.GreaterThan: lambda a, b: a > b,
    cst.GreaterThanEqual: lambda a, b: a >= b,
    cst.Equal: lambda a, b: a == b,
    cst.NotEqual: lambda a, b: a != b,
}


def _compare(operator: cst.BaseCompOp, left: Value, right: Value) -> Value:
    kind = type(operator)
    if kind in (cst.Is, cst.IsNot):
        is_none = _is_none(left) if right.const is NONE else None
        return Value(shape=(), dtype="i1", constexpr=True) if is_none is None else literal(is_none is (kind is cst.Is))
    constexpr = left.constexpr and right.constexpr
    if kind in (cst.Equal, cst.NotEqual) and _is_member(left.const) and _is_member(right.const):
        return literal((left.const == right.const) is (kind is cst.Equal))
    if constexpr and kind in _COMPARISONS and _is_plain(left.const) and _is_plain(right.const):
        try:
            return literal(_COMPARISONS[kind](left.const, right.const))
        except TypeError:
            return UNKNOWN
    shape = broadcast(left.shape, right.shape)
    mask: Mask
    if left.affine is not None and right.affine is not None and kind in _GAPS:
        swap, strict = _GAPS[kind]
        gap = left.affine - right.affine if swap else right.affine - left.affine
        mask = frozenset((Less(gap, strict),))
    else:
        mask = unknown_mask(left) | unknown_mask(right)
    return Value(shape=shape, dtype="i1", mask=mask, constexpr=constexpr)


def _is_none(value: Value) -> bool | None:
    """Whether it is None; not known of a parameter, which the launch decides."""
    if value.const is NONE:
        return True
    if value.const is not None or (value.affine is not None and value.shape and value.origin is None):
        return False
    computed = value.affine is not None and not any(a.kind in GIVEN for a in value.affine.atoms())
    return False if computed or value.parts is not None else None


_GAPS: dict[type, tuple[bool, bool]] = {
    cst.LessThan: (False, True),
    cst.LessThanEqual: (False, False),
    cst.GreaterThan: (True, True),
    cst.GreaterThanEqual: (True, False),
}


def _is_member(const: Any) -> bool:
    return isinstance(const, tuple) and const[0] == "member"


def _is_plain(const: Any) -> bool:
    return isinstance(const, (bool, int, float, str))


def _conditional(machine: Machine, node: cst.IfExp) -> Value:
    condition = machine.evaluate(node.test)
    if condition.constexpr and isinstance(condition.const, (bool, int)):
        return machine.evaluate(node.body if condition.const else node.orelse)
    return join(machine.atoms, machine.evaluate(node.body), machine.evaluate(node.orelse))


# -- subscripts --------------------------------------------------------------------------------------------------


def _subscript(machine: Machine, node: cst.Subscript) -> Value:
    value = machine.evaluate(node.value)
    items = [element.slice for element in node.slice]
    if value.parts is not None:
        index = machine.evaluate(items[0].value).const if isinstance(items[0], cst.Index) else None
        parts = value.parts
        return parts[index] if isinstance(index, int) and -len(parts) <= index < len(parts) else UNKNOWN
    added = [isinstance(i, cst.Index) and isinstance(i.value, cst.Name) and i.value.value == "None" for i in items]
    if not all(new or isinstance(item, cst.Slice) for new, item in zip(added, items, strict=False)):
        return UNKNOWN
    return expand(machine.atoms, value, added)


def expand(atoms: Atoms, value: Value, added: list[bool]) -> Value:
    """`value[:, None]` and the like: `added` says of each new dimension whether it is one of size 1."""
    kept = added.count(False)
    shape = value.shape if value.shape is not None else (None,) * kept
    if len(shape) != kept:
        if not (value.shape == () or len(shape) < kept):
            return UNKNOWN
        mask = None if value.mask is None else ANYTHING
        return value.but(shape=None, affine=None, paddings=(), murky=ALL_AXES, mask=mask)
    rank = len(added)
    dims: list[Affine | None] = []
    axes: dict[int, int] = {}
    source = 0
    for position, new in enumerate(added):
        if new:
            dims.append(ONE)
        else:
            dims.append(shape[source])
            axes[source - kept] = position - rank
            source += 1
    return move_axes(atoms, value, tuple(dims), axes)


def move_axes(atoms: Atoms, value: Value, shape: tuple[Affine | None, ...] | None, axes: dict[int, int]) -> Value:
    """`value` laid out along other axes."""
    return value.but(
        shape=shape,
        affine=None if value.affine is None else atoms.moved(value.affine, axes),
        mask=None if value.mask is None else frozenset(_moved(atoms, c, axes) for c in value.mask),
        murky=frozenset(axes.get(axis, axis) for axis in value.murky),
        paddings=tuple(
            replace(p, condition=Less(atoms.moved(p.condition.gap, axes), p.condition.strict)) for p in value.paddings
        ),
    )


def _moved(atoms: Atoms, condition: Less | Opaque, axes: dict[int, int]) -> Less | Opaque:
    if isinstance(condition, Less):
        return Less(atoms.moved(condition.gap, axes), condition.strict)
    return Opaque(frozenset(axes.get(axis, axis) for axis in condition.over))


# -- calls -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LoopRange:
    """What a `for` runs over."""

    start: Affine | None
    stop: Affine | None
    step: Affine | None
    static: bool = False
    wide: bool = False


def loop_range(machine: Machine, node: cst.BaseExpression) -> LoopRange:
    """The bounds of `range`, `tl.range` or `tl.static_range`."""
    if not isinstance(node, cst.Call):
        machine.evaluate(node)
        return LoopRange(None, None, None)
    name = dotted_name(node.func) or ""
    static = name.endswith("static_range")
    values = [machine.evaluate(arg.value) for arg in node.args if arg.keyword is None and not arg.star]
    if static and machine.recording:
        for value, arg in zip(values, node.args, strict=False):
            machine.flow.shape_uses.append(ShapeUse(arg.value, value, "tl.static_range"))
    if not name.endswith("range") or not 1 <= len(values) <= 3:
        return LoopRange(None, None, None, static)
    affines = [value.affine for value in values]
    start, stop = (ZERO, affines[0]) if len(values) == 1 else (affines[0], affines[1])
    named = any(arg.keyword is not None and arg.keyword.value == "step" for arg in node.args)
    step = affines[2] if len(values) == 3 else None if named else ONE
    return LoopRange(start, stop, step, static, any(value.wide for value in values))


def _call(machine: Machine, node: cst.Call) -> Value:
    dotted = dotted_name(node.func)
    head = None if dotted is None else dotted.partition(".")[0]
    if dotted is None or (head is not None and machine.lookup(head) is not None):
        return _method(machine, node)
    arguments = Arguments.of(machine, node)
    module = machine.module_names.module
    origin = module.origin(dotted)
    function = machine.project.resolve(machine.module_names, dotted)
    if function is not None:
        return machine.call(function, [value for value, _ in arguments.positional], arguments.values())
    origin = machine.project.origin_of(module, origin)
    return operations.apply(machine, origin, arguments)


def _method(machine: Machine, node: cst.Call) -> Value:
    if not isinstance(node.func, cst.Attribute):
        return UNKNOWN
    target = machine.evaluate(node.func.value)
    arguments = Arguments.of(machine, node, first=(target, node.func.value))
    return operations.apply(machine, f"triton.language.{node.func.attr.value}", arguments)


def _passed(machine: Machine, node: cst.NamedExpr) -> Value:
    value = machine.evaluate(node.value)
    if isinstance(node.target, cst.Name):
        machine.assign(node.target.value, value)
    return value


HANDLERS: dict[type, Callable[[Machine, Any], Value]] = {
    cst.Name: _name,
    cst.Integer: _integer,
    cst.Float: _float,
    cst.SimpleString: _string,
    cst.Attribute: _attribute,
    cst.Tuple: _tuple,
    cst.List: _tuple,
    cst.BinaryOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.IfExp: _conditional,
    cst.Subscript: _subscript,
    cst.Call: _call,
    cst.NamedExpr: _passed,
}
