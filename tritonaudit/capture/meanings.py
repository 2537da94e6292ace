"""What the operations of Triton's language say of the parameters behind their operands."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from tritonaudit.capture.evidence import STRONG, Evidence
from tritonaudit.capture.trail import (
    INDEX,
    NOTHING,
    Nature,
    Trail,
    added,
    combined,
    joined,
    nature_asked,
    nature_of,
)
from tritonaudit.ir.values import Const, Dtype, Literal, Tuple, Value
from tritonaudit.ir.writing import made_of

if TYPE_CHECKING:
    from tritonaudit.capture.uses import Follower
    from tritonaudit.ir.model import Operation

Meaning = Callable[["Follower", "Operation"], Trail]


def trail_of(follower: Follower, operation: Operation) -> Trail:
    """What an operation's result comes from, after its operands are noted."""
    meaning = _MEANINGS.get(operation.name)
    if meaning is None and operation.name == "call":
        meaning = _MEANINGS.get(str(operation.detail).rpartition(".")[2])
    return combined(_all(follower, operation)) if meaning is None else meaning(follower, operation)


_NONE: Value = Const(None)


def _all(follower: Follower, operation: Operation) -> list[Trail]:
    return [follower.trail(value) for value, _ in operation.arguments.values()]


def _first(operation: Operation) -> Value:
    return next((value for value, _ in operation.arguments.values()), _NONE)


def _given(operation: Operation, *names: str) -> Value:
    """The operand of that name, or of the place that it has where names are not known."""
    return next((operation.value(name) for name in names if name in operation.arguments), _NONE)


def _written(value: Value) -> bool:
    """Whether the text gives the number."""
    return (isinstance(value, Const) and value.known) or isinstance(made_of(value), Literal)


def _number(value: Value) -> object:
    made = made_of(value)
    if isinstance(made, Literal):
        return made.value
    return value.value if isinstance(value, Const) and value.known else None


# -- memory --------------------------------------------------------------------------------------------------------


def _option(follower: Follower, operation: Operation, keyword: str, usual: str) -> None:
    """A parameter that is passed on as an option takes the usual word for it."""
    direct = follower.trail(operation.value(keyword)).direct
    if direct is not None:
        follower.uses.parameters[direct].compared.append(usual)


def _load(follower: Follower, operation: Operation) -> Trail:
    pointer, mask = _given(operation, "pointer", "desc"), _given(operation, "offsets", "mask")
    if isinstance(mask, Tuple):
        return _of_descriptor(follower, pointer, mask)
    _option(follower, operation, "eviction_policy", "")
    _option(follower, operation, "cache_modifier", "")
    elements = follower.address(pointer)
    follower.is_number(follower.trail(mask), Evidence.BOOLEAN)
    other = operation.value("other")
    nature, number = follower.trail(other).nature, _number(other)
    if nature is Nature.FLOAT:
        follower.note(elements, Evidence.FLOAT, 1 if number == 0 else 2)
    if nature is Nature.BOOLEAN:
        follower.note(elements, Evidence.BOOLEAN, 2)
    if isinstance(number, int) and number not in (0, 1):
        follower.note(elements, Evidence.INTEGER, 1)
    return Trail(loads=elements, whole=elements)


def _of_descriptor(follower: Follower, owner: Value, offsets: Tuple) -> Trail:
    """`desc.load([i, j])`, `tl.load_tensor_descriptor(desc, [i, j])`; of a block that the kernel describes, too."""
    follower.is_index(offsets)
    trail = follower.trail(owner)
    if trail.direct is not None:
        follower.note((trail.direct,), Evidence.DESCRIPTOR)
        follower.uses.ranks[trail.direct] = len(offsets.items)
    return Trail(loads=frozenset(trail.bases), whole=frozenset(trail.bases))


