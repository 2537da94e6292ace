"""Functions of one element at a time: casts, exponentials, maxima, selections."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tritonaudit.domains.affine import Affine, AtomKind
from tritonaudit.domains.arguments import Argument, Arguments, Handler, dtype_of
from tritonaudit.domains.arithmetic import binary
from tritonaudit.domains.joins import join
from tritonaudit.domains.padding import extreme, mapped, murky_axes, selected
from tritonaudit.domains.value import (
    ALL_AXES,
    INTEGERS,
    UNKNOWN,
    WIDE,
    ExpTerm,
    Less,
    Value,
    broadcast,
    given_dtype,
    promote,
)

if TYPE_CHECKING:
    from tritonaudit.domains.machine import Machine


def _cast(machine: Machine, arguments: Arguments) -> Value:
    value, target = arguments.value(0, "input"), arguments.get(1, "dtype")
    if "bitcast" in arguments.keywords:
        return Value(shape=value.shape, murky=ALL_AXES)
    dtype = dtype_of(target) or _given(value, target)
    # `x.to(y.dtype).to(tl.float32)` at one place rounds on purpose.
    twice = arguments.positional and arguments.positional[0][1] is value.narrowed
    if dtype in ("fp32", "fp64") and machine.recording and value.narrowed is not None and not twice:
        machine.flow.late_casts.append((arguments.node, value))
    narrow = _is_full_width(value) and (_may_be_half(dtype) if dtype is not None else _is_dtype_of(target))
    return value.but(
        dtype=dtype,
        affine=_cast_affine(machine, arguments, value) if dtype in INTEGERS else None,
        const=value.const if isinstance(value.const, (int, float)) else None,
        constexpr=False,
        origin=None,
        narrowed=arguments.node if narrow else None,
        wide=dtype not in INTEGERS - WIDE,
    )


def _is_full_width(value: Value) -> bool:
    """Whether a value has at least 32 bits; a matrix product has, of whatever its operands are."""
    is_product = value.dtype is None and value.made is not None and value.made.operation == "dot"
    return is_product or value.dtype in ("fp32", "fp64")


def _cast_affine(machine: Machine, arguments: Arguments, value: Value) -> Affine | None:
    """That of an integer made of the value: an unknown one where it was no integer."""
    if value.affine is not None or value.shape is None:
        return value.affine
    loops = tuple(loop.counter.id for loop in machine.loops)
    axes = frozenset(range(-len(value.shape), 0)) if value.shape else frozenset()
    return machine.atoms.opaque("cast", (arguments.key, loops), (), axes)


def _given(value: Value, target: Argument | None) -> str | None:
    """The dtype that a constexpr parameter is; what integers are cast to may be a wider index."""
    if value.dtype in INTEGERS or target is None or not target[0].constexpr or target[0].affine is None:
        return None
    atom = target[0].affine.atom
    return given_dtype(atom.name) if atom is not None and atom.kind is AtomKind.CONSTEXPR else None


def _may_be_half(dtype: str) -> bool:
    """Not fp8, which nobody rounds to but on purpose."""
    return dtype in ("fp16", "bf16") or dtype.startswith("*")


def _is_dtype_of(target: Argument | None) -> bool:
    """`x.dtype` of another value, as in `.to(x.dtype)`."""
    return target is not None and isinstance(target[1], cst.Attribute) and target[1].attr.value == "dtype"


def _exponential(base: str) -> Handler:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        return _exp(machine, arguments, base)

    return operation


def _exp(machine: Machine, arguments: Arguments, base: str) -> Value:
    argument = arguments.value(0, "x")
    function = math.exp if base == "exp" else lambda x: 2.0**x
    paddings, murky = mapped(function, argument)
    # What an exponential makes of the padding is fixed before it: at the load, or after the last contraction.
    paddings = tuple(replace(padding, place=padding.base) for padding in paddings)
    value = Value(
        shape=argument.shape,
        dtype=argument.dtype,
        lower=0.0,
        upper=_image(function, argument.upper),
        paddings=paddings,
        murky=murky,
    )
    unbounded = argument.upper is None and argument.const is None
    if unbounded and (argument.raw or argument.difference):
        term = ExpTerm(arguments.node, base, argument, machine.path, argument.difference)
        value.exps = value.tainted = (term,)
        if machine.recording:
            machine.flow.exps.append(term)
    return value


def _image(function: Callable[[float], float], bound: float | None) -> float | None:
    if bound is None:
        return None
    try:
        return function(bound)
    except (OverflowError, ValueError):
        return None


def _logarithm(function: Callable[[float], float]) -> Handler:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        value = arguments.value(0, "x")
        for harm, terms in (("softplus", value.one_plus), ("logsumexp", value.sums)):
            for term in terms:
                if machine.recording:
                    machine.flow.overflows.append((term, harm, arguments.node))
        paddings, murky = mapped(function, value)
        return Value(
            shape=value.shape,
            dtype=value.dtype,
            upper=_image(function, value.upper) if value.upper else None,
            lower=_image(function, value.lower) if value.lower else None,
            paddings=paddings,
            murky=murky,
            tainted=value.tainted,
        )

    return operation


def _elementwise(
    function: Callable[[float], float] | None, lower: float | None = None, upper: float | None = None
) -> Handler:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        value = arguments.value(0, "x")
        paddings, murky = mapped(function, value)
        return Value(
            shape=value.shape,
            dtype=value.dtype,
            lower=lower,
            upper=upper,
            paddings=paddings,
            murky=murky,
            tainted=value.tainted,
        )

    return operation


def _abs(machine: Machine, arguments: Arguments) -> Value:
    value = arguments.value(0, "x")
    paddings, murky = mapped(abs, value)
    return Value(shape=value.shape, dtype=value.dtype, lower=0.0, paddings=paddings, murky=murky, raw=value.raw)


def _log1p(machine: Machine, arguments: Arguments) -> Value:
    value = arguments.value(0, "x")
    if machine.recording:
        machine.flow.overflows.extend((term, "softplus", arguments.node) for term in value.exps)
    paddings, murky = mapped(math.log1p, value)
    return Value(shape=value.shape, dtype=value.dtype, lower=0.0, paddings=paddings, murky=murky, tainted=value.tainted)


def extremum(name: str) -> Handler:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        values = [value for value, _ in (*arguments.positional, *arguments.keywords.values())]
        if len(values) < 2:
            return UNKNOWN
        result = values[0]
        for value in values[1:]:
            result = _larger(machine, name, result, value)
        return result

    return operation


def _larger(machine: Machine, name: str, left: Value, right: Value) -> Value:
    affine = None
    if left.affine is not None and right.affine is not None:
        if left.affine.value is not None and right.affine.value is not None:
            pick = max if name == "maximum" else min
            affine = Affine.constant(pick(left.affine.value, right.affine.value))
        else:
            axes = left.affine.axes() | right.affine.axes()
            affine = machine.atoms.opaque(name, name, (left.affine, right.affine), axes)
    paddings, murky = extreme(name, left, right)
    value = Value(
        shape=broadcast(left.shape, right.shape),
        dtype=promote(left.dtype, right.dtype),
        affine=affine,
        constexpr=left.constexpr and right.constexpr,
        paddings=paddings,
        murky=murky,
        wide=left.wide or right.wide,
    )
    uppers = [v.upper for v in (left, right) if v.upper is not None]
    lowers = [v.lower for v in (left, right) if v.lower is not None]
    if name == "minimum":
        value.upper = min(uppers) if uppers else None
        value.lower = min(lowers) if len(lowers) == 2 else None
    else:
        value.lower = max(lowers) if lowers else None
        value.upper = max(uppers) if len(uppers) == 2 else None
    return value


def _clamp(machine: Machine, arguments: Arguments) -> Value:
    value, low, high = arguments.value(0, "x"), arguments.value(1, "min"), arguments.value(2, "max")
    upper = high.upper if high.upper is not None else math.inf
    murky = murky_axes(value)
    return Value(shape=value.shape, dtype=value.dtype, upper=upper, lower=low.lower, murky=murky)


def _where(machine: Machine, arguments: Arguments) -> Value:
    condition, chosen, other = (arguments.value(index, name) for index, name in enumerate(("condition", "x", "y")))
    shape = broadcast(broadcast(condition.shape, chosen.shape), other.shape)
    _guard_overflows(machine, condition, (*chosen.tainted, *other.tainted))
    value = join(machine.atoms, chosen.but(constexpr=False), other.but(constexpr=False))
    if value is UNKNOWN:
        return Value(shape=shape)
    on_data = _depends_on_data(condition)
    paddings, murky = selected(condition, chosen, other)
    return value.but(
        shape=shape,
        dtype=promote(chosen.dtype, other.dtype),
        paddings=paddings,
        murky=murky,
        exps=() if on_data else tuple(term for term in value.exps if not term.difference),
        sums=() if on_data else value.sums,
        one_plus=() if on_data else value.one_plus,
        tainted=() if on_data else value.tainted,
        mask=None,
        affine=_selected_affine(machine, condition, chosen, other),
        raw=chosen.raw and (other.raw or other.const is not None),
        source=chosen.source or other.source,
        origin=chosen.origin if chosen.origin is other.origin else None,
    )


def _depends_on_data(condition: Value) -> bool:
    return condition.mask is None or any(not isinstance(c, Less) or c.data_axes() for c in condition.mask)


def _guard_overflows(machine: Machine, condition: Value, terms: tuple[ExpTerm, ...]) -> None:
    """A selection drops what overflowed, where it stands on every path that the exponential is on.

    Lanes chosen by their number keep the large elements among them; of pairwise differences they keep one half.
    """
    for term in terms:
        on_the_way = term.path[: len(machine.path)] == machine.path
        if on_the_way and (term.difference or _depends_on_data(condition)):
            machine.flow.guarded.add(id(term.node))


def _selected_affine(machine: Machine, condition: Value, chosen: Value, other: Value) -> Affine | None:
    if chosen.affine is None or other.affine is None:
        return None
    axes = chosen.affine.axes() | other.affine.axes()
    if condition.mask is not None:
        axes = axes.union(*(c.axes() for c in condition.mask))
    return machine.atoms.opaque("tl.where", id(condition), (chosen.affine, other.affine), axes)


def _fdiv(machine: Machine, arguments: Arguments) -> Value:
    divisor = arguments.value(1, "y")
    if machine.recording and _is_approximate(arguments.node):
        overflowing = divisor.one_plus or divisor.sums or divisor.exps
        machine.flow.approximate_quotients.extend((arguments.node, term) for term in overflowing[:1])
    return binary(machine, arguments.node, "Divide", arguments.value(0, "x"), arguments.value(1, "y")).but(
        narrowed=None
    )


def _is_approximate(node: cst.Call) -> bool:
    """`fast_dividef`, under whatever module."""
    function = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    return isinstance(function, cst.Name) and function.value == "fast_dividef"


FUNCTIONS: dict[str, Handler] = {
    "exp": _exponential("exp"),
    "exp2": _exponential("exp2"),
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "log1p": _log1p,
    "abs": _abs,
    "sqrt": _elementwise(math.sqrt, lower=0.0),
    "rsqrt": _elementwise(None, lower=0.0),
    "sigmoid": _elementwise(lambda x: 1 / (1 + math.exp(-x)), lower=0.0, upper=1.0),
    "tanh": _elementwise(math.tanh, lower=-1.0, upper=1.0),
    "erf": _elementwise(math.erf, lower=-1.0, upper=1.0),
    "sin": _elementwise(math.sin, lower=-1.0, upper=1.0),
    "cos": _elementwise(math.cos, lower=-1.0, upper=1.0),
    "floor": _elementwise(math.floor),
    "ceil": _elementwise(math.ceil),
    "rint": _elementwise(round),
    "isnan": _elementwise(None, lower=0.0, upper=1.0),
}

OPERATIONS: dict[str, Handler] = {
    **FUNCTIONS,
    "cast": _cast,
    "to": _cast,
    "maximum": extremum("maximum"),
    "minimum": extremum("minimum"),
    "clamp": _clamp,
    "where": _where,
    "fdiv": _fdiv,
}
