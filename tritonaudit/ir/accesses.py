"""Loads, stores and atomics, of pointers, block pointers and descriptors."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonaudit.ir.arithmetic import broadcast_shapes, dtype_of, no_value, shape_of, written
from tritonaudit.ir.blocks import dimensions
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import (
    FLOATS,
    INTEGERS,
    POINTER,
    UNKNOWN,
    Argument,
    BlockPointer,
    Const,
    Descriptor,
    Shape,
    Tensor,
    Tuple,
    Value,
    as_tensor,
    text_of_type,
)

if TYPE_CHECKING:
    from tritonaudit.ir.bound import Bound
    from tritonaudit.ir.reader import Reader

_REMOVED = (3, 9)
"""The release without block pointers."""
_CHECKS_MASK = (3, 5)
"""The release from which a load does not take a number as its mask."""
_RANKS = (3, 5)
"""The release from which masks and values of a lower rank broadcast."""

_POLICIES = (3, 9)
"""The release that takes cache modifiers without their dot, too, and the names of what it does by itself."""

_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "cache_modifier": {"load": (".ca", ".cg", ".cs", ".cv"), "store": (".wb", ".cg", ".cs", ".wt")},
    "eviction_policy": dict.fromkeys(("load", "store"), ("evict_first", "evict_last")),
    "sem": {"atomic": ("acquire", "release", "acq_rel", "relaxed")},
    "scope": {"atomic": ("gpu", "cta", "sys")},
    "padding_option": {"load": ("zero", "nan")},
}
_LATER = {("load", ".cs"): (3, 8)}
_OWN = {"cache_modifier": "none", "eviction_policy": "evict_normal"}


_LOAD = frozenset(
    {"pointer", "mask", "other", "boundary_check", "padding_option", "cache_modifier", "eviction_policy", "volatile"}
)


def _load(reader: Reader, bound: Bound) -> Value:
    pointer = bound.value("pointer")
    _check_options(reader, bound, "load")
    if isinstance(pointer, BlockPointer):
        return _block_load(reader, bound, pointer)
    if not _is_pointer(reader, bound, "tl.load", pointer):
        return UNKNOWN
    if bound.given("other") and not bound.given("mask") and not bound.named.keys() - _LOAD:
        reader.mistake(MistakeKind.OTHER_WITHOUT_MASK, bound.node, other=ast.unparse(bound.node_of("other")))
    assert isinstance(pointer, Tensor)
    if (bound.given("boundary_check") or bound.given("padding_option")) and not pointer.free:
        reader.mistake(MistakeKind.BLOCK_POINTER, bound.node, "plain", until=_REMOVED)
    _check_mask(reader, bound)
    _check_other(reader, bound, pointer)
    shape = _accessed(reader, bound, pointer, ("mask", "other"), load=True)
    return Tensor(_loaded(reader, pointer.dtype), shape)


def _check_other(reader: Reader, bound: Bound, pointer: Tensor) -> None:
    """An infinity in the place of integers has no defined value; a pointer or a string is no value at all."""
    other, element = bound.value("other"), (pointer.dtype or POINTER)[1:]
    no_value(reader, other, bound.node_of("other"), "`other` of `tl.load`", none=True)
    if isinstance(other, Tensor) and other.is_pointer and element in (*FLOATS, *_NARROW):
        node = bound.node_of("other")
        reader.mistake(MistakeKind.CAST, node, "pointer as value", text=ast.unparse(node), dtype=element)
    number = other.value if isinstance(other, Const) else None
    if element in INTEGERS and isinstance(number, float) and not math.isfinite(number):
        node = bound.node_of("other")
        reader.mistake(MistakeKind.INTEGER_INFINITY, node, text=ast.unparse(node), dtype=element)


_NARROW = ("i8", "i16", "i32", "u8", "u16", "u32")


def _loaded(reader: Reader, dtype: str | None) -> str | None:
    if dtype is None or dtype == POINTER:
        return None
    if dtype == "*i1":
        early = reader.before((3, 2))
        return "i1" if early is False else "i8" if early else None
    return dtype[1:]


def _is_pointer(reader: Reader, bound: Bound, name: str, pointer: Value) -> bool:
    """Whether an access can be judged further; a mistake where what it is given is certainly no pointer."""
    if isinstance(pointer, Descriptor):
        reader.mistake(MistakeKind.DESCRIPTOR, bound.node, "plain access", name=name)
        return False
    if isinstance(pointer, Const) and (isinstance(pointer.value, (int, float)) or not pointer.known):
        node = bound.node_of("pointer")
        reader.mistake(MistakeKind.NOT_A_POINTER, node, name=name, text=ast.unparse(node), type=text_of_type(pointer))
        return False
    if no_value(reader, pointer, bound.node_of("pointer"), f"the pointer of `{name}`"):
        return False
    if isinstance(pointer, Tensor):
        if pointer.dtype is None or pointer.is_pointer:
            return True
        reader.mistake(
            MistakeKind.NOT_A_POINTER, bound.node_of("pointer"),
            name=name, text=ast.unparse(bound.node_of("pointer")), type=text_of_type(pointer),
        )  # fmt: skip
        return False
    return False


def _check_mask(reader: Reader, bound: Bound) -> None:
    mask = bound.value("mask")
    no_value(reader, mask, bound.node_of("mask"), f"the mask of `tl.{bound.name}`", none=True)
    if isinstance(mask, Const) and type(mask.value) in (int, float):
        node = bound.node_of("mask")
        loads_all = bound.name == "load" and type(mask.value) is int
        since = _CHECKS_MASK if loads_all else None
        reader.mistake(MistakeKind.MASK_DTYPE, node, since=since, text=ast.unparse(node), type=text_of_type(mask))
    dtype = dtype_of(mask) if isinstance(mask, Tensor) else None
    if isinstance(mask, Tensor) and (mask.is_pointer or (dtype in (*INTEGERS, *FLOATS) and dtype != "i1")):
        node = bound.node_of("mask")
        reader.mistake(MistakeKind.MASK_DTYPE, node, text=ast.unparse(node), type=text_of_type(mask))


def _accessed(reader: Reader, bound: Bound, pointer: Tensor, names: tuple[str, ...], load: bool) -> Shape | None:
    """The shape of an access; mistakes where mask or value do not fit the pointer."""
    shape = pointer.shape
    if shape is None:
        return None
    for name in names:
        value = as_tensor(bound.value(name)) if bound.given(name) else UNKNOWN
        other = shape_of(value)
        if not other:
            continue
        node = bound.node_of(name)
        words: dict[str, Any] = {"text": ast.unparse(node), "left": written(other), "right": written(shape)}
        if shape == ():
            reader.mistake(MistakeKind.BLOCK_FOR_SCALAR, node, name, access="load" if load else "store", **words)
            return None
        joint = broadcast_shapes(shape, other)
        grows = joint is not None and (len(joint) > len(shape) or _grows(shape, joint))
        if joint is None or (grows and not load):
            reader.mistake(
                MistakeKind.SHAPES, node, "access", text=ast.unparse(node), left=written(other), right=written(shape)
            )
            return None
        if len(other) != len(shape):
            reader.mistake(MistakeKind.RANKS, node, name, until=_RANKS, **words)
        elif grows:
            reader.mistake(MistakeKind.SHAPES, node, "access", until=_RANKS, text=ast.unparse(node),
                           left=written(other), right=written(shape))  # fmt: skip
        if grows:
            shape = joint
    return shape


def _grows(shape: Shape, joint: Shape) -> bool:
    return any(a == 1 and b not in (1, None) for a, b in zip(shape, joint, strict=True))


def _store(reader: Reader, bound: Bound) -> Value:
    pointer = bound.value("pointer")
    _check_options(reader, bound, "store")
    if isinstance(pointer, BlockPointer):
        _block_store(reader, bound, pointer)
        return UNKNOWN
    if not _is_pointer(reader, bound, "tl.store", pointer) or not isinstance(pointer, Tensor):
        return UNKNOWN
    _check_mask(reader, bound)
    _accessed(reader, bound, pointer, ("value", "mask"), load=False)
    _check_stored(reader, bound, pointer)
    return UNKNOWN


def _check_stored(reader: Reader, bound: Bound, pointer: Tensor) -> None:
    value = bound.value("value")
    no_value(reader, value, bound.node_of("value"), "what `tl.store` stores")
    if isinstance(value, Tensor) and value.is_pointer and pointer.dtype not in (None, POINTER, "*i64", "*u64"):
        reader.mistake(
            MistakeKind.CAST, bound.node_of("value"), "stored pointer", text=ast.unparse(bound.node_of("value"))
        )


def _check_options(reader: Reader, bound: Bound, access: str) -> None:
    for name, by_access in _OPTIONS.items():
        value = bound.value(name)
        allowed = by_access.get(access)
        if allowed is None or not isinstance(value, Const) or type(value.value) is not str or not value.value:
            continue
        until = _LATER.get((access, value.value))
        if value.value not in allowed:
            known = value.value == _OWN.get(name) or (name == "cache_modifier" and f".{value.value}" in allowed)
            until = _POLICIES if known or name == "padding_option" else None
        elif until is None:
            continue
        reader.mistake(
            MistakeKind.OPTION_VALUE, bound.node_of(name), name, until=until,
            value=value.value, name=name, allowed=", ".join(repr(one) for one in allowed if one != value.value),
        )  # fmt: skip


# -- atomics -----------------------------------------------------------------------------------------------------


def _atomic(reader: Reader, bound: Bound) -> Value:
    pointer = bound.value("pointer")
    _check_options(reader, bound, "atomic")
    if not _is_pointer(reader, bound, f"tl.{bound.name}", pointer) or not isinstance(pointer, Tensor):
        return UNKNOWN
    _check_mask(reader, bound)
    element = _loaded(reader, pointer.dtype)
    if bound.name == "atomic_cas":
        _check_exchange(reader, bound, pointer, element)
    else:
        _check_element(reader, bound, element)
        _accessed(reader, bound, pointer, ("val", "mask"), load=False)
    return Tensor(element, pointer.shape)


def _check_exchange(reader: Reader, bound: Bound, pointer: Tensor, element: str | None) -> None:
    """A compare-and-swap neither broadcasts nor casts what it compares and stores."""
    for name in ("cmp", "val"):
        value, node = bound.value(name), bound.node_of(name)
        if no_value(reader, value, node, f"`{name}` of `tl.atomic_cas`"):
            continue
        text, dtype = ast.unparse(node), dtype_of(value)
        if pointer.shape and shape_of(value) == ():
            reader.mistake(MistakeKind.SHAPES, node, "access", text=text, left="()", right=written(pointer.shape))
        if element is not None and dtype is not None and dtype != element:
            takes = f"values of the pointer's {element}"
            reader.mistake(MistakeKind.ARGUMENT_VALUE, node, name="tl.atomic_cas", takes=takes, text=text, given=dtype)
    if element in ("i8", "u8"):
        reader.mistake(MistakeKind.ATOMIC_DTYPE, bound.node, "never", name="tl.atomic_cas", dtype=element)


def _check_element(reader: Reader, bound: Bound, element: str | None) -> None:
    if element in ("i1", "i8", "i16", "u8", "u16"):
        reader.mistake(MistakeKind.ATOMIC_DTYPE, bound.node, "never", name=f"tl.{bound.name}", dtype=element)
    elif element == "bf16":
        until = (3, 4) if bound.name == "atomic_add" else None
        reader.mistake(
            MistakeKind.ATOMIC_DTYPE, bound.node, "bf16", until=until, name=f"tl.{bound.name}", dtype=element
        )
    elif element == "fp16" and bound.name != "atomic_add":
        reader.mistake(MistakeKind.ATOMIC_DTYPE, bound.node, "fp16", name=f"tl.{bound.name}", dtype=element)


# -- block pointers ----------------------------------------------------------------------------------------------


def _make_block_ptr(reader: Reader, bound: Bound) -> Value:
    base = bound.value("base")
    shape = dimensions(reader, bound.value("block_shape"), bound.node_of("block_shape"), "tl.make_block_ptr")
    order, rank = bound.value("order"), None if shape is None else len(shape)
    for name in ("order", "shape", "strides", "offsets"):
        given = order if name == "order" else bound.value(name)
        if isinstance(given, Tuple) and rank is not None and len(given.items) != rank:
            node = bound.node_of(name)
            reader.mistake(MistakeKind.BLOCK_POINTER, node, "order", until=_REMOVED, name=name, rank=rank)
    offsets = bound.value("offsets")
    if isinstance(offsets, Tuple):
        for item in offsets.items:
            if isinstance(item, Tensor) and item.dtype in ("i64", "u64"):
                reader.mistake(MistakeKind.BLOCK_POINTER, bound.node_of("offsets"), "offsets", until=(3, 8))
    return BlockPointer(base.dtype if isinstance(base, Tensor) else None, shape)


def _advance(reader: Reader, bound: Bound) -> Value:
    base = bound.value("base")
    return base if isinstance(base, BlockPointer) else UNKNOWN


def _block_load(reader: Reader, bound: Bound, pointer: BlockPointer) -> Value:
    if bound.given("mask") or bound.given("other"):
        reader.mistake(MistakeKind.BLOCK_POINTER, bound.node, "mask", until=_REMOVED)
    padding = bound.value("padding_option")
    check = bound.value("boundary_check")
    for item in check.items if isinstance(check, Tuple) and pointer.shape is not None else ():
        rank = len(pointer.shape or ())
        if isinstance(item, Const) and type(item.value) is int and not 0 <= item.value < rank:
            node = bound.node_of("boundary_check")
            reader.mistake(MistakeKind.AXIS, node, "rank", until=_REMOVED, axis=item.value, rank=rank, name="tl.load")
    empty = not bound.given("boundary_check") or check == Tuple((), True)
    if empty and isinstance(padding, Const) and padding.known and padding.value:
        reader.mistake(MistakeKind.BLOCK_POINTER, bound.node, "padding", until=_REMOVED)
    dtype = pointer.dtype[1:] if pointer.dtype and pointer.dtype != POINTER else None
    return Tensor(dtype, pointer.shape)


def _block_store(reader: Reader, bound: Bound, pointer: BlockPointer) -> None:
    if bound.given("mask"):
        reader.mistake(MistakeKind.BLOCK_POINTER, bound.node, "mask", until=_REMOVED)
    value, element = bound.value("value"), (pointer.dtype or POINTER)[1:]
    if isinstance(value, Tensor) and value.is_block and value.dtype and element and value.dtype != element:
        reader.mistake(
            MistakeKind.BLOCK_POINTER, bound.node_of("value"), "dtype", until=(3, 8),
            value=value.dtype, element=element, text=ast.unparse(bound.node_of("value")),
        )  # fmt: skip


# -- descriptors -------------------------------------------------------------------------------------------------

_BYTES = {"i1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
          "fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8}  # fmt: skip


def _make_descriptor(reader: Reader, bound: Bound) -> Value:
    base = bound.value("base")
    block = bound.value("block_shape")
    shape = dimensions(reader, block, bound.node_of("block_shape"), f"tl.{bound.name}")
    if isinstance(block, Const) and type(block.value) is tuple:
        reader.mistake(MistakeKind.DESCRIPTOR, bound.node_of("block_shape"), "constant shape", until=(3, 8))
    _check_axes(reader, bound, shape)
    dtype = base.dtype[1:] if isinstance(base, Tensor) and base.dtype and base.dtype != POINTER else None
    strides = bound.value("strides")
    if isinstance(strides, Tuple) and strides.items:
        last = strides.items[-1]
        is_one = isinstance(last, Const) and (not last.known or last.value == 1)
        free = isinstance(last, Tensor) and last.free
        if not is_one and not free and last != UNKNOWN:
            reader.mistake(MistakeKind.DESCRIPTOR, bound.node_of("strides"), "stride", text=_last_text(bound))
    if shape and shape[-1] is not None and dtype is not None:
        size = shape[-1] * (1 if dtype.startswith("fp8") else _BYTES.get(dtype, 16))
        if size < 16:
            reader.mistake(MistakeKind.DESCRIPTOR, bound.node, "narrow", size=size, dtype=dtype, last=shape[-1])
    return Descriptor(dtype, shape)


def _check_axes(reader: Reader, bound: Bound, shape: Shape | None) -> None:
    """One to five axes, as many of each kind."""
    counts = {name: len(value.items) for name in ("shape", "strides") if isinstance(value := bound.value(name), Tuple)}
    if shape is not None:
        counts["block_shape"] = len(shape)
    given = next((count for count in counts.values() if not 1 <= count <= 5), None)
    if given is not None:
        reader.mistake(MistakeKind.DESCRIPTOR, bound.node, "axes", given=given)
    elif len(set(counts.values())) > 1:
        text = ", ".join(f"{count} in `{name}`" for name, count in counts.items())
        reader.mistake(MistakeKind.DESCRIPTOR, bound.node, "axes differ", text=text)


def _last_text(bound: Bound) -> str:
    node = bound.node_of("strides")
    return ast.unparse(node.elts[-1] if isinstance(node, (ast.Tuple, ast.List)) and node.elts else node)


def descriptor_method(
    reader: Reader,
    node: ast.Call,
    descriptor: Descriptor,
    name: str,
    positional: list[Argument],
    keywords: dict[str, Argument],
) -> Value:
    """`desc.load(offsets)`, `desc.store(offsets, value)`."""
    if name in ("load", "store"):
        for keyword in ("mask", "other"):
            if keyword in keywords:
                reader.mistake(MistakeKind.DESCRIPTOR, node, "keyword", keyword=keyword, name=name)
        offsets = positional[0] if positional else keywords.get("offsets")
        if offsets is not None:
            _check_offsets(reader, descriptor, *offsets)
        value = positional[1] if len(positional) > 1 else keywords.get("value")
        if name == "store" and value is not None:
            _check_described(reader, descriptor, *value)
    return Tensor(descriptor.dtype, descriptor.shape) if name == "load" else UNKNOWN


def _check_described(reader: Reader, descriptor: Descriptor, value: Value, node: ast.expr) -> None:
    """What is stored must have the block's shape; one release does not cast it."""
    if no_value(reader, value, node, "what a descriptor stores"):
        return
    shape = shape_of(value)
    if shape is not None and descriptor.shape is not None and not (isinstance(value, Tensor) and value.free):
        same = len(shape) == len(descriptor.shape) and None not in (shape, descriptor.shape)
        pairs = zip(shape, descriptor.shape, strict=True) if same else ()
        if not same or any(a is not None and b is not None and a != b for a, b in pairs):
            words: dict[str, Any] = {"left": written(shape), "right": written(descriptor.shape)}
            reader.mistake(MistakeKind.DESCRIPTOR, node, "shape", text=ast.unparse(node), **words)
    if isinstance(value, Tensor) and None not in (value.dtype, descriptor.dtype) and value.dtype != descriptor.dtype:
        types: dict[str, Any] = {"value": str(value.dtype), "element": str(descriptor.dtype)}
        reader.mistake(MistakeKind.DESCRIPTOR, node, "dtype", until=(3, 5), text=ast.unparse(node), **types)