def _store(follower: Follower, operation: Operation) -> Trail:
    pointer, value = _given(operation, "pointer", "desc"), operation.value("value")
    offsets = _given(operation, "offsets", "value")
    if isinstance(offsets, Tuple):
        _of_descriptor(follower, pointer, offsets)
        return NOTHING
    elements = follower.address(pointer)
    follower.is_number(follower.trail(operation.value("mask")), Evidence.BOOLEAN)
    nature = follower.trail(value).nature
    if nature is Nature.INTEGER and not _written(value):
        follower.note(elements, Evidence.INTEGER, 2)
    elif nature is Nature.BOOLEAN:
        follower.note(elements, Evidence.BOOLEAN, 1)
    elif nature is Nature.FLOAT:
        follower.note(elements, Evidence.FLOAT, 1)
    return NOTHING


def _atomic(follower: Follower, operation: Operation) -> Trail:
    elements = follower.address(operation.value("pointer"))
    values = [follower.trail(value) for name, (value, _) in operation.arguments.items() if name in ("cmp", "val")]
    if operation.name in ("atomic_and", "atomic_or", "atomic_xor", "atomic_cas"):
        follower.note(elements, Evidence.INTEGER)
    elif any(value.nature is Nature.INTEGER for value in values):
        follower.note(elements, Evidence.INTEGER, 2)
    elif any(value.nature is Nature.FLOAT or value.loads for value in values):
        follower.note(elements, Evidence.FLOAT, 1)
    return Trail(loads=elements, whole=elements)


def _block_pointer(follower: Follower, operation: Operation) -> Trail:
    base = operation.value("base")
    follower.address(base)
    for name in ("shape", "strides", "offsets"):
        follower.is_index(operation.value(name))
    follower.is_tile(operation.value("block_shape"))
    return Trail(sums=follower.trail(base).sums)


def _advance(follower: Follower, operation: Operation) -> Trail:
    follower.is_index(operation.value("offsets"))
    return Trail(sums=follower.trail(_given(operation, "base", "self")).sums)


# -- numbers -------------------------------------------------------------------------------------------------------


def _index(follower: Follower, operation: Operation) -> Trail:
    for value, _ in operation.arguments.values():
        follower.is_index(value)
    return combined(_all(follower, operation), Nature.INTEGER)


def _arange(follower: Follower, operation: Operation) -> Trail:
    for value, _ in operation.arguments.values():
        follower.is_tile(value)
    return INDEX


def _shaped(follower: Follower, operation: Operation) -> Trail:
    """`zeros`, `full`: a shape, for `full` a value, a dtype."""
    follower.is_tile(operation.value("shape"))
    dtype, value = operation.value("dtype"), follower.trail(operation.value("value"))
    typed = _asks(follower, dtype)
    return Trail(loads=value.loads, scalars=value.scalars, nature=nature_asked(dtype), typed=typed)


def _asks(follower: Follower, dtype: Value) -> str | None:
    """The parameter that is used as a dtype."""
    direct = follower.trail(dtype).direct
    if direct is not None:
        follower.note((direct,), Evidence.DTYPE)
    return direct


def _cast(follower: Follower, operation: Operation) -> Trail:
    value, dtype = follower.trail(_given(operation, "self", "input", "x")), operation.value("dtype")
    typed, nature = _asks(follower, dtype), nature_asked(dtype)
    node = operation.arguments["dtype"][1] if "dtype" in operation.arguments else None
    if isinstance(node, ast.Call) and "pointer_type" in ast.unparse(node.func):
        follower.note(value.whole, Evidence.TABLE)
        return Trail(sums=value.sums)
    if nature is Nature.INTEGER:
        follower.is_number(value, Evidence.INTEGER, 1)
        if isinstance(dtype, Const) and dtype.value in ("i8", "u8"):
            follower.note(value.loads - value.whole, Evidence.BYTE)
    elif nature is Nature.BOOLEAN:
        follower.is_number(value, Evidence.BOOLEAN, 1)
    elif nature is Nature.FLOAT and value.direct is not None:
        follower.note((value.direct,), Evidence.FLOAT, 1)
    is_open = nature is None
    return value.but(nature=nature, sums=value.sums if is_open else (), typed=typed if is_open else None)


