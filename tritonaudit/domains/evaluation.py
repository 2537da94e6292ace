"""What each operation of a kernel gives, from what is known of its operands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonaudit.domains import operations, shapes
from tritonaudit.domains.affine import GIVEN, ONE, ZERO, Affine
from tritonaudit.domains.arguments import Arguments
from tritonaudit.domains.arithmetic import binary, logical, unknown_mask
from tritonaudit.domains.facts import BooleanUse, ShapeUse
from tritonaudit.domains.joins import join
from tritonaudit.domains.layouts import expand
from tritonaudit.domains.padding import combined
from tritonaudit.domains.value import (
    ALL_AXES,
    NONE,
    UNKNOWN,
    Less,
    Mask,
    Opaque,
    Step,
    Value,
    as_dtype,
    broadcast,
    literal,
)
from tritonaudit.ir.bound import Bound
from tritonaudit.ir.model import Carried, Loop, Operation
from tritonaudit.ir.values import Const, Dtype, Literal, Tensor, Tuple
from tritonaudit.ir.values import Value as Typed
from tritonaudit.ir.writing import made_of
from tritonaudit.kernel.launch import Constant

if TYPE_CHECKING:
    from tritonaudit.domains.machine import Machine


# -- operands ----------------------------------------------------------------------------------------------------


def fact(machine: Machine, value: Typed) -> Value:
    """What is known of an operand; an assignment makes a tensor of a constant."""
    made = made_of(value)
    if isinstance(made, Operation):
        known = machine.facts.get(made, UNKNOWN)
        return known.but(constexpr=False) if known.constexpr and isinstance(value, Tensor) else known
    if isinstance(made, Literal):
        return literal(made.value).but(constexpr=False)
    if isinstance(value, Const):
        return of_constant(value.value) if value.known else Value(shape=(), constexpr=True)
    if isinstance(value, Tuple):
        parts = tuple(_flat(fact(machine, item)) for item in value.items)
        return Value(parts=parts, constexpr=all(part.constexpr for part in parts))
    return UNKNOWN


def of_constant(value: Any) -> Value:
    """A constant that is known."""
    if isinstance(value, Dtype):
        return Value(shape=(), const=("dtype", as_dtype(value)), constexpr=True)
    if isinstance(value, tuple):
        return Value(parts=tuple(_flat(of_constant(item)) for item in value), constexpr=True)
    if value is None or isinstance(value, (bool, int, float, str)):
        return literal(value)
    return Value(shape=(), constexpr=True)


def constant(known: Constant) -> Value:
    """A constant of the host code; members of one enum are equal when their names are."""
    if known.name is None:
        return literal(known.value)
    return Value(shape=(), const=("member", known.name), constexpr=True)


def _flat(value: Value) -> Value:
    """Tuples of tuples are kept, deeper ones are not: joining them would take time exponential in their depth."""
    if value.parts is not None and any(part.parts is not None for part in value.parts):
        return UNKNOWN
    return value


# -- results -----------------------------------------------------------------------------------------------------


def evaluate(machine: Machine, operation: Operation) -> Value:
    """What an operation gives."""
    if isinstance(operation.detail, Bound):
        value = operations.apply(machine, operation.detail.origin, Arguments.of_call(machine, operation))
    else:
        handler = _HANDLERS.get(operation.name)
        value = UNKNOWN if handler is None else handler(machine, operation)
    return _typed(value, operation.type)


def _typed(value: Value, type: Typed) -> Value:
    """With the dtype and the sizes that Triton's front end gives it."""
    if not isinstance(type, Tensor):
        return value
    dtype = None if type.dtype is None or type.is_pointer else as_dtype(type.dtype)
    sizes = None if type.shape is None else tuple(None if n is None else Affine.constant(n) for n in type.shape)
    if value is UNKNOWN:
        return value if dtype is None and sizes is None else Value(shape=sizes, dtype=dtype, murky=ALL_AXES)
    if sizes is not None and value.shape is not None and len(value.shape) == len(sizes):
        sizes = tuple(known if known is not None else size for known, size in zip(value.shape, sizes, strict=True))
    if sizes is None:
        sizes = value.shape
    if (dtype is None or dtype == value.dtype) and sizes == value.shape:
        return value
    return value.but(dtype=value.dtype if dtype is None else dtype, shape=sizes)


