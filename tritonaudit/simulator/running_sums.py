"""Scans in the order in which a GPU's threads combine elements.

A thread holds neighbours, and combines each with those before it. The lanes of a warp combine what theirs come to with
that of the lane 1, 2, 4 … before them. What warps come to is combined one after the other, through all the block, and
goes to the last element of each lane; that goes to the other elements of the lane behind it. Where a thread adds up
products, its sums take them in without a rounding: of its first two the second one where the first is a result, too.
All of that is read in the PTX of Triton 3.3 to 3.9 for sm_90.

Where the layout of the threads is not known or is another, the order is that of `reductions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch

from tritonaudit.simulator.contraction import Contraction, plan_of
from tritonaudit.simulator.ir import Module, Operation
from tritonaudit.simulator.laid_out import axes_of
from tritonaudit.simulator.layouts import Axis
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.reductions import scanned
from tritonaudit.simulator.sums import Combine, Lines, combination, each_of, with_product
from tritonaudit.simulator.values import Value


def handlers_of(module: Module, ttgir: str, known: Mapping[str, Handler], contracts: bool) -> Mapping[str, Handler]:
    """What executes the scans of a module; `contracts`: sums take in products."""
    if "tt.scan" not in known or not ttgir:
        return {}
    products = plan_of(module).reduced if contracts else {}
    axes = {key: axis for key, axis in axes_of(module, ttgir).items() if _is_covered(axis)}
    return {"tt.scan": partial(_scan, known["tt.scan"], axes, products)}


def _is_covered(axis: Axis) -> bool:
    """Whether neighbours lie in a thread, then come lanes, then warps, and what is left is in the threads again."""
    held = _held(axis)
    order = (*axis.registers[:held], *axis.lanes, *axis.warps, *axis.registers[held:])
    return order == tuple(range(len(order)))


def _held(axis: Axis) -> int:
    """How many bits count neighbours in a thread."""
    return next((place for place, bit in enumerate(axis.registers) if bit != place), len(axis.registers))


def _scan(
    otherwise: Handler,
    axes: Mapping[tuple[str, int], Axis],
    products: Mapping[tuple[str, int], Contraction],
    machine: Machine,
    operation: Operation,
    frame: Frame,
) -> tuple[Value, ...]:
    key = (frame.function.name, operation.results[0])
    axis, product = axes.get(key), products.get(key)
    if axis is None:
        return otherwise(machine, operation, frame)
    if operation.attributes.get("reverse"):
        product = None  # it is turned round among the lanes first
    held, lanes, warps = 1 << _held(axis), 1 << len(axis.lanes), 1 << len(axis.warps)
    dimension = int(operation.attributes["axis"]) + 1
    combine = combination(machine, operation, frame)

    def computed(blocks: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        given = with_product(machine, frame, blocks, product)
        lines = [block.movedim(dimension, 0).unflatten(0, (-1, lanes, held)) for block in given]
        return [one.flatten(0, 1).movedim(0, dimension) for one in _by_threads(lines, warps, combine, len(blocks))]

    return scanned(operation, frame, computed)


def _by_threads(lines: Lines, warps: int, combine: Combine, operands: int) -> Lines:
    """Each with all before it: the operands' elements by warp, by lane and by their number in the thread."""
    own = [each_of(lines, 2, 0)]
    for number in range(1, lines[0].shape[2]):
        these = each_of(lines, 2, number)
        own.append(_first_two(own[-1], these, warps, combine, operands) if number == 1 else combine(own[-1], these))
    last = _through_warps(_through_lanes(own[-1], combine, operands), combine, operands)
    last = [one.flatten(0, 1) for one in last]
    found = [last]
    for these in reversed(own[:-1]):
        flat = [one.flatten(0, 1) for one in these]
        found.append(_behind(flat[:operands], 1, combine([one[:-1] for one in last], [one[1:] for one in flat])))
    return [torch.stack(each, 1) for each in zip(*reversed(found), strict=True)]


def _first_two(left: Lines, right: Lines, warps: int, combine: Combine, operands: int) -> Lines:
    """What comes to the warps of the block's first part has the left one, which is a product, as a result, too."""
    return _behind(combine(left[:operands], right), warps, [one[warps:] for one in combine(left, right)])


def _through_lanes(lines: Lines, combine: Combine, operands: int) -> Lines:
    """Along the second axis, in steps that double."""
    step, across = 1, [one.transpose(0, 1) for one in lines]
    while step < across[0].shape[0]:
        before = across[:operands]
        sums = combine([one[:-step] for one in before], [one[step:] for one in across])
        across, step = _behind(before, step, sums), step * 2
    return [one.transpose(0, 1) for one in across]


def _through_warps(lines: Lines, combine: Combine, operands: int) -> Lines:
    """Along the first axis: what comes to a warp is what the last lanes before it come to, one after the other."""
    found = [each_of(lines[:operands], 0, 0)]
    for warp in range(1, lines[0].shape[0]):
        these = each_of(lines, 0, warp)
        before = [one[-1:].expand_as(each) for one, each in zip(found[-1], these, strict=False)]
        found.append(combine(before, these))
    return [torch.stack(each) for each in zip(*found, strict=True)]


def _behind(lines: Lines, count: int, rest: Lines) -> list[torch.Tensor]:
    """The first so many along the first axis, and others in place of the rest."""
    return [torch.cat([one[:count], other]) for one, other in zip(lines, rest, strict=True)]
