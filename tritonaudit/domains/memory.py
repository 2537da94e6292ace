"""Loads, stores and atomics, by pointers, block pointers and descriptors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tritonaudit.domains.affine import LOADED, ZERO, Affine
from tritonaudit.domains.arguments import Argument, Arguments, Handler
from tritonaudit.domains.facts import Access
from tritonaudit.domains.value import (
    ALL_AXES,
    NONE,
    UNKNOWN,
    BlockPointer,
    Less,
    Padding,
    Shape,
    Value,
    broadcast,
)

if TYPE_CHECKING:
    from tritonaudit.domains.machine import Machine


def _load(machine: Machine, arguments: Arguments) -> Value:
    pointer = arguments.value(0, "pointer")
    mask = arguments.get(1, "mask")
    checked = _boundary_check(arguments)
    if pointer.block is not None:
        return _block_load(machine, arguments, pointer, checked)
    _note_access(machine, arguments, "load", pointer, mask, checked is not None)
    source = pointer.origin
    dtype = machine.flow.element_of(source.name) if source is not None else None
    condition = _condition(mask)
    return Value(
        shape=_loaded_shape(pointer, condition),
        dtype=dtype,
        affine=_loaded_affine(machine, arguments.node, pointer, condition),
        paddings=_load_paddings(machine, arguments, condition),
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
    loaded = machine.atoms.opaque(LOADED, (id(node), loops), inner, axes)
    if machine.recording:
        machine.flow.places.update(dict.fromkeys(loaded.atoms(), node))
    return loaded


def _load_paddings(machine: Machine, arguments: Arguments, mask: Value | None) -> tuple[Padding, ...]:
    if mask is None or not mask.mask:
        return ()
    other = arguments.get(2, "other")
    fill = 0.0 if other is None else other[0].const
    fill = machine.fills.get(id(arguments.node), fill)
    if not isinstance(fill, (bool, int, float)):
        return ()
    conditions = [c for c in mask.mask if isinstance(c, Less) and c.bounds()]
    node = arguments.node
    return tuple(Padding(c, float(fill), node, other is not None, base=node, place=node) for c in conditions)


def _murky_load(arguments: Arguments, mask: Value | None) -> frozenset[int]:
    """The axes along which masked-off lanes hold unknown values: an unknown mask, an `other` that is no number."""
    if mask is None:
        return frozenset()
    if mask.mask is None:
        return ALL_AXES
    other = arguments.get(2, "other")
    unknown = other is not None and not isinstance(other[0].const, (bool, int, float))
    return frozenset().union(*(c.axes() for c in mask.mask if unknown or not isinstance(c, Less)))


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
    dtype = machine.flow.element_of(block.parameter) if block.parameter else None
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
    if not machine.recording:
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
            stored=arguments.value(1, "value") if kind == "store" else None,
        )
    )


def _condition(mask: Argument | None) -> Value | None:
    """The mask that is given; `mask=None` is none."""
    return None if mask is None or mask[0].const is NONE else mask[0]


def _store(machine: Machine, arguments: Arguments) -> Value:
    pointer = arguments.value(0, "pointer")
    _note_access(machine, arguments, "store", pointer, arguments.get(2, "mask"), _boundary_check(arguments) is not None)
    return UNKNOWN


def _atomic(mask_index: int) -> Handler:
    def operation(machine: Machine, arguments: Arguments) -> Value:
        pointer = arguments.value(0, "pointer")
        _note_access(machine, arguments, "atomic", pointer, arguments.get(mask_index, "mask"), False)
        return Value(shape=pointer.shape)

    return operation


def _make_block_ptr(machine: Machine, arguments: Arguments) -> Value:
    base = arguments.value(0, "base")
    shape, strides, offsets, block = (
        _affines(arguments.value(index, name))
        for index, name in enumerate(("shape", "strides", "offsets", "block_shape"), start=1)
    )
    if block is None:
        return UNKNOWN
    parameter = base.origin.name if base.origin else None
    pointer = BlockPointer(parameter, shape or (), offsets or (), block, base=base.affine, strides=strides or ())
    return Value(block=pointer, dtype=machine.flow.element_of(base.origin.name) if base.origin else None)


def _affines(value: Value) -> tuple[Affine | None, ...] | None:
    return None if value.parts is None else tuple(part.affine for part in value.parts)


def _advance(machine: Machine, arguments: Arguments) -> Value:
    pointer, steps = arguments.value(0, "base"), _affines(arguments.value(1, "offsets"))
    block = pointer.block
    if block is None or steps is None or len(steps) != len(block.offsets):
        return UNKNOWN
    moved = tuple(None if a is None or b is None else a + b for a, b in zip(block.offsets, steps, strict=False))
    return pointer.but(block=replace(block, offsets=moved))


OPERATIONS: dict[str, Handler] = {
    "load": _load,
    "store": _store,
    **{f"atomic_{name}": _atomic(2) for name in ("add", "max", "min", "and", "or", "xor", "xchg")},
    "make_block_ptr": _make_block_ptr,
    "advance": _advance,
}
