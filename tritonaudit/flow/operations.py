"""What each function of Triton's language means to flow; a function that is not here gives UNKNOWN."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from tritonaudit.flow import expressions
from tritonaudit.flow.affine import LOADED, ONE, ZERO, Affine, Kind
from tritonaudit.flow.facts import Access, Reduction, ShapeUse
from tritonaudit.flow.joins import join, union
from tritonaudit.flow.padding import extreme, mapped, murky_axes, placed, poisoned, selected
from tritonaudit.flow.value import (
    ALL_AXES,
    FLOATS,
    HALF,
    INTEGERS,
    NONE,
    UNKNOWN,
    BlockPointer,
    ExpTerm,
    Less,
    Padding,
    Shape,
    Value,
    broadcast,
    element_of,
    literal,
    promote,
    scalar,
)

if TYPE_CHECKING:
    from tritonaudit.flow.machine import Machine

Argument = tuple[Value, cst.BaseExpression]


@dataclass(frozen=True)
class Arguments:
    """A call's arguments, evaluated."""

    node: cst.Call
    positional: tuple[Argument, ...]
    keywords: dict[str, Argument]
    starred: bool

    @staticmethod
    def of(machine: Machine, node: cst.Call, first: Argument | None = None) -> Arguments:
        positional = [] if first is None else [first]
        keywords: dict[str, Argument] = {}
        starred = False
        for arg in node.args:
            value = machine.evaluate(arg.value)
            if arg.star:
                starred = True
            elif arg.keyword is not None:
                keywords[arg.keyword.value] = (value, arg.value)
            else:
                positional.append((value, arg.value))
        return Arguments(node, tuple(positional), keywords, starred)

    def get(self, index: int, name: str) -> Argument | None:
        """The argument at `index`, or by that name."""
        if index < len(self.positional):
            return self.positional[index]
        return self.keywords.get(name)

    def value(self, index: int, name: str) -> Value:
        found = self.get(index, name)
        return UNKNOWN if found is None else found[0]

    def values(self) -> dict[str, Value]:
        return {name: value for name, (value, _) in self.keywords.items()}


Operation = Callable[["Machine", Arguments], Value]


def apply(machine: Machine, origin: str, arguments: Arguments) -> Value:
    """The value of a call of `origin`, a dotted name as the file's imports make it."""
    module, _, name = origin.rpartition(".")
    if not module:
        operation = _BUILTINS.get(name)
        return UNKNOWN if operation is None else operation(machine, arguments)
    name = _ALIASES.get(name, name)
    if module.startswith("triton"):
        operation = OPERATIONS.get(name)
        if operation is not None:
            return operation(machine, arguments)
    elif len(arguments.positional) == 1:
        # A project's own name for a function of Triton's: `from .ops import exp`, `triton_tanh`.
        last = name.rpartition("_")[2]
        if name in _ELEMENTWISE or last in _BOUNDED:
            return OPERATIONS[name if name in _ELEMENTWISE else last](machine, arguments)
    return UNKNOWN


_BOUNDED = frozenset({"tanh", "sigmoid", "erf"})


_ALIASES = {
    "fast_expf": "exp", "fast_exp": "exp", "fast_exp2f": "exp2", "fast_logf": "log", "fast_log2f": "log2",
    "clip": "clamp", "view": "reshape", "permute": "trans", "dot_scaled": "dot", "load_tensor_descriptor": "load",
    "store_tensor_descriptor": "store", "fabs": "abs", "fast_sinf": "sin", "rsqrt_rn": "rsqrt", "sqrt_rn": "sqrt",
    "fast_dividef": "fdiv", "div_rn": "fdiv", "isnan": "isnan", "isinf": "isnan",
}  # fmt: skip


# -- indices and shapes ------------------------------------------------------------------------------------------


def _program_id(machine: Machine, arguments: Arguments) -> Value:
    axis = arguments.value(0, "axis").const
    if machine.recording:
        machine.flow.uses_program_id = True
    return scalar("i32", Affine.of(machine.atoms.get(Kind.PID, f"tl.program_id({axis})", axis)), lower=0.0)


def _num_programs(machine: Machine, arguments: Arguments) -> Value:
    axis = arguments.value(0, "axis").const
    return scalar("i32", machine.atoms.opaque(f"tl.num_programs({axis})", axis), lower=0.0)


def _arange(machine: Machine, arguments: Arguments) -> Value:
    start, end = arguments.value(0, "start"), arguments.value(1, "end")
    if machine.recording:
        machine.flow.aranges.append((arguments.node, start, end))
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


