"""Reductions and scans along an axis, by the operations of their region or in one call where that gives the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import torch

from tritonaudit.simulator.ir import Operation, Region
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.values import Doubt, Value, joined, mask_tensor

_Whole = Callable[[torch.Tensor, int], torch.Tensor]

Computed: TypeAlias = Callable[[Sequence[torch.Tensor]], "list[torch.Tensor]"]
"""What comes of blocks, of shape (programs, *sizes) each."""


def _reduce(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    axis = int(operation.attributes["axis"]) + 1
    region = operation.regions[0]

    def computed(blocks: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        name = only(region) if len(blocks) == 1 else ""
        whole = _WHOLE.get(name)
        if whole is not None and (blocks[0].dtype in _EXACT_OR_SINGLE or name in _SELECTING):
            return [whole(blocks[0], axis).to(blocks[0].dtype)]
        return _tree(machine, region, frame, [block.movedim(axis, 0) for block in blocks])

    return reduced(operation, frame, computed)


def reduced(operation: Operation, frame: Frame, computed: Computed) -> tuple[Value, ...]:
    """What a reduction gives that is computed so, and what of that is in doubt."""
    axis = int(operation.attributes["axis"]) + 1
    region = operation.regions[0]
    blocks = _operands(operation, frame, axis)
    results = computed(blocks)
    doubt = _doubt(operation, frame, lambda sound: sound.all(axis))
    if doubt is not None and doubt.is_masked:
        left_out = _left_out(operation, frame, blocks)
        weighs = _weighs(only(region), blocks, left_out, results, computed, axis) & ~mask_tensor(doubt.sound)
        if only(region) not in _SUMS:
            weighs = weighs & ~torch.stack(left_out).any(0).all(axis)
        doubt = Doubt(~weighs, doubt.origin) if bool(weighs.any()) else None
    return tuple(Value(result, doubt) for result in results)


_SUMS = frozenset(("arith.addf", "arith.addi"))
"""These add up over many blocks: one that is left out as a whole counts where it adds something."""


def _left_out(operation: Operation, frame: Frame, blocks: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Of each operand the elements that masks left out."""
    found = []
    for number, block in zip(operation.operands, blocks, strict=True):
        doubt = frame[number].undefined
        sound = torch.ones(1, dtype=torch.bool) if doubt is None else mask_tensor(doubt.sound)
        found.append(torch.broadcast_to(~sound, block.shape))
    return found


def _weighs(
    name: str,
    blocks: Sequence[torch.Tensor],
    left_out: Sequence[torch.Tensor],
    results: Sequence[torch.Tensor],
    computed: Computed,
    axis: int,
) -> torch.Tensor:
    """Where it counts what masks left out, which takes part as 0 or as what was computed of that.

    It counts where the neutral element in its place gives another result. Of a region that is not known to have one, it
    counts where each of some other elements does.
    """
    weighs = torch.ones_like(results[0], dtype=torch.bool)
    for fill in [_NEUTRAL[name]] if name in _NEUTRAL else [_least, _most, _one]:
        same = torch.ones_like(weighs)
        filled = [torch.where(out, fill(block.dtype), block) for out, block in zip(left_out, blocks, strict=True)]
        for other, result in zip(computed(filled), results, strict=True):
            same &= (other == result) | ((other != other) & (result != result))
        if name not in _NEUTRAL:
            tried = torch.stack([one != block for one, block in zip(filled, blocks, strict=True)]).any(0)
            same &= tried.any(axis, keepdim=same.dim() == tried.dim())
        weighs &= ~same
    return weighs


def _least(dtype: torch.dtype) -> torch.Tensor:
    number = float("-inf") if dtype.is_floating_point else 0 if dtype == torch.bool else torch.iinfo(dtype).min
    return torch.tensor(number, dtype=dtype)


def _most(dtype: torch.dtype) -> torch.Tensor:
    number = float("inf") if dtype.is_floating_point else 1 if dtype == torch.bool else torch.iinfo(dtype).max
    return torch.tensor(number, dtype=dtype)