def _float(follower: Follower, operation: Operation) -> Trail:
    """A function of real numbers."""
    for value in _all(follower, operation):
        follower.is_number(value, Evidence.FLOAT)
    return combined(_all(follower, operation), Nature.FLOAT)


def _dot(follower: Follower, operation: Operation) -> Trail:
    left, right = (follower.trail(_given(operation, *names)) for names in (("input", "lhs"), ("other", "rhs")))
    _option(follower, operation, "input_precision", "tf32")
    place = (operation.function.module.path, getattr(operation.node, "lineno", 0))
    follower.uses.dots.setdefault(place, []).append((left.loads, right.loads))
    asked = nature_asked(operation.value("out_dtype"))
    integer = Nature.INTEGER in (follower.trail(operation.value("acc")).nature, asked)
    for operand in (left, right):
        follower.note(operand.whole, Evidence.SMALL_INTEGER if integer else Evidence.FLOAT, 1)
    return combined((left, right), Nature.INTEGER if integer else Nature.FLOAT).but(factors=left.whole | right.whole)


def _where(follower: Follower, operation: Operation) -> Trail:
    follower.is_number(follower.trail(operation.value("condition")), Evidence.BOOLEAN, 2)
    left, right = operation.value("x"), operation.value("y")
    chosen = joined((follower.trail(left), follower.trail(right)))
    for one, other in ((left, right), (right, left)):
        whole = follower.trail(one).whole
        if _written(one):
            chosen = follower.trail(other)
        if whole and _written(other) and follower.trail(other).nature is Nature.FLOAT and _number(other) != 0:
            follower.note(whole, Evidence.FLOAT, 1)
    return chosen.but(direct=None)


def _kept(follower: Follower, operation: Operation) -> Trail:
    """What keeps the elements of its first operand: reductions, shapes, hints."""
    shape = operation.value("shape")
    if isinstance(shape, Tuple):
        follower.is_tile(shape)
    return follower.trail(_first(operation)).but(direct=None)


def _same(follower: Follower, operation: Operation) -> Trail:
    return follower.trail(_first(operation))


def _place(follower: Follower, operation: Operation) -> Trail:
    """Where in a block something is: no longer the block's data."""
    return INDEX


def _item(follower: Follower, operation: Operation) -> Trail:
    """A part of what an operation gives: the second of `max(…, return_indices=True)` is a place."""
    made = made_of(operation.value("value"))
    is_place = getattr(made, "name", "") in ("max", "min", "argmax", "argmin", "philox") and operation.detail == 1
    return INDEX if is_place else follower.trail(operation.value("value")).but(direct=None)


def _either(follower: Follower, operation: Operation) -> Trail:
    values = [follower.trail(value) for value, _ in operation.arguments.values() if not _written(value)]
    nature = next((value.nature for value in values if value.nature is not None), None)
    chosen = joined(values)
    return chosen.but(nature=nature, direct=None, sums=chosen.sums if len(values) == 1 else ())


def _met(follower: Follower, operation: Operation) -> Trail:
    """What control leaves: of an `if`, or of a loop."""
    return joined(follower.trail(value) for name, (value, _) in operation.arguments.items() if name != "condition")


def _gather(follower: Follower, operation: Operation) -> Trail:
    follower.is_index(operation.value("index"))
    return _kept(follower, operation)


def _random(follower: Follower, operation: Operation) -> Trail:
    follower.is_number(follower.trail(operation.value("seed")), Evidence.INTEGER)
    follower.is_index(operation.value("offset"), 1)
    return INDEX if operation.name in ("randint", "philox", "randint4x") else Trail(nature=Nature.FLOAT)


def _python_float(follower: Follower, operation: Operation) -> Trail:
    return Trail(nature=Nature.FLOAT)


def _nothing(follower: Follower, operation: Operation) -> Trail:
    return NOTHING