def _check_offsets(reader: Reader, descriptor: Descriptor, value: Value, node: ast.expr) -> None:
    if isinstance(value, Tensor) and not value.free:
        reader.mistake(MistakeKind.DESCRIPTOR, node, "no offsets", text=ast.unparse(node), type=text_of_type(value))
    if not isinstance(value, Tuple):
        return
    if descriptor.shape is not None and len(value.items) != len(descriptor.shape):
        reader.mistake(MistakeKind.DESCRIPTOR, node, "number", given=len(value.items), rank=len(descriptor.shape))
    for item in value.items:
        if isinstance(item, Tensor) and item.dtype in ("i64", "u64"):
            reader.mistake(MistakeKind.DESCRIPTOR, node, "offsets", text=ast.unparse(node))


def _load_descriptor(reader: Reader, bound: Bound) -> Value:
    descriptor = bound.first()
    return Tensor(descriptor.dtype, descriptor.shape) if isinstance(descriptor, Descriptor) else UNKNOWN


OPERATIONS: dict[str, Callable[[Reader, Bound], Value]] = {
    "load": _load,
    "store": _store,
    "make_block_ptr": _make_block_ptr,
    "advance": _advance,
    "make_tensor_descriptor": _make_descriptor,
    "_experimental_make_tensor_descriptor": _make_descriptor,
    "load_tensor_descriptor": _load_descriptor,
    **{f"atomic_{name}": _atomic for name in ("add", "max", "min", "and", "or", "xor", "xchg", "cas")},
}
