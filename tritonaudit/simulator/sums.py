"""Reductions in the order in which a GPU's threads combine elements.

A thread combines the elements that it holds, in the order of its registers: one after the other up to Triton 3.6, by
pairs of neighbours from 3.7 on. Then the lanes of a warp do so in halves: each with the one that is half of them away,
then a quarter, and so on; then the warps likewise, through shared memory. Where a thread adds products, its sums take
them in without a rounding, the left one of two; a lane that holds one product takes in its own. All of that is read in
the PTX of Triton 3.2 to 3.9 for sm_90; launches of Triton's tests, TritonBench's and Liger's kernels on an H100 agree
bit by bit (`bench/fidelity`).

Where the layout of the threads is not known or not understood, the order is that of `reductions`.

Lanes that take in their own products come to sums that differ in the last bit; here all have the first lane's. What
follows may have another's: each lane goes on with its own, and where all of them put theirs into the same place of
shared memory, on an H100 the last one's was seen to stay. Along an axis of one element nothing is added, and a sum
behind such a reduction takes in no product here, while Triton's may.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import torch

from tritonaudit.compile.installed import triton_version
from tritonaudit.simulator.contraction import Contraction, plan_of
from tritonaudit.simulator.fused import moved
from tritonaudit.simulator.ir import Module, Operation
from tritonaudit.simulator.laid_out import axes_of
from tritonaudit.simulator.layouts import Axis
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.fma import fma
from tritonaudit.simulator.reductions import combined, only, reduced
from tritonaudit.simulator.sums_of_rounds import IN_THREADS, Within
from tritonaudit.simulator.values import Value, mask_tensor

_SUM = "arith.addf"
_LAST_IN_TURN = (3, 6)
"""The last version of Triton in which a thread combines one element after the other."""


def handlers_of(module: Module, ttgir: str, known: Mapping[str, Handler], contracts: bool) -> Mapping[str, Handler]:
    """What executes the reductions of a module; `contracts`: sums take in products."""
    found: dict[str, Handler] = {}
    if "tt.reduce" in known and ttgir:
        products = plan_of(module).reduced if contracts else {}
        found["tt.reduce"] = partial(_reduce, known["tt.reduce"], axes_of(module, ttgir), products)
    return found


def _reduce(
    otherwise: Handler,
    axes: Mapping[tuple[str, int], Axis],
    products: Mapping[tuple[str, int], Contraction],
    machine: Machine,
    operation: Operation,
    frame: Frame,
) -> tuple[Value, ...]:
    key = (frame.function.name, operation.results[0])
    axis = axes.get(key)
    is_single = len(operation.operands) == 1
    if IN_THREADS in operation.attributes:
        return _in_threads(otherwise, products.get(key), machine, operation, frame)
    if axis is None or (is_single and only(operation.regions[0]) in _ANY_ORDER):
        return otherwise(machine, operation, frame)
    dimension = int(operation.attributes["axis"]) + 1
    places = torch.tensor(axis.places)
    combine = combination(machine, operation, frame)

    def computed(blocks: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        given = with_product(machine, frame, blocks, products.get(key))
        lines = [block.movedim(dimension, 0)[places] for block in given]
        return list(_by_threads(lines, axis, combine, len(blocks)))

    return reduced(operation, frame, computed)


def _in_threads(
    otherwise: Handler, product: Contraction | None, machine: Machine, operation: Operation, frame: Frame
) -> tuple[Value, ...]:
    """What each thread's own elements come to; in doubt where the sum of all is."""
    within: Within = operation.attributes[IN_THREADS]
    (whole,) = otherwise(machine, operation, frame)
    dimension = int(operation.attributes["axis"]) + 1
    size = frame.type(operation.operands[0]).shape[dimension - 1]
    block = frame.tensor(operation.operands[0])
    block = block.expand(*block.shape[:dimension], size, *block.shape[dimension + 1 :])
    given = with_product(machine, frame, [block], product)
    places = torch.tensor(within.held.places)
    lines = [one.movedim(dimension, 0)[places] for one in given]
    (found,) = _of_registers(lines, within.held, combination(machine, operation, frame))
    found = found[torch.tensor(within.left.places).argsort()].movedim(0, dimension)
    return (whole.shaped(lambda mask: mask_tensor(mask).unsqueeze(dimension), found),)


