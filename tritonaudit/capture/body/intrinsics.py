"""What the operations of Triton's language say of the parameters behind their operands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.capture.body.trail import INDEX, NOTHING, Nature, Trail, combined, joined
from tritonaudit.capture.body.uses import Evidence

if TYPE_CHECKING:
    from tritonaudit.capture.body.follow import Follower


@dataclass(frozen=True)
class Call:
    """A call's arguments."""

    node: ast.Call
    positional: tuple[Trail, ...]
    keywords: dict[str, Trail]

    def get(self, index: int, name: str) -> Trail:
        """The argument at the index, or by that name; one that is not given comes from nothing."""
        if index < len(self.positional):
            return self.positional[index]
        return self.keywords.get(name, NOTHING)

    def has(self, index: int, name: str) -> bool:
        return index < len(self.positional) or name in self.keywords

    @property
    def all(self) -> Iterator[tuple[str, Trail]]:
        yield from ((str(index), value) for index, value in enumerate(self.positional))
        yield from self.keywords.items()


Operation = Callable[["Follower", Call], Trail]


# -- memory --------------------------------------------------------------------------------------------------------


def _address(follower: Follower, pointer: Trail) -> frozenset[str]:
    """Note an access; the parameters that it may be to."""
    follower.note(pointer.loads, Evidence.INTEGER)
    found = frozenset(follower.uses.pointer_of(names) for names in pointer.sums)
    follower.note(found, Evidence.POINTER)
    follower.note((pointer.scalars | frozenset(pointer.bases)) - found, Evidence.INTEGER)
    return found


def _mask(follower: Follower, mask: Trail) -> None:
    follower.is_number(mask, Evidence.BOOLEAN)


def _word(follower: Follower, call: Call, keyword: str, usual: str) -> None:
    """A parameter that is passed on as an option takes the usual word for it."""
    given = call.keywords.get(keyword, NOTHING).direct
    if given is not None:
        follower.note((given,), Evidence.TEXT)
        follower.uses.parameters[given].compared.append(usual)


def _load(follower: Follower, call: Call) -> Trail:
    _word(follower, call, "eviction_policy", "")
    _word(follower, call, "cache_modifier", "")
    elements = _address(follower, call.get(0, "pointer"))
    _mask(follower, call.get(1, "mask"))
    other = call.get(2, "other")
    if other.nature is Nature.FLOAT:
        follower.note(elements, Evidence.FLOAT, 1 if other.written and other.written[0] == 0 else 2)
    if other.nature is Nature.BOOLEAN:
        follower.note(elements, Evidence.BOOLEAN, 2)
    if other.written and isinstance(other.written[0], int) and other.written[0] not in (0, 1):
        follower.note(elements, Evidence.INTEGER, 1)
    return Trail(loads=elements, whole=elements)


def _store(follower: Follower, call: Call) -> Trail:
    elements = _address(follower, call.get(0, "pointer"))
    value = call.get(1, "value")
    _mask(follower, call.get(2, "mask"))
    if value.nature is Nature.INTEGER and not value.written:
        follower.note(elements, Evidence.INTEGER, 2)
    elif value.nature is Nature.BOOLEAN:
        follower.note(elements, Evidence.BOOLEAN, 1)
    elif value.nature is Nature.FLOAT:
        follower.note(elements, Evidence.FLOAT, 1)
    follower.uses.links.update((one, other) for one in elements for other in value.whole)
    return NOTHING


def _atomic(follower: Follower, call: Call) -> Trail:
    elements = _address(follower, call.get(0, "pointer"))
    values = call.positional[1:]
    name = _last_name(call.node)
    if name in ("atomic_and", "atomic_or", "atomic_xor", "atomic_cas"):
        follower.note(elements, Evidence.INTEGER)
    elif any(value.nature is Nature.INTEGER for value in values):
        follower.note(elements, Evidence.INTEGER, 2)
    elif any(value.nature is Nature.FLOAT or value.loads for value in values):
        follower.note(elements, Evidence.FLOAT, 1)
    return Trail(loads=elements, whole=elements)