def _zero(dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros((), dtype=dtype)


def _one(dtype: torch.dtype) -> torch.Tensor:
    return torch.ones((), dtype=dtype)


def _all_bits(dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor(-1).to(dtype)


_NEUTRAL: dict[str, Callable[[torch.dtype], torch.Tensor]] = {
    **dict.fromkeys(("arith.addf", "arith.addi", "arith.ori", "arith.xori", "arith.maxui"), _zero),
    **dict.fromkeys(("arith.mulf", "arith.muli"), _one),
    **dict.fromkeys(("arith.andi", "arith.minui"), _all_bits),
    **dict.fromkeys(("arith.maxnumf", "arith.maximumf", "arith.maxsi"), _least),
    **dict.fromkeys(("arith.minnumf", "arith.minimumf", "arith.minsi"), _most),
}
"""What changes nothing."""


def _scan(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    axis = int(operation.attributes["axis"]) + 1
    region = operation.regions[0]

    def computed(blocks: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        whole = _RUNNING.get(only(region)) if len(blocks) == 1 else None
        if whole is not None and blocks[0].dtype in _EXACT_OR_SINGLE:
            return [whole(blocks[0], axis).to(blocks[0].dtype)]
        lines = _running(machine, region, frame, [block.movedim(axis, 0) for block in blocks])
        return [line.movedim(0, axis) for line in lines]

    return scanned(operation, frame, computed)


def scanned(operation: Operation, frame: Frame, computed: Computed) -> tuple[Value, ...]:
    """What a scan gives whose elements are computed so, in their order, and what of that is in doubt."""
    axis = int(operation.attributes["axis"]) + 1
    is_reverse = bool(operation.attributes.get("reverse"))
    turn: Callable[[torch.Tensor], torch.Tensor] = lambda one: one.flip(axis) if is_reverse else one  # noqa: E731
    region = operation.regions[0]

    def turned(blocks: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return [turn(one) for one in computed([turn(block) for block in blocks])]

    blocks = _operands(operation, frame, axis)
    results = turned(blocks)
    doubt = _doubt(operation, frame, lambda sound: turn(turn(sound).to(torch.uint8).cummin(axis).values.bool()))
    if doubt is not None and doubt.is_masked:
        left_out = _left_out(operation, frame, blocks)
        own = torch.stack(left_out).any(0)
        weighs = _weighs(only(region), blocks, left_out, results, turned, axis) & ~mask_tensor(doubt.sound) & ~own
        doubt = Doubt(~weighs, doubt.origin) if bool(weighs.any()) else replace(doubt, sound=~own)
    return tuple(Value(result, doubt) for result in results)


def _operands(operation: Operation, frame: Frame, axis: int) -> list[torch.Tensor]:
    """The operands with all programs and all of the axis that any of them has."""
    tensors = [frame.tensor(number) for number in operation.operands]
    type = frame.type(operation.operands[0])
    shape = tensors[0].shape if len(tensors) == 1 else torch.broadcast_shapes(*(tensor.shape for tensor in tensors))
    if shape[axis] < type.shape[axis - 1]:
        shape = torch.Size((*shape[:axis], type.shape[axis - 1], *shape[axis + 1 :]))
    return [tensor if tensor.shape == shape else tensor.expand(shape) for tensor in tensors]


def _doubt(operation: Operation, frame: Frame, along: Callable[[torch.Tensor], torch.Tensor]) -> Doubt | None:
    """What is computed of an undefined element is undefined."""
    found = [frame[number].undefined for number in operation.operands]
    doubts = [doubt for doubt in found if doubt is not None]
    if not doubts:
        return None
    shape = frame.type(operation.operands[0]).shape
    masks = [mask_tensor(doubt.sound) for doubt in doubts]
    sound = along(torch.stack(torch.broadcast_tensors(*(mask.expand(mask.shape[0], *shape) for mask in masks))).all(0))
    worst = joined(doubts)
    return None if bool(sound.all()) or worst is None else replace(worst, sound=sound)


# -- by the operations of the region -----------------------------------------------------------------------------------


def combined(
    machine: Machine, region: Region, frame: Frame, left: Sequence[torch.Tensor], right: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """What the region makes of two lists of elements."""
    block = region.block
    inner = Frame(frame.function, frame.programs, {}, frame, torch.arange(len(frame.programs)), has_lanes=True)
    inner.set(block.arguments, [Value(one) for one in (*left, *right)])
    shape = left[0].shape
    for operation in block.operations[:-1]:
        machine.execute(operation, inner)
    last = block.operations[-1]
    return [inner.tensor(number).expand(shape) for number in last.operands]


def _tree(machine: Machine, region: Region, frame: Frame, lines: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Neighbours are combined until one is left; the axis comes first."""
    while (size := lines[0].shape[0]) > 1:
        half = size // 2
        left, right = [line[: 2 * half : 2] for line in lines], [line[1 : 2 * half : 2] for line in lines]
        found = combined(machine, region, frame, left, right)
        odd = [line[2 * half :] for line in lines]
        lines = [torch.cat([one, rest]) if len(rest) else one for one, rest in zip(found, odd, strict=True)]
    return [line[0] for line in lines]


def _running(machine: Machine, region: Region, frame: Frame, lines: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Each element with all before it, in steps of 1, 2, 4 … elements."""
    found = [line.clone() for line in lines]
    step = 1
    while step < found[0].shape[0]:
        sums = combined(machine, region, frame, [one[:-step] for one in found], [one[step:] for one in found])
        found = [torch.cat([one[:step], total]) for one, total in zip(found, sums, strict=True)]
        step *= 2
    return found


# -- in one call -------------------------------------------------------------------------------------------------------

_INTEGERS = (torch.bool, torch.int8, torch.int16, torch.int32, torch.int64)
_EXACT_OR_SINGLE = frozenset((*_INTEGERS, torch.float32, torch.float64))
_SELECTING = frozenset(("arith.maximumf", "arith.minimumf"))


def only(region: Region) -> str:
    """The one operation of a region that combines its two arguments, in whichever order."""
    *operations, last = region.block.operations
    if len(operations) != 1 or last.operands != operations[0].results:
        return ""
    takes_both = sorted(operations[0].operands) == sorted(region.block.arguments)
    return operations[0].name if takes_both else ""


def _fmax(block: torch.Tensor, axis: int) -> torch.Tensor:
    """The greatest that is a number, if any is."""
    return torch.where(block.isnan(), -torch.inf, block).amax(axis).where(~block.isnan().all(axis), torch.nan)


def _fmin(block: torch.Tensor, axis: int) -> torch.Tensor:
    return torch.where(block.isnan(), torch.inf, block).amin(axis).where(~block.isnan().all(axis), torch.nan)


def _number_max(block: torch.Tensor, axis: int) -> torch.Tensor:
    found = block.amax(axis)
    return _fmax(block, axis) if bool(found.isnan().any()) else found


def _number_min(block: torch.Tensor, axis: int) -> torch.Tensor:
    found = block.amin(axis)
    return _fmin(block, axis) if bool(found.isnan().any()) else found


def _sum(block: torch.Tensor, axis: int) -> torch.Tensor:
    if block.dtype.is_floating_point:
        block = block.contiguous()  # torch adds up in an order that hangs on the strides
    return block.any(axis) if block.dtype is torch.bool else block.sum(axis, dtype=block.dtype)


_WHOLE: dict[str, _Whole] = {
    "arith.addf": _sum,
    "arith.addi": lambda block, axis: (block.sum(axis) % 2 == 1) if block.dtype is torch.bool else _sum(block, axis),
    "arith.maxnumf": _number_max,
    "arith.minnumf": _number_min,
    "arith.maximumf": lambda block, axis: block.amax(axis),
    "arith.minimumf": lambda block, axis: block.amin(axis),
    "arith.maxsi": lambda block, axis: block.amax(axis),
    "arith.minsi": lambda block, axis: block.amin(axis),
}
"""Reductions by one operation, on a block and an axis; sums of half precision are rounded at each step instead."""

_RUNNING: dict[str, _Whole] = {
    "arith.addf": lambda block, axis: block.cumsum(axis),
    "arith.addi": lambda block, axis: block.cumsum(axis, dtype=block.dtype),
    "arith.maxsi": lambda block, axis: block.cummax(axis).values,
    "arith.minsi": lambda block, axis: block.cummin(axis).values,
}


def _histogram(_: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """How many elements of a block equal each of 0, 1, 2, …"""
    source = operation.operands[0]
    bins = frame.result(operation).shape[0]
    block = frame.tensor(source)
    block = block.expand(block.shape[0], *frame.type(source).shape).to(torch.int64)
    counted = (block >= 0) & (block < bins)
    if len(operation.operands) > 1:
        counted = counted & frame.tensor(operation.operands[1])
        block = block.expand(counted.shape)
    found = torch.zeros(counted.shape[0], bins, dtype=torch.int64)
    found.scatter_add_(1, torch.where(counted, block, 0), counted.to(torch.int64))
    doubt = _doubt(operation, frame, lambda sound: sound.all(1, keepdim=True))
    return (Value(found.to(dtype_of(frame.result(operation))), doubt),)


HANDLERS: dict[str, Handler] = {"tt.reduce": _reduce, "tt.scan": _scan, "tt.histogram": _histogram}