def _dtype_of(argument: Argument | None) -> str | None:
    const = None if argument is None else argument[0].const
    return const[1] if isinstance(const, tuple) and const[0] == "dtype" else None


def _zeros(machine: Machine, arguments: Arguments) -> Value:
    return _filled(machine, arguments, literal(0), arguments.get(1, "dtype"), "tl.zeros")


def _full(machine: Machine, arguments: Arguments) -> Value:
    return _filled(machine, arguments, arguments.value(1, "value"), arguments.get(2, "dtype"), "tl.full")


def _filled(machine: Machine, arguments: Arguments, fill: Value, dtype: Argument | None, where: str) -> Value:
    kind = _dtype_of(dtype)
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


def _reshape(machine: Machine, arguments: Arguments) -> Value:
    value = arguments.value(0, "input")
    shape: Shape | None
    if len(arguments.positional) > 2:
        for argument in arguments.positional[1:]:
            _use_as_shape(machine, argument, "tl.reshape")
        shape = tuple(part.affine for part, _ in arguments.positional[1:])
    else:
        shape = _shape_of(machine, arguments.get(1, "shape"), "tl.reshape")
    return Value(
        shape=shape,
        dtype=value.dtype,
        upper=value.upper,
        lower=value.lower,
        raw=value.raw,
        source=value.source,
        murky=ALL_AXES if value.murky or value.paddings else value.murky,
    )


def _broadcast_to(machine: Machine, arguments: Arguments) -> Value:
    shape = _shape_of(machine, arguments.get(1, "shape"), "tl.broadcast_to")
    return arguments.value(0, "input").but(shape=shape)


def _expand_dims(machine: Machine, arguments: Arguments) -> Value:
    value, axis = arguments.value(0, "input"), arguments.value(1, "axis").const
    if not isinstance(axis, int) or value.shape is None:
        return UNKNOWN
    rank = len(value.shape) + 1
    added = [position == axis % rank for position in range(rank)]
    return expressions.expand(machine.atoms, value, added)


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
    return expressions.move_axes(machine.atoms, value, shape, {-1: -2, -2: -1})


def _same(machine: Machine, arguments: Arguments) -> Value:
    return arguments.value(0, "input")