def _called(machine: Machine, operation: Operation) -> Value:
    return operations.apply(machine, operation.detail or "", Arguments.of_call(machine, operation))


def _descriptor(machine: Machine, operation: Operation) -> Value:
    return operations.apply(machine, f"triton.language.{operation.name}", Arguments.of_call(machine, operation))


def _asserted(machine: Machine, operation: Operation) -> Value:
    machine.note_assertion(machine.fact(operation.value("cond")))
    return UNKNOWN


def _operands(machine: Machine, operation: Operation) -> list[Value]:
    return [machine.fact(value) for value, _ in operation.arguments.values()]


def _binary(machine: Machine, operation: Operation) -> Value:
    left, right = _operands(machine, operation)
    return binary(machine, machine.node(operation), operation.name, left, right)


def _minus(machine: Machine, operation: Operation) -> Value:
    (value,) = _operands(machine, operation)
    paddings, murky = combined("Subtract", literal(0), value)
    return Value(
        shape=value.shape,
        dtype=value.dtype,
        affine=None if value.affine is None else -value.affine,
        const=-value.const if isinstance(value.const, (int, float)) else None,
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
        made=Step("Minus", (value,), machine.node(operation)),
    )


def _not(machine: Machine, operation: Operation) -> Value:
    (value,) = _operands(machine, operation)
    _note_boolean(machine, operation, "not", (value,))
    return _negated(value)


def _inverted(machine: Machine, operation: Operation) -> Value:
    (value,) = _operands(machine, operation)
    if value.mask is None:
        return value.but(affine=None, const=None, paddings=(), murky=ALL_AXES)
    return _negated(value).but(made=Step("not", (value,), machine.node(operation)))


def _negated(value: Value) -> Value:
    if value.constexpr and isinstance(value.const, (bool, int, type(None))) and value.dtype is not None:
        return literal(not value.const)
    over = frozenset().union(*(c.axes() for c in value.mask)) if value.mask is not None else None
    mask: Mask | None = None if over is None else frozenset((Opaque(over),))
    return Value(shape=value.shape, dtype="i1", mask=mask, constexpr=value.constexpr)


def _same(machine: Machine, operation: Operation) -> Value:
    return _operands(machine, operation)[0]


def _plain(machine: Machine, operation: Operation) -> Value:
    value = _operands(machine, operation)[0]
    return value.but(constexpr=False) if value.constexpr and value.parts is None else value


# -- conditions --------------------------------------------------------------------------------------------------


def _boolean(machine: Machine, operation: Operation) -> Value:
    conjunction = operation.name == "and"
    values = _operands(machine, operation)
    result = values[0]
    for value in values[1:]:
        _note_boolean(machine, operation, operation.name, (result, value))
        result = logical(conjunction, result, value)
    return result


def _note_boolean(machine: Machine, operation: Operation, operator: str, operands: tuple[Value, ...]) -> None:
    node = machine.node(operation)
    if machine.recording and node is not None:
        machine.flow.booleans.append(BooleanUse(node, operator, operands))


def _chained(machine: Machine, operation: Operation) -> Value:
    values = _operands(machine, operation)
    _note_boolean(machine, operation, "chained comparison", tuple(values))
    result: Value | None = None
    for name, left, right in zip(operation.detail, values, values[1:], strict=False):
        one = _compared(machine, operation, name, left, right)
        result = one if result is None else logical(True, result, one)
    return result or UNKNOWN


def _comparison(machine: Machine, operation: Operation) -> Value:
    return _compared(machine, operation, operation.name, *_operands(machine, operation))