# -- operators -----------------------------------------------------------------------------------------------------


_Side = tuple[Trail, Value]


def _sides(follower: Follower, operation: Operation) -> tuple[tuple[_Side, _Side], tuple[_Side, _Side]]:
    """Both operands, each beside the other."""
    left, right = ((follower.trail(value), value) for value, _ in [*operation.arguments.values()][:2])
    return (left, right), (right, left)


def _pair(follower: Follower, operation: Operation) -> tuple[Trail, Trail]:
    ((left, _), (right, _)), _ = _sides(follower, operation)
    return left, right


def _sum(follower: Follower, operation: Operation) -> Trail:
    for (one, _), (other, value) in _sides(follower, operation):
        if one.factors and other.nature is Nature.INTEGER and not _written(value):
            follower.note(one.factors, Evidence.SMALL_INTEGER)
    left, right = _pair(follower, operation)
    return added(left, right, nature_of(left, right))


def _difference(follower: Follower, operation: Operation) -> Trail:
    left, right = _pair(follower, operation)
    return combined((left, right), nature_of(left, right)).but(sums=left.sums)


def _product(follower: Follower, operation: Operation) -> Trail:
    """A number that multiplies an index is an integer, one that multiplies data is likely a float."""
    for (one, _), (other, value) in _sides(follower, operation):
        if other.nature is Nature.FLOAT:
            follower.note(one.whole, Evidence.FLOAT, 1)
        if one.direct is None:
            continue
        if other.nature is Nature.INTEGER and not other.loads and not _written(value):
            follower.note((one.direct,), Evidence.INTEGER)
            follower.note((one.direct,), Evidence.NUMBER)
        elif other.nature is Nature.FLOAT or other.loads:
            follower.note((one.direct,), Evidence.FLOAT, 1)
    pair = _pair(follower, operation)
    return combined(pair, nature_of(*pair))


def _quotient(follower: Follower, operation: Operation) -> Trail:
    pair = _pair(follower, operation)
    for one in pair:
        follower.note(one.whole, Evidence.FLOAT, 1)
    return combined(pair, Nature.FLOAT)


def _of_integers(follower: Follower, operation: Operation) -> Trail:
    pair = _pair(follower, operation)
    for one in pair:
        follower.is_number(one, Evidence.INTEGER, 2)
    return combined(pair, nature_of(*pair))


def _bits(follower: Follower, operation: Operation) -> Trail:
    for (one, _), (other, value) in _sides(follower, operation):
        is_boolean = other.nature is Nature.BOOLEAN
        weight = STRONG if is_boolean or _written(value) else 1
        follower.is_number(one, Evidence.BOOLEAN if is_boolean else Evidence.INTEGER, weight)
    pair = _pair(follower, operation)
    return combined(pair, nature_of(*pair))


def _negative(follower: Follower, operation: Operation) -> Trail:
    return _same(follower, operation).but(sums=(), whole=frozenset(), direct=None)


def _inverse(follower: Follower, operation: Operation) -> Trail:
    value = _same(follower, operation)
    follower.note(value.whole, Evidence.BOOLEAN, 1)
    return value.but(sums=(), direct=None)


def _conditions(follower: Follower, operation: Operation) -> Trail:
    """`and`, `or`, `not`."""
    for value, _ in operation.arguments.values():
        follower.is_condition(value)
    return combined(_all(follower, operation), Nature.BOOLEAN)


def _compared(follower: Follower, operation: Operation) -> Trail:
    values = [value for value, _ in operation.arguments.values()]
    is_exact = operation.name in ("Equal", "NotEqual")
    for left, right in pairwise(values):
        for one, other in ((left, right), (right, left)):
            _compares(follower, follower.trail(one), other, is_exact)
    # What data is compared to is no longer that data.
    return combined(_all(follower, operation), Nature.BOOLEAN).but(loads=frozenset())