def _last_name(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _block_pointer(follower: Follower, call: Call) -> Trail:
    base = call.get(0, "base")
    _address(follower, base)
    for index, name in ((1, "shape"), (2, "strides"), (3, "offsets")):
        follower.is_index(call.get(index, name))
    follower.is_tile(call.get(4 if _last_name(call.node) == "make_block_ptr" else 3, "block_shape"))
    return Trail(sums=base.sums)


def _advance(follower: Follower, call: Call) -> Trail:
    follower.is_index(call.get(1, "offsets"))
    return Trail(sums=call.get(0, "base").sums)


def _descriptor_load(follower: Follower, call: Call) -> Trail:
    """`desc.load([i, j])`, `tl.load_tensor_descriptor(desc, [i, j])`; of a block pointer's parameter too."""
    owner = call.get(0, "desc")
    offsets = call.get(1, "offsets")
    _describes(follower, owner, offsets)
    return Trail(loads=frozenset(owner.bases), whole=frozenset(owner.bases))


def _descriptor_store(follower: Follower, call: Call) -> Trail:
    _describes(follower, call.get(0, "desc"), call.get(1, "offsets"))
    return NOTHING


def _describes(follower: Follower, owner: Trail, offsets: Trail) -> None:
    follower.is_index(offsets)
    if owner.direct is not None and offsets.parts is not None:
        follower.note((owner.direct,), Evidence.DESCRIPTOR)
        follower.uses.ranks[owner.direct] = len(offsets.parts)


# -- numbers -------------------------------------------------------------------------------------------------------


def _index(follower: Follower, call: Call) -> Trail:
    for _, value in call.all:
        follower.is_index(value)
    return combined((value for _, value in call.all), Nature.INTEGER)


def _arange(follower: Follower, call: Call) -> Trail:
    for index, name in ((0, "start"), (1, "end")):
        follower.is_tile(call.get(index, name))
    return INDEX


def _shaped(follower: Follower, call: Call) -> Trail:
    """`zeros`, `full`: a shape, for `full` a value, a dtype."""
    shape = call.get(0, "shape")
    follower.is_tile(shape)
    has_value = _last_name(call.node) == "full"
    dtype = call.get(2 if has_value else 1, "dtype")
    _dtype(follower, dtype)
    value = call.get(1, "value") if has_value else NOTHING
    return Trail(loads=value.loads, scalars=value.scalars, nature=_nature_of(dtype), typed=dtype.direct)


def _dtype(follower: Follower, value: Trail) -> None:
    if value.direct is not None:
        follower.note((value.direct,), Evidence.DTYPE)


def _nature_of(dtype: Trail) -> Nature | None:
    name = dtype.dtype or ""
    if name == "int1":
        return Nature.BOOLEAN
    if "float" in name:
        return Nature.FLOAT
    return Nature.INTEGER if "int" in name else None


def _cast(follower: Follower, call: Call) -> Trail:
    value, dtype = call.get(0, "input"), call.get(1, "dtype")
    _dtype(follower, dtype)
    nature = _nature_of(dtype)
    if _is_pointer_type(call):
        follower.note(value.whole, Evidence.TABLE)
        return Trail(sums=value.sums)
    if nature is Nature.INTEGER:
        follower.is_number(value, Evidence.INTEGER, 1)
        if dtype.dtype in ("int8", "uint8"):
            follower.note(value.loads - value.whole, Evidence.BYTE)
    elif nature is Nature.BOOLEAN:
        follower.is_number(value, Evidence.BOOLEAN, 1)
    elif nature is Nature.FLOAT and value.direct is not None:
        follower.note((value.direct,), Evidence.FLOAT, 1)
    typed = dtype.direct if dtype.dtype is None else None
    return value.but(nature=nature, sums=value.sums if dtype.dtype is None else (), typed=typed)


def _is_pointer_type(call: Call) -> bool:
    return any("pointer_type" in ast.unparse(argument) for argument in call.node.args)


def _range(follower: Follower, call: Call) -> Trail:
    for value in call.positional:
        follower.is_index(value)
        if _last_name(call.node) == "static_range":
            follower.note(value.scalars, Evidence.COUNT)
    return INDEX


def _float(follower: Follower, call: Call) -> Trail:
    """A function of real numbers."""
    for _, value in call.all:
        follower.is_number(value, Evidence.FLOAT)
    return combined((value for _, value in call.all), Nature.FLOAT)


def _dot(follower: Follower, call: Call) -> Trail:
    left, right, accumulator = call.get(0, "input"), call.get(1, "other"), call.get(2, "acc")
    _word(follower, call, "input_precision", "tf32")
    place = (follower.function.module.path, call.node.lineno)
    follower.uses.dots.setdefault(place, []).append((left.loads, right.loads))
    integer = accumulator.nature is Nature.INTEGER or _nature_of(call.get(5, "out_dtype")) is Nature.INTEGER
    for operand in (left, right):
        follower.note(operand.whole, Evidence.SMALL_INTEGER if integer else Evidence.FLOAT, 1)
    nature = Nature.INTEGER if integer else Nature.FLOAT
    return combined((left, right), nature).but(factors=left.whole | right.whole)


def _where(follower: Follower, call: Call) -> Trail:
    condition = call.get(0, "condition")
    follower.is_number(condition, Evidence.BOOLEAN, 2)
    left, right = call.get(1, "x"), call.get(2, "y")
    chosen = joined((left, right))
    for one, other in ((left, right), (right, left)):
        if one.written:
            chosen = other
        if other.nature is Nature.FLOAT and one.whole and other.written and other.written[0] != 0:
            follower.note(one.whole, Evidence.FLOAT, 1)
    return chosen.but(direct=None)


def _first(follower: Follower, call: Call) -> Trail:
    """What keeps the elements of its first operand: reductions, shapes, hints."""
    for index, value in enumerate(call.positional[1:], 1):
        if value.parts is not None and index == 1:
            follower.is_tile(value)
    value = call.positional[0] if call.positional else next(iter(call.keywords.values()), NOTHING)
    return value.but(direct=None)


def _place(follower: Follower, call: Call) -> Trail:
    """Where in a block something is: no longer the block's data."""
    return INDEX


def _reduction(follower: Follower, call: Call) -> Trail:
    value = _first(follower, call)
    if "return_indices" in call.keywords:
        return value.but(parts=(value, INDEX))
    return value


def _split(follower: Follower, call: Call) -> Trail:
    value = _first(follower, call)
    return value.but(parts=(value, value))


def _either(follower: Follower, call: Call) -> Trail:
    values = [value for _, value in call.all if not value.written]
    chosen = joined(values)
    nature = next((value.nature for value in values if value.nature is not None), None)
    return chosen.but(nature=nature, direct=None, sums=chosen.sums if len(values) == 1 else ())


def _gather(follower: Follower, call: Call) -> Trail:
    follower.is_index(call.get(1, "index"))
    return _first(follower, call)


def _random(follower: Follower, call: Call) -> Trail:
    follower.is_number(call.get(0, "seed"), Evidence.INTEGER)
    follower.is_index(call.get(1, "offset"), 1)
    return Trail(nature=Nature.FLOAT)


def _random_integers(follower: Follower, call: Call) -> Trail:
    _random(follower, call)
    return INDEX.but(parts=(INDEX,) * 4 if _last_name(call.node) in ("philox", "randint4x") else None)


def _python_float(follower: Follower, call: Call) -> Trail:
    """`float("inf")`, or a cast."""
    return Trail(nature=Nature.FLOAT, written=(float("inf"),) if call.get(0, "x").written else ())


def _nothing(follower: Follower, call: Call) -> Trail:
    return NOTHING


def _table(operation: Operation, names: str) -> dict[str, Operation]:
    return dict.fromkeys(names.split(), operation)


INTRINSICS: dict[str, Operation] = {
    "load": _load,
    "store": _store,
    **_table(_atomic, "atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg atomic_cas"),
    **_table(_block_pointer, "make_block_ptr make_tensor_descriptor _experimental_make_tensor_descriptor"),
    "advance": _advance,
    **_table(_descriptor_load, "load_tensor_descriptor _experimental_descriptor_load"),
    **_table(_descriptor_store, "store_tensor_descriptor _experimental_descriptor_store"),
    **_table(_index, "cdiv program_id num_programs swizzle2d"),
    "arange": _arange,
    **_table(_shaped, "zeros full"),
    **_table(_cast, "cast to"),
    **_table(_range, "range static_range"),
    **_table(_float, "exp exp2 log log2 log10 log1p expm1 sqrt sqrt_rn rsqrt sin cos tan tanh sinh cosh erf erfc"),
    **_table(_float, "sigmoid softmax floor ceil fast_expf fast_logf fast_log2f fast_tanhf fast_dividef div_rn fdiv"),
    **_table(_float, "asin acos atan atan2 pow powf isnan isinf isfinited finitef round rint trunc llrint nearbyint"),
    "fma": _either,
    **_table(_dot, "dot dot_scaled"),
    "where": _where,
    **_table(_first, "abs reshape view broadcast_to expand_dims trans permute ravel flip multiple_of max_contiguous"),
    **_table(_first, "max_constancy assume debug_barrier sum cumsum cumprod sort reduce associative_scan xor_sum"),
    **_table(_first, "zeros_like"),
    **_table(_place, "argmax argmin"),
    **_table(_reduction, "max min"),
    "split": _split,
    **_table(_either, "maximum minimum clamp join cat interleave broadcast"),
    "gather": _gather,
    **_table(_random, "rand randn"),
    **_table(_random_integers, "randint philox randint4x"),
    "float": _python_float,
    **_table(_index, "int len"),
    **_table(_nothing, "device_print device_assert static_print static_assert print"),
}

METHODS: dict[str, Operation] = {
    "load": _descriptor_load,
    "store": _descriptor_store,
    "T": _first,
    "item": _first,
}