def _cdiv(machine: Machine, arguments: Arguments) -> Value:
    x, y = arguments.value(0, "x"), arguments.value(1, "div")
    affine = None
    if x.affine is not None and y.affine is not None:
        a, b = x.affine.value, y.affine.value
        if a is not None and b:
            affine = Affine.constant(-(-a // b))
        else:
            affine = machine.atoms.opaque("cdiv", "cdiv", (x.affine, y.affine), x.affine.axes())
    return scalar("i32", affine, constexpr=x.constexpr and y.constexpr)


def _next_power_of_2(machine: Machine, arguments: Arguments) -> Value:
    value = arguments.value(0, "n")
    number = value.const
    if isinstance(number, int):
        return literal(1 << max(number - 1, 0).bit_length())
    if value.affine is None:
        return Value(shape=(), constexpr=value.constexpr)
    return scalar("i32", machine.atoms.opaque("next_power_of_2", "pow2", (value.affine,)), constexpr=value.constexpr)


def _constexpr(machine: Machine, arguments: Arguments) -> Value:
    return arguments.value(0, "value").but(constexpr=True)


# -- memory ------------------------------------------------------------------------------------------------------


def _load(machine: Machine, arguments: Arguments) -> Value:
    pointer = arguments.value(0, "pointer")
    mask = arguments.get(1, "mask")
    checked = _boundary_check(arguments)
    if pointer.block is not None:
        return _block_load(machine, arguments, pointer, checked)
    _note_access(machine, arguments, "load", pointer, mask, checked is not None)
    source = pointer.origin
    dtype = element_of(source.name) if source is not None else None
    condition = _condition(mask)
    return Value(
        shape=_loaded_shape(pointer, condition),
        dtype=dtype,
        affine=_loaded_affine(machine, arguments.node, pointer, condition),
        paddings=_load_paddings(arguments, condition),
        murky=_murky_load(arguments, condition),
        raw=True,
        source=source.name if source is not None else None,
    )


def _loaded_shape(pointer: Value, mask: Value | None) -> Shape | None:
    return pointer.shape if mask is None or mask.shape is None else broadcast(pointer.shape, mask.shape)


def _loaded_affine(machine: Machine, node: cst.Call, pointer: Value, mask: Value | None) -> Affine | None:
    if pointer.shape is None:
        return None
    axes = frozenset(range(-len(pointer.shape), 0)) if pointer.shape else frozenset()
    inner = () if pointer.affine is None else (pointer.affine,)
    loops = tuple(loop.counter.id for loop in machine.loops)
    return machine.atoms.opaque(LOADED, (id(node), loops), inner, axes)


def _load_paddings(arguments: Arguments, mask: Value | None) -> tuple[Padding, ...]:
    if mask is None or not mask.mask:
        return ()
    other = arguments.get(2, "other")
    fill = 0.0 if other is None else other[0].const
    if not isinstance(fill, (bool, int, float)):
        return ()
    conditions = [c for c in mask.mask if isinstance(c, Less) and c.bounds()]
    node = arguments.node
    return tuple(Padding(c, float(fill), node, other is not None, base=node, place=node) for c in conditions)


def _murky_load(arguments: Arguments, mask: Value | None) -> frozenset[int]:
    """The axes along which masked-off lanes hold what cannot be told: an unknown mask, an `other` that is no number."""
    if mask is None:
        return frozenset()
    if mask.mask is None:
        return ALL_AXES
    other = arguments.get(2, "other")
    untold = other is not None and not isinstance(other[0].const, (bool, int, float))
    return frozenset().union(*(c.axes() for c in mask.mask if untold or not isinstance(c, Less)))


def _boundary_check(arguments: Arguments) -> tuple[int, ...] | None:
    found = arguments.keywords.get("boundary_check")
    if found is None:
        return None
    value = found[0]
    parts = value.parts if value.parts is not None else (value,)
    return tuple(part.const for part in parts if isinstance(part.const, int))


def _block_load(machine: Machine, arguments: Arguments, pointer: Value, checked: tuple[int, ...] | None) -> Value:
    block = pointer.block
    assert block is not None
    if block.descriptor:
        checked = tuple(range(len(block.block)))
    _note_access(machine, arguments, "load", pointer, None, checked is not None)
    option = arguments.keywords.get("padding_option")
    fill = math.nan if option is not None and option[0].const == "nan" else 0.0
    paddings = []
    for dimension in checked or ():
        condition = _block_condition(machine, block, dimension)
        if condition is not None:
            node = arguments.node
            paddings.append(Padding(condition, fill, node, True, base=node, place=node))
    dtype = element_of(block.parameter) if block.parameter else None
    return Value(shape=block.block, dtype=dtype, paddings=tuple(paddings), raw=True, source=block.parameter)


def _block_condition(machine: Machine, block: BlockPointer, dimension: int) -> Less | None:
    rank = len(block.block)
    if not (0 <= dimension < rank and dimension < len(block.shape) and dimension < len(block.offsets)):
        return None
    extent, offset, size = block.shape[dimension], block.offsets[dimension], block.block[dimension]
    if extent is None or offset is None or size is None or extent == size:
        return None
    lane = machine.atoms.lane(size, ZERO, dimension - rank)
    condition = Less(extent - offset - lane, True)
    return condition if condition.bounds() else None


def _note_access(
    machine: Machine, arguments: Arguments, kind: str, pointer: Value, mask: Argument | None, checked: bool
) -> None:
    if not machine.recording or arguments.starred:
        return
    found = arguments.get(0, "pointer") or arguments.get(0, "ptr")
    machine.flow.accesses.append(
        Access(
            node=arguments.node,
            kind=kind,
            pointer=pointer,
            address=arguments.node if found is None else found[1],
            mask=_condition(mask),
            path=machine.path,
            loops=tuple(loop.counter.id for loop in machine.loops),
            checked=checked,
        )
    )


def _condition(mask: Argument | None) -> Value | None:
    """The mask that is given; `mask=None` is none."""
    return None if mask is None or mask[0].const is NONE else mask[0]


def _is_none(argument: Argument | None) -> bool:
    return argument is not None and isinstance(argument[1], cst.Name) and argument[1].value == "None"


def _store(machine: Machine, arguments: Arguments) -> Value:
    pointer = arguments.value(0, "pointer")
    _note_access(machine, arguments, "store", pointer, arguments.get(2, "mask"), _boundary_check(arguments) is not None)
    return UNKNOWN


def _atomic(mask_index: int) -> Operation:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        pointer = arguments.value(0, "pointer")
        _note_access(machine, arguments, "atomic", pointer, arguments.get(mask_index, "mask"), False)
        return Value(shape=pointer.shape)

    return operation


def _make_block_ptr(machine: Machine, arguments: Arguments) -> Value:
    base = arguments.value(0, "base")
    shape, offsets, block = (
        _affines(arguments.value(index, name)) for index, name in ((1, "shape"), (3, "offsets"), (4, "block_shape"))
    )
    if block is None:
        return UNKNOWN
    pointer = BlockPointer(base.origin.name if base.origin else None, shape or (), offsets or (), block)
    return Value(block=pointer, dtype=element_of(base.origin.name) if base.origin else None)


def _affines(value: Value) -> tuple[Affine | None, ...] | None:
    return None if value.parts is None else tuple(part.affine for part in value.parts)


def _advance(machine: Machine, arguments: Arguments) -> Value:
    pointer, steps = arguments.value(0, "base"), _affines(arguments.value(1, "offsets"))
    block = pointer.block
    if block is None or steps is None or len(steps) != len(block.offsets):
        return UNKNOWN
    moved = tuple(None if a is None or b is None else a + b for a, b in zip(block.offsets, steps, strict=False))
    return pointer.but(block=BlockPointer(block.parameter, block.shape, moved, block.block))


# -- elementwise -------------------------------------------------------------------------------------------------


def _cast(machine: Machine, arguments: Arguments) -> Value:
    value, target = arguments.value(0, "input"), arguments.get(1, "dtype")
    if "bitcast" in arguments.keywords:
        return Value(shape=value.shape, murky=ALL_AXES)
    dtype = _dtype_of(target)
    # `x.to(y.dtype).to(tl.float32)` at one place rounds on purpose.
    twice = arguments.positional and arguments.positional[0][1] is value.narrowed
    if dtype in ("fp32", "fp64") and machine.recording and value.narrowed is not None and not twice:
        machine.flow.late_casts.append((arguments.node, value))
    narrow = value.dtype in ("fp32", "fp64") and (_may_be_half(dtype) if dtype is not None else _is_dtype_of(target))
    keeps = (value.dtype in INTEGERS and dtype in INTEGERS) or (value.dtype is None and dtype in INTEGERS)
    return value.but(
        dtype=dtype,
        affine=value.affine if keeps or (dtype in INTEGERS and value.affine is not None) else None,
        const=value.const if isinstance(value.const, (int, float)) else None,
        constexpr=False,
        origin=None,
        narrowed=arguments.node if narrow else None,
    )


def _may_be_half(dtype: str) -> bool:
    """Not fp8, which nobody rounds to but on purpose."""
    return dtype in ("fp16", "bf16") or dtype.startswith("*")


def _is_dtype_of(target: Argument | None) -> bool:
    """`x.dtype` of another value, as in `.to(x.dtype)`."""
    return target is not None and isinstance(target[1], cst.Attribute) and target[1].attr.value == "dtype"


def _exponential(base: str) -> Operation:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        return _exp(machine, arguments, base)

    return operation


def _exp(machine: Machine, arguments: Arguments, base: str) -> Value:
    argument = arguments.value(0, "x")
    function = math.exp if base == "exp" else lambda x: 2.0**x
    paddings, murky = mapped(function, argument)
    # What an exponential makes of the padding is mended before it: at the load, or after the last contraction.
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


def _logarithm(function: Callable[[float], float]) -> Operation:
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
) -> Operation:
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


def _extreme(name: str) -> Operation:
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
    return expressions.binary(machine, arguments.node, "Divide", arguments.value(0, "x"), arguments.value(1, "y")).but(
        narrowed=None
    )


# -- reductions and dot ------------------------------------------------------------------------------------------


def _axis(arguments: Arguments, operand: Value) -> tuple[int | None, bool]:
    """The reduced axis, counted from the right, and whether it is known."""
    found = arguments.get(1, "axis") or arguments.keywords.get("dim")
    if found is None or _is_none(found):
        return (-1, True) if operand.rank == 1 else (None, True)
    axis = found[0].const
    if not isinstance(axis, int):
        return None, False
    if axis < 0:
        return axis, True
    return (axis - operand.rank, True) if operand.rank is not None else (None, False)


def _reduction(name: str) -> Operation:
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
    integer = name in ("argmax", "argmin")
    dtype = "i32" if integer else _dtype_of(arguments.keywords.get("dtype")) or operand.dtype
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
        moved = expressions.move_axes(machine.atoms, rest, shape, axes)
        result.paddings, result.murky = placed(moved, arguments.node), moved.murky
    if result.dtype is None or result.dtype not in FLOATS:
        loops = tuple(loop.counter.id for loop in machine.loops)
        over = frozenset(range(-len(shape), 0)) if shape else frozenset()
        result.affine = machine.atoms.opaque(f"tl.{name}", (id(arguments.node), loops), (), over)
    return result


def _scan(name: str) -> Operation:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        operand = arguments.value(0, "input")
        if machine.recording and name == "cumsum" and "dtype" not in arguments.keywords:
            machine.flow.narrow_sums.append((arguments.node, operand, name))
        dtype = _dtype_of(arguments.keywords.get("dtype")) or operand.dtype
        murky = murky_axes(operand)
        return Value(shape=operand.shape, dtype=dtype, raw=operand.raw, source=operand.source, murky=murky)

    return operation


def _dot(machine: Machine, arguments: Arguments) -> Value:
    left, right = arguments.value(0, "input"), arguments.value(1, "other")
    shape: Shape | None = None
    if left.shape is not None and right.shape is not None and len(left.shape) == len(right.shape) >= 2:
        shape = (*left.shape[:-1], right.shape[-1])
    bad = _contracted(machine, left, right)
    if machine.recording:
        machine.flow.reductions.append(Reduction(arguments.node, "dot", left, -1, machine.path, bad))
    out = arguments.keywords.get("out_dtype")
    accumulator = arguments.get(2, "acc")
    if machine.recording and accumulator is not None and isinstance(accumulator[1], cst.Name):
        machine.note_accumulation(arguments.node, accumulator[1].value, "Dot", left)
    dtype = _dtype_of(out) if out is not None else "i32" if left.dtype == right.dtype == "i8" else "fp32"
    return Value(
        shape=shape,
        dtype=dtype,
        paddings=(outer := _outer_paddings(arguments.node, left, right)),
        murky=_murky_product(left, right, outer),
        raw=True,
        narrowed=out[1] if out is not None and dtype in HALF else None,
        sums=(terms := union(left.exps, right.exps)),
        tainted=terms,
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
    """The axes of a matrix product along which what padded lanes hold cannot be told."""
    conditions = {padding.condition for padding in kept}
    rows = -2 in left.murky or any(-2 in p.axes() and p.condition not in conditions for p in left.paddings)
    columns = -1 in right.murky or any(-1 in p.axes() and p.condition not in conditions for p in right.paddings)
    return frozenset(axis for axis, murky in ((-2, rows), (-1, columns)) if murky)


def _softmax(machine: Machine, arguments: Arguments) -> Value:
    operand = arguments.value(0, "x")
    if machine.recording and operand.rank == 1:
        _note_reduction(machine, arguments, "softmax", operand, -1)
    murky = murky_axes(operand)
    return Value(shape=operand.shape, dtype=operand.dtype, lower=0.0, upper=1.0, murky=murky)


def _shapeless(machine: Machine, arguments: Arguments) -> Value:
    return Value(shape=None)


def _like_first(machine: Machine, arguments: Arguments) -> Value:
    return Value(shape=arguments.value(0, "input").shape, murky=ALL_AXES)


def _scalar_of(machine: Machine, arguments: Arguments) -> Value:
    return scalar(None)


def _number(machine: Machine, arguments: Arguments) -> Value:
    const = arguments.value(0, "x").const
    try:
        return literal(float(const)) if isinstance(const, (str, int, float)) else scalar(None)
    except ValueError:
        return scalar(None)


_ELEMENTWISE: dict[str, Operation] = {
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
    "isnan": _elementwise(None, lower=0.0, upper=1.0),
}

OPERATIONS: dict[str, Operation] = {
    **_ELEMENTWISE,
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
    "multiple_of": _same,
    "max_contiguous": _same,
    "max_constancy": _same,
    "tensor": _same,
    "item": _same,
    "cdiv": _cdiv,
    "next_power_of_2": _next_power_of_2,
    "constexpr": _constexpr,
    "load": _load,
    "store": _store,
    **{f"atomic_{name}": _atomic(2) for name in ("add", "max", "min", "and", "or", "xor", "xchg")},
    "make_block_ptr": _make_block_ptr,
    "advance": _advance,
    "cast": _cast,
    "to": _cast,
    "maximum": _extreme("maximum"),
    "minimum": _extreme("minimum"),
    "clamp": _clamp,
    "where": _where,
    "fdiv": _fdiv,
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
    "flip": _like_first,
    "sort": _like_first,
}

_BUILTINS: dict[str, Operation] = {
    "max": _extreme("maximum"),
    "min": _extreme("minimum"),
    "abs": _abs,
    "float": _number,
    "int": _number,
    "len": _scalar_of,
}