def _compares(follower: Follower, value: Trail, other: Value, is_exact: bool) -> None:
    trail, is_written = follower.trail(other), _written(other)
    if value.direct is not None and isinstance(other, Const) and other.known:
        compared = follower.uses.parameters[value.direct].compared
        if isinstance(other.value, Dtype):
            follower.note((value.direct,), Evidence.DTYPE)
        elif other.value is None:
            follower.note((value.direct,), Evidence.NONE)
        elif is_exact and other.value not in compared:
            compared.append(other.value)
    if trail.nature is Nature.INTEGER and not trail.loads:
        if not is_written and value.nature is not Nature.FLOAT:
            follower.note(value.loads - value.whole, Evidence.INTEGER, 2)
        follower.is_number(value, Evidence.INTEGER, 1 if is_written else 2)
    if trail.nature is Nature.FLOAT:
        follower.is_number(value, Evidence.FLOAT, 1)


def _attribute(follower: Follower, operation: Operation) -> Trail:
    value = _same(follower, operation)
    if operation.detail == "element_ty":
        follower.note(value.bases[:1], Evidence.POINTER)
    if operation.detail in ("dtype", "type", "element_ty", "scalar"):
        return Trail(sums=value.sums)
    if operation.detail in ("shape", "strides") and value.direct is not None:
        follower.note((value.direct,), Evidence.DESCRIPTOR)
    return value if operation.detail in ("value", "T") else NOTHING


def _table(meaning: Meaning, names: str) -> dict[str, Meaning]:
    return dict.fromkeys(names.split(), meaning)


_MEANINGS: dict[str, Meaning] = {
    **_table(_load, "load load_tensor_descriptor _experimental_descriptor_load"),
    **_table(_store, "store store_tensor_descriptor _experimental_descriptor_store"),
    **_table(_atomic, "atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg atomic_cas"),
    **_table(_block_pointer, "make_block_ptr make_tensor_descriptor _experimental_make_tensor_descriptor"),
    "advance": _advance,
    **_table(_index, "cdiv program_id num_programs swizzle2d int len"),
    "arange": _arange,
    **_table(_shaped, "zeros full"),
    **_table(_cast, "cast to"),
    **_table(_float, "exp exp2 log log2 log10 log1p expm1 sqrt sqrt_rn rsqrt sin cos tan tanh sinh cosh erf erfc"),
    **_table(_float, "sigmoid softmax floor ceil fast_expf fast_logf fast_log2f fast_tanhf fast_dividef div_rn fdiv"),
    **_table(_float, "asin acos atan atan2 pow powf isnan isinf isfinited finitef round rint trunc llrint nearbyint"),
    **_table(_dot, "dot dot_scaled"),
    "where": _where,
    **_table(_kept, "abs reshape view broadcast_to expand_dims trans permute ravel flip multiple_of max_contiguous"),
    **_table(_kept, "max_constancy assume debug_barrier sum cumsum cumprod sort reduce associative_scan xor_sum"),
    **_table(_kept, "zeros_like max min split expand index"),
    **_table(_same, "plain constexpr"),
    **_table(_place, "argmax argmin"),
    "item": _item,
    **_table(_either, "maximum minimum clamp join cat interleave broadcast fma"),
    **_table(_met, "either carried left"),
    "gather": _gather,
    **_table(_random, "rand randn randint philox randint4x"),
    "float": _python_float,
    **_table(_nothing, "device_print device_assert static_print static_assert print assert"),
    "Add": _sum, "Subtract": _difference, "Multiply": _product, "Divide": _quotient,
    **_table(_of_integers, "FloorDivide Modulo LeftShift RightShift __lshift__ __rshift__"),
    **_table(_bits, "BitAnd BitOr BitXor"),
    "Minus": _negative, "BitInvert": _inverse,
    **_table(_conditions, "and or Not"),
    **_table(_compared, "Equal NotEqual LessThan LessThanEqual GreaterThan GreaterThanEqual Is IsNot chained"),
    "attribute": _attribute,
}  # fmt: skip