_OF_INTEGERS = ("addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
_SELECTING = ("maxnumf", "minnumf", "maximumf", "minimumf")
_ANY_ORDER = frozenset(f"arith.{name}" for name in (*_OF_INTEGERS, *_SELECTING))
"""These give the same in any order."""

Lines: TypeAlias = "Sequence[torch.Tensor]"
"""The operands, the elements to combine along their first axes; of a sum of products also two factors of each."""
Combine: TypeAlias = Callable[[Lines, Lines], Lines]


def with_product(
    machine: Machine, frame: Frame, blocks: Sequence[torch.Tensor], product: Contraction | None
) -> Sequence[torch.Tensor]:
    """Blocks, behind one of products their factors: where it holds something else, that and 1."""
    if product is None:
        return blocks
    (block,) = blocks
    left, right = (moved(machine, number, product.moves, frame).expand(block.shape) for number in product.factors)
    if product.is_negative:
        left = -left
    other = left * right
    differs = (block != other) & ~(block.isnan() & other.isnan())
    if bool(differs.any()):
        left, right = torch.where(differs, block, left), torch.where(differs, torch.ones_like(right), right)
    return [block, left, right]


def combination(machine: Machine, operation: Operation, frame: Frame) -> Combine:
    """What combines elements in the way of an operation's region; sums take in products, the left of two."""
    region = operation.regions[0]
    if len(operation.operands) == 1 and only(region) == _SUM:
        return _added
    return partial(combined, machine, region, frame)


def _added(left: Lines, right: Lines) -> Lines:
    if len(left) > 1:
        return [fma(left[1], left[2], right[0])]
    return [fma(right[1], right[2], left[0]) if len(right) > 1 else left[0] + right[0]]


def each_of(lines: Lines, axis: int, number: int) -> Lines:
    """The elements at a place along an axis."""
    return [one.select(axis, number) for one in lines]


def _by_threads(lines: Lines, axis: Axis, combine: Combine, operands: int) -> Lines:
    """All combined, which come by register, lane and warp; factors of products do not leave their warp."""
    by_warp = _in_halves(_split(_of_registers(lines, axis, combine), 1 << len(axis.lanes)), combine)
    return _in_halves(by_warp[:operands], combine)


def _of_registers(lines: Lines, axis: Axis, combine: Combine) -> Lines:
    by_register = _split(lines, 1 << len(axis.registers))
    return _in_turn(by_register, combine) if _is_in_turn() else _in_pairs(by_register, combine)


def _is_in_turn() -> bool:
    return tuple(int(part) for part in triton_version().split(".")[:2]) <= _LAST_IN_TURN


def _in_turn(lines: Lines, combine: Combine) -> Lines:
    found = [one[0] for one in lines]
    for number in range(1, lines[0].shape[0]):
        found = list(combine(found, [one[number] for one in lines]))
    return found


def _in_pairs(lines: Lines, combine: Combine) -> Lines:
    while lines[0].shape[0] > 1:
        lines = combine([one[::2] for one in lines], [one[1::2] for one in lines])
    return [one[0] for one in lines]


def _in_halves(lines: Lines, combine: Combine) -> Lines:
    """The first thread's result, whose own element is the left one of each two."""
    while (size := lines[0].shape[0]) > 1:
        lines = combine([one[: size // 2] for one in lines], [one[size // 2 :] for one in lines])
    return [one[0] for one in lines]


def _split(lines: Lines, count: int) -> Lines:
    """The first axis as two, the first of so many."""
    return [one.unflatten(0, (count, one.shape[0] // count)) for one in lines]