def _compared(machine: Machine, operation: Operation, name: str, left: Value, right: Value) -> Value:
    found = _compare(name, left, right)
    if found.mask is not None:
        found.made = machine.step(name, (left, right), machine.node(operation))
    return found


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "LessThan": lambda a, b: a < b,
    "LessThanEqual": lambda a, b: a <= b,
    "GreaterThan": lambda a, b: a > b,
    "GreaterThanEqual": lambda a, b: a >= b,
    "Equal": lambda a, b: a == b,
    "NotEqual": lambda a, b: a != b,
}
_GAPS: dict[str, tuple[bool, bool]] = {
    "LessThan": (False, True),
    "LessThanEqual": (False, False),
    "GreaterThan": (True, True),
    "GreaterThanEqual": (True, False),
}


def _compare(name: str, left: Value, right: Value) -> Value:
    constexpr = left.constexpr and right.constexpr
    if name in ("Equal", "NotEqual") and _is_member(left.const) and _is_member(right.const):
        return literal((left.const == right.const) is (name == "Equal"))
    if constexpr and _is_plain(left.const) and _is_plain(right.const):
        try:
            return literal(_COMPARISONS[name](left.const, right.const))
        except TypeError:
            return UNKNOWN
    mask: Mask
    if left.affine is not None and right.affine is not None and name in _GAPS:
        swap, strict = _GAPS[name]
        gap = left.affine - right.affine if swap else right.affine - left.affine
        mask = frozenset((Less(gap, strict),))
    else:
        mask = unknown_mask(left) | unknown_mask(right)
    return Value(shape=broadcast(left.shape, right.shape), dtype="i1", mask=mask, constexpr=constexpr)


def _identity(machine: Machine, operation: Operation) -> Value:
    left, right = _operands(machine, operation)
    is_none = _is_none(left) if right.const is NONE else None
    if is_none is None:
        return Value(shape=(), dtype="i1", constexpr=True)
    return literal(is_none is (operation.name == "Is"))


def _is_none(value: Value) -> bool | None:
    """Whether it is None; not known of a parameter, which the launch decides."""
    if value.const is NONE:
        return True
    if value.const is not None or (value.affine is not None and value.shape and value.origin is None):
        return False
    computed = value.affine is not None and not any(a.kind in GIVEN for a in value.affine.atoms())
    return False if computed or value.parts is not None else None


def _is_member(const: Any) -> bool:
    return isinstance(const, tuple) and const[0] == "member"


def _is_plain(const: Any) -> bool:
    return isinstance(const, (bool, int, float, str))


def decided(condition: Value) -> bool | None:
    """Which arm of a constant condition is compiled; None where that is not known."""
    const = condition.const if condition.constexpr else None
    return bool(const) if isinstance(const, (bool, int)) else None


# -- parts of values -----------------------------------------------------------------------------------------------


def _attribute(machine: Machine, operation: Operation) -> Value:
    value, name = _operands(machine, operation)[0], operation.detail
    if name in ("dtype", "type"):
        dtype = value.dtype if value.origin is None else machine.flow.element_of(value.origin.name)
        return Value(shape=(), const=("dtype", dtype), constexpr=True)
    if name in ("element_ty", "scalar", "value"):
        return value
    if name == "T":
        return shapes.transposed(machine, value)
    if name == "shape" and value.shape is not None:
        dims = tuple(Value(shape=(), affine=dim, dtype="int", constexpr=True) for dim in value.shape)
        return Value(parts=dims, constexpr=True)
    return UNKNOWN


def _expand(machine: Machine, operation: Operation) -> Value:
    return expand(machine.atoms, machine.fact(operation.value("value")), list(operation.detail))


def _item(machine: Machine, operation: Operation) -> Value:
    parts, index = machine.fact(operation.value("value")).parts, operation.detail
    return parts[index] if parts is not None and -len(parts) <= index < len(parts) else UNKNOWN


def _index(machine: Machine, operation: Operation) -> Value:
    parts = machine.fact(operation.value("value")).parts
    index = machine.fact(operation.value("index")).const
    if parts is None or not isinstance(index, int):
        return UNKNOWN
    return parts[index] if -len(parts) <= index < len(parts) else UNKNOWN


# -- where control meets -----------------------------------------------------------------------------------------


