"""What each function of Triton's language means to flow; a function that is not here gives UNKNOWN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonaudit.domains import elementwise, memory, reductions, shapes
from tritonaudit.domains.arguments import Arguments, Handler
from tritonaudit.domains.value import (
    UNKNOWN,
    Value,
    literal,
    scalar,
)

if TYPE_CHECKING:
    from tritonaudit.domains.machine import Machine


def apply(machine: Machine, origin: str, arguments: Arguments) -> Value:
    """The value of a call of `origin`, a dotted name as the file's imports make it."""
    module, _, name = origin.rpartition(".")
    if not module:
        operation = _BUILTINS.get(name)
        if operation is None:
            return UNKNOWN
        return _traced(machine, _EXTREMA.get(name, name), arguments, operation(machine, arguments))
    name = _ALIASES.get(name, name)
    if module.startswith("triton"):
        operation = OPERATIONS.get(name)
        if operation is not None:
            return _traced(machine, name, arguments, operation(machine, arguments))
    elif len(arguments.positional) == 1:
        # A project's own name for a function of Triton's: `from .ops import exp`, `triton_tanh`.
        last = name.rpartition("_")[2]
        if name in elementwise.FUNCTIONS or last in _BOUNDED:
            name = name if name in elementwise.FUNCTIONS else last
            return _traced(machine, name, arguments, OPERATIONS[name](machine, arguments))
    return UNKNOWN


_EXTREMA = {"max": "maximum", "min": "minimum"}
_LAYOUTS = frozenset({"fdiv", "reshape", "trans", "broadcast_to", "expand_dims", "ravel", "flip", "join", "split"})
_CASTS = frozenset({"cast", "to"})
_LEAST = {"where": 3, "fma": 3, "clamp": 3, "maximum": 2, "minimum": 2, "dot": 2, "fdiv": 2}
_UNTRACED = frozenset({"arange", "program_id", "num_programs", "zeros", "full", "zeros_like", "store", "advance"})


def _traced(machine: Machine, name: str, arguments: Arguments, value: Value) -> Value:
    """The value with the operation that made it; casts and layouts keep what made their operand.

    Calls with fewer operands than the operation takes have none.
    """
    operands = tuple(value for value, _ in (*arguments.positional, *arguments.keywords.values()))
    if len(operands) < _LEAST.get(name, 1):
        return value
    if name in _CASTS:
        machine.step("cast", (*operands, value), arguments.node)
    if name in _UNTRACED or value is UNKNOWN or any(value is operand for operand in operands):
        return value
    if name in _LAYOUTS or name in _CASTS:
        if value.made is None and operands:
            value.made = operands[0].made
    else:
        value.made = machine.step(name, operands, arguments.node)
    return value


_BOUNDED = frozenset({"tanh", "sigmoid", "erf"})


_ALIASES = {
    "fast_expf": "exp", "fast_exp": "exp", "fast_exp2f": "exp2", "fast_logf": "log", "fast_log2f": "log2",
    "clip": "clamp", "view": "reshape", "permute": "trans", "dot_scaled": "dot", "load_tensor_descriptor": "load",
    "store_tensor_descriptor": "store", "fabs": "abs", "fast_sinf": "sin", "rsqrt_rn": "rsqrt", "sqrt_rn": "sqrt",
    "fast_dividef": "fdiv", "div_rn": "fdiv", "isnan": "isnan", "isinf": "isnan", "nearbyint": "rint", "round": "rint",
}  # fmt: skip


def _scalar_of(machine: Machine, arguments: Arguments) -> Value:
    return scalar(None)


def _number(machine: Machine, arguments: Arguments) -> Value:
    const = arguments.value(0, "x").const
    try:
        return literal(float(const)) if isinstance(const, (str, int, float)) else scalar(None)
    except ValueError:
        return scalar(None)


def _asserted(machine: Machine, arguments: Arguments) -> Value:
    machine.note_assertion(arguments.value(0, "cond"))
    return UNKNOWN


OPERATIONS: dict[str, Handler] = {
    **shapes.OPERATIONS,
    **memory.OPERATIONS,
    **elementwise.OPERATIONS,
    **reductions.OPERATIONS,
    **dict.fromkeys(("static_assert", "device_assert", "assume"), _asserted),
}

_BUILTINS: dict[str, Handler] = {
    "max": elementwise.extremum("maximum"),
    "min": elementwise.extremum("minimum"),
    "abs": elementwise.FUNCTIONS["abs"],
    "float": _number,
    "int": _number,
    "len": _scalar_of,
}