def _either(machine: Machine, operation: Operation) -> Value:
    then, orelse = machine.fact(operation.value("then")), machine.fact(operation.value("orelse"))
    chosen = decided(machine.fact(operation.value("condition")))
    if chosen is not None:
        return then if chosen else orelse
    value = join(machine.atoms, then, orelse)
    if value.made is not None and value.made.operation == "either" and not isinstance(operation.node, ast.IfExp):
        machine.note_skipped(value.made, machine.fact(operation.value("condition")).mask)
    return value


def _carried(machine: Machine, operation: Operation) -> Value:
    return machine.fact(operation.value("initial"))


def _left(machine: Machine, operation: Operation) -> Value:
    """What a loop leaves: in a trial run that which holds in every round, for someone runs it again to note it."""
    head = machine.fact(operation.value("head"))
    return head if machine.silent else join(machine.atoms, head, machine.fact(operation.value("last")))


_HANDLERS: dict[str, Callable[[Machine, Operation], Value]] = {
    **dict.fromkeys(
        (
            *("Add", "Subtract", "Multiply", "Divide", "FloorDivide", "Modulo", "Power"),
            *("LeftShift", "RightShift", "BitAnd", "BitOr", "BitXor"),
        ),
        _binary,
    ),
    **dict.fromkeys(_COMPARISONS, _comparison),
    **dict.fromkeys(("Is", "IsNot"), _identity),
    **dict.fromkeys(("and", "or"), _boolean),
    **dict.fromkeys(("load", "store", "gather", "scatter"), _descriptor),
    "chained": _chained,
    "Minus": _minus,
    "Not": _not,
    "BitInvert": _inverted,
    "Plus": _same,
    "plain": _plain,
    "call": _called,
    "assert": _asserted,
    "attribute": _attribute,
    "expand": _expand,
    "item": _item,
    "index": _index,
    "either": _either,
    "carried": _carried,
    "left": _left,
}


# -- loops -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LoopRange:
    """What a `for` runs over."""

    start: Affine | None
    stop: Affine | None
    step: Affine | None
    static: bool = False
    wide: bool = False


def loop_range(machine: Machine, node: Loop) -> LoopRange:
    """The bounds of `range`, `tl.range` or `tl.static_range`."""
    static = node.kind == "static_range"
    given = [(machine.fact(value), at) for name, (value, at) in node.bounds.items() if name.isdigit()]
    if static and machine.recording:
        uses = ((value, machine.concrete(at)) for value, at in given)
        machine.flow.shape_uses += [ShapeUse(at, value, "tl.static_range") for value, at in uses if at is not None]
    if node.kind == "unknown" or not 1 <= len(given) <= 3:
        return LoopRange(None, None, None, static)
    affines = [value.affine for value, _ in given]
    start, stop = (ZERO, affines[0]) if len(given) == 1 else (affines[0], affines[1])
    step = affines[2] if len(given) == 3 else None if "step" in node.bounds else ONE
    return LoopRange(start, stop, step, static, any(value.wide for value, _ in given))


_DEEPEST = 4


def additions(one: Carried) -> Iterator[tuple[ast.AST, Typed]]:
    """Where a round adds to the variable, scaled or not, and what: also as the sum of matrix products."""
    stack: list[Typed] = [one.last]
    seen: set[int] = set()
    while stack:
        made = made_of(stack.pop())
        if not isinstance(made, Operation) or id(made) in seen:
            continue
        seen.add(id(made))
        place = made.calls[0] if made.calls else made.node
        if made.name == "either":
            stack += [made.value("then"), made.value("orelse")]
        elif made.name == "Add":
            left, right = made.value("left"), made.value("right")
            for side, other in ((left, right), (right, left)):
                if _holds(side, one.head, _DEEPEST):
                    yield place, other
                    break
        elif made.name == "dot" and _holds(made.value("acc"), one.head, _DEEPEST):
            yield place, made.value("input")


def _holds(value: Typed, head: Operation, depth: int) -> bool:
    """Whether a value is computed from that of the loop's head in a few steps."""
    made = made_of(value)
    if made is head:
        return True
    if not isinstance(made, Operation) or depth == 0:
        return False
    return any(_holds(operand, head, depth - 1) for operand, _ in made.arguments.values())
