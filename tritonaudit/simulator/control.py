"""Control flow: each program goes its own way, and those on the same way are executed together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod

import torch

from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.ir import Block, Function, Operation, Region, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.programs import Programs
from tritonaudit.simulator.slices import may_wait
from tritonaudit.simulator.values import Doubt, Value, is_same, joined, mask_tensor, merged, unknown

_MOST_TRIPS = 1 << 24
_MOST_FOLLOWED = 1 << 10
"""Rounds of a loop without a counter, where accesses alone matter."""


@dataclass(frozen=True, eq=False)
class _Group:
    """Programs, by their places in a frame, and values that they have."""

    places: torch.Tensor
    values: tuple[Value, ...]

    def take(self, index: torch.Tensor) -> _Group:
        return _Group(self.places[index], tuple(value.take(index) for value in self.values))


def call(machine: Machine, function: Function, programs: Programs, arguments: Sequence[Value]) -> tuple[Value, ...]:
    """Execute a function for the programs, and give what it returns. Raises NotSimulated."""
    frame = Frame(function, programs, dict(zip(function.arguments, arguments, strict=True)))
    return _region(machine, function.region, frame)


def _region(machine: Machine, region: Region, frame: Frame) -> tuple[Value, ...]:
    """Execute a region whose blocks may be connected by branches, and give what it returns."""
    return machine.block(region.block, frame) if len(region.blocks) == 1 else _graph(machine, region.blocks, frame)


def _call(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    function = machine.module.function(operation.attributes["callee"])
    return call(machine, function, frame.programs, frame.operands(operation))


def _map_elementwise(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """A function of scalars for every lane, or every few in a row: each is executed as if it were a program.

    Which lanes the compiler packs depends on what a thread has; those in a row are what a function may count on.
    """
    shape = frame.type(operation.operands[0]).shape
    tensors = [frame.tensor(number) for number in operation.operands]
    count = max(tensor.shape[0] for tensor in tensors)
    pack = int(operation.attributes.get("pack", 1))
    lanes = prod(shape) // pack
    places = torch.arange(count).repeat_interleave(lanes)
    inner = frame.subset(places)
    region = operation.regions[0]
    packs = [one.expand(count, *shape).reshape(-1, pack) for one in tensors]
    inner.set(region.blocks[0].arguments, [Value(one) for each in packs for one in each.unbind(1)])
    doubt = joined(frame[number].undefined for number in operation.operands)
    found = iter(_region(machine, region, inner))
    results = []
    for number in operation.results:
        type = frame.type(number).scalar
        parts = [next(found).tensor(type).expand(count * lanes) for _ in range(pack)]
        results.append(Value(torch.stack(parts, 1).reshape(count, *shape), doubt))
    return tuple(results)


# -- structured ------------------------------------------------------------------------------------------------------


def _if(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """Each region for the programs that take it."""
    known = _known(machine, operation, frame, [frame[operation.operands[0]]])
    if known is not None:
        return _partly(machine, operation, frame, known, _if)
    taken = machine.condition(frame[operation.operands[0]], frame, operation)
    if taken.stride(0) == 0 or len(taken) == 1:  # one truth for all
        return _branch(machine, operation, frame, bool(taken[0]))
    groups: list[_Group] = []
    for region, places in zip(operation.regions, _ways(taken), strict=False):
        if len(places) == len(taken):
            return machine.block(region.block, frame)
        if len(places):
            groups.append(_Group(places, machine.block(region.block, frame.subset(places))))
    return _united(groups, [frame.type(result) for result in operation.results], len(taken))


def _branch(machine: Machine, operation: Operation, frame: Frame, holds: bool) -> tuple[Value, ...]:
    """The one region that all programs take; none where there is no other branch."""
    region = operation.regions[0 if holds else 1] if holds or len(operation.regions) > 1 else None
    return machine.block(region.block, frame) if region is not None and region.blocks else ()


def _ways(holds: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The places of the programs for which it holds, and of the others."""
    return holds.nonzero().flatten(), (~holds).nonzero().flatten()


def _for(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """Every program its own number of rounds, together as long as they last."""
    known = _known(machine, operation, frame, frame.operands(operation)[:3])
    if known is not None:
        return _partly(machine, operation, frame, known, _for)
    start, stop, step = (number_of(machine, frame, operation, operand) for operand in operation.operands[:3])
    is_unsigned = bool(operation.attributes.get("unsignedCmp"))
    rounds = rounds_of(start, stop, step, len(frame.programs))
    least, last = (rounds, rounds) if isinstance(rounds, int) else map(int, torch.aminmax(rounds))
    if last > _MOST_TRIPS or (is_unsigned and min(start.low, stop.low) < 0):
        raise Unsupported(operation.name, f"a loop of {last:,} rounds")
    if isinstance(rounds, int):
        return _rounds(machine, operation, frame, (start.plus(step.times(number)) for number in range(rounds)))
    block = operation.regions[0].block
    group = _Group(torch.arange(len(frame.programs)), tuple(frame.operands(operation)[3:]))
    active = frame
    done: list[_Group] = []
    for number in range(last):
        if number == least:
            stay, leave = _ways(rounds > number)
            done.append(group.take(leave))
            group, rounds = group.take(stay), rounds[stay]
            start, step = start.take(stay), step.take(stay)
            least = int(rounds.amin())
            active = frame.subset(group.places)
        counter = step.product(Affine.uniform(number))
        assert counter is not None
        active.set(block.arguments, (Value(start.plus(counter)), *group.values))
        group = _Group(group.places, machine.block(block, active))
    return _united([*done, group], [frame.type(result) for result in operation.results], len(frame.programs))


def _rounds(machine: Machine, operation: Operation, frame: Frame, counters: Iterable[Affine]) -> tuple[Value, ...]:
    """Rounds that all programs go together."""
    block, values = operation.regions[0].block, tuple(frame.operands(operation)[3:])
    for counter in counters:
        frame.set(block.arguments, (Value(counter), *values))
        values = machine.block(block, frame)
    return values


def _while(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
    """As long as each program's condition holds."""
    before, after = (region.block for region in operation.regions)
    turns = machine.turns if may_wait(operation) else None
    group = _Group(torch.arange(len(frame.programs)), tuple(frame.operands(operation)))
    active = frame
    done: list[_Group] = []
    most = _MOST_FOLLOWED if machine.is_partial else _MOST_TRIPS
    for _ in range(most):
        start = group.values
        active.set(before.arguments, start)
        condition, *passed = machine.block(before, active)
        holds = machine.condition(condition, active, operation)
        known = _known(machine, operation, active, [condition])
        if known is not None:
            passed = [_known_for(known, value, operation) for value in passed]
            holds = holds & known
        group = _Group(group.places, tuple(passed))
        if not bool(holds.all()):
            stay, leave = _ways(holds)
            done.append(group.take(leave))
            group = group.take(stay)
            active = frame.subset(group.places)
        if not len(group.places):
            if turns is not None:
                turns.proceed()
            return _united(done, [frame.type(result) for result in operation.results], len(frame.programs))
        active.set(after.arguments, group.values)
        group = _Group(group.places, machine.block(after, active))
        if turns is not None:
            turns.wait(active.site(operation), is_stuck=all(map(is_same, start, group.values)))
    if most == _MOST_TRIPS:
        raise Unsupported(operation.name, f"a loop of more than {most:,} rounds")
    endless = torch.ones(len(group.places), dtype=torch.bool)
    machine.faults.add_lanes(Fault(FaultKind.LONG_LOOP, operation.location), endless, active.site(operation))
    types = [frame.type(result) for result in operation.results]
    lost = _Group(group.places, tuple(unknown(type, operation.location) for type in types))
    return _united([*done, lost], types, len(frame.programs))


def _known(machine: Machine, operation: Operation, frame: Frame, values: Sequence[Value]) -> torch.Tensor | None:
    """For which programs it is known where they go, if that depends on the values; None for all."""
    doubt = joined(value.undefined for value in values)
    if doubt is None or not doubt.is_unknown:
        return None
    known = mask_tensor(doubt.sound).reshape(-1).expand(len(frame.programs))
    fault = Fault(FaultKind.UNKNOWN_BRANCH, operation.location, origin=doubt.origin)
    machine.faults.add_lanes(fault, ~known, frame.site(operation))
    return None if bool(known.all()) else known


def _partly(
    machine: Machine, operation: Operation, frame: Frame, known: torch.Tensor, handler: Handler
) -> tuple[Value, ...]:
    """Execute an operation for some of the programs only; what the others get is not known."""
    types = [frame.type(result) for result in operation.results]
    lost = _Group((~known).nonzero().flatten(), tuple(unknown(type, operation.location) for type in types))
    places = known.nonzero().flatten()
    if not len(places):
        return lost.values
    reported = _Group(places, handler(machine, operation, frame.subset(places)))
    return _united([reported, lost], types, len(frame.programs))


def _known_for(programs: torch.Tensor, value: Value, operation: Operation) -> Value:
    """The value, as far as the programs are concerned."""
    data = value.data
    rank = data.dim() - 1 if isinstance(data, torch.Tensor) else len(data.shape)
    sound = programs.reshape(-1, *([1] * rank))
    doubt = Doubt(sound, operation.location, is_unknown=True)
    return replace(value, undefined=joined([value.undefined, doubt]))


def _united(groups: Sequence[_Group], types: Sequence[Type], programs: int) -> tuple[Value, ...]:
    """The values of all programs, of what each group has."""
    if len(groups) == 1 and torch.equal(groups[0].places, torch.arange(programs)):
        return groups[0].values
    return tuple(
        merged([(group.places, group.values[number]) for group in groups if len(group.places)], type, programs)
        for number, type in enumerate(types)
    )


def number_of(machine: Machine, frame: Frame, operation: Operation, operand: int) -> Affine:
    """A scalar that bounds a loop."""
    value = frame[operand]
    if value.undefined is not None:
        machine.condition(Value(torch.ones(1, dtype=torch.bool), value.undefined), frame, operation)
    return value.affine or Affine.per_program(value.tensor(frame.type(operand)).to(torch.int64))


def rounds_of(start: Affine, stop: Affine, step: Affine, programs: int) -> int | torch.Tensor:
    """How many rounds the loop has: for all programs, or for each, of shape (programs,)."""
    if start.is_uniform and stop.is_uniform and step.is_uniform:
        return max(0, (stop.value - start.value + step.value - 1) // step.value)
    first, last, by = (torch.as_tensor(one.base, dtype=torch.int64) for one in (start, stop, step))
    count = torch.div(last - first + by - 1, by, rounding_mode="floor").clamp(min=0)
    return count.reshape(-1).expand(programs)


# -- blocks that branches connect ------------------------------------------------------------------------------------


def _graph(machine: Machine, blocks: Sequence[Block], frame: Frame) -> tuple[Value, ...]:
    """Execute each block for the programs that come to it, when no more can come: no branch leads back."""
    everyone = torch.arange(len(frame.programs))
    waiting: dict[int, list[_Group]] = {0: [_Group(everyone, ())]}
    returned: list[_Group] = []
    ends = [block.operations[-1] for block in blocks if block.operations[-1].name in _RETURNS]
    types = [frame.type(value) for value in ends[0].operands] if ends else []
    seen: set[int] = set()
    for number in _order(blocks):
        block = blocks[number]
        arrived = waiting.pop(number, [])
        seen.add(number)
        if not arrived:
            continue
        places = arrived[0].places if len(arrived) == 1 else torch.cat([group.places for group in arrived])
        inner = frame if torch.equal(places, everyone) else frame.part(places)
        if number:
            inner.set(block.arguments, _arrived(arrived, [frame.type(argument) for argument in block.arguments]))
        machine.go_through(block, inner)
        last = block.operations[-1]
        if last.name in _RETURNS:
            returned.append(_Group(places, tuple(inner.operands(last))))
        for target, passed, index in _branches(machine, last, inner):
            if target in seen:
                raise Unsupported(last.name, "a branch that leads back")
            group = _Group(places, tuple(inner[value] for value in passed)).take(index)
            waiting.setdefault(target, []).append(group)
    lost = torch.ones(len(frame.programs), dtype=torch.bool)
    for group in returned:
        lost[group.places] = False
    if bool(lost.any()):
        returned.append(_Group(lost.nonzero().flatten(), tuple(unknown(type, None) for type in types)))
    return _united(returned, types, len(frame.programs)) if types else ()


_RETURNS = ("tt.return", "tt.map_elementwise.return")


def _order(blocks: Sequence[Block]) -> list[int]:
    """The blocks, each behind all from which branches lead to it."""
    found: list[int] = []
    seen = {0}
    waiting = [(0, iter(_targets(blocks[0])))]
    while waiting:
        number, targets = waiting[-1]
        following = next((target for target in targets if target not in seen), None)
        if following is None:
            found.append(number)
            waiting.pop()
        else:
            seen.add(following)
            waiting.append((following, iter(_targets(blocks[following]))))
    return found[::-1]


def _targets(block: Block) -> list[int]:
    return [target for target, _ in block.operations[-1].successors]


def _arrived(groups: Sequence[_Group], types: Sequence[Type]) -> tuple[Value, ...]:
    """What groups pass to a block, one group's programs behind the other's."""
    starts = [0]
    for group in groups:
        starts.append(starts[-1] + len(group.places))
    lined = [
        _Group(torch.arange(start, start + len(g.places)), g.values) for start, g in zip(starts, groups, strict=False)
    ]
    return _united(lined, types, starts[-1])


def _branches(machine: Machine, last: Operation, frame: Frame) -> list[tuple[int, tuple[int, ...], torch.Tensor]]:
    """Where programs go from a block: the next block, the operands passed, and their places."""
    if last.name in _RETURNS:
        return []
    if last.name == "cf.br":
        ((target, passed),) = last.successors
        return [(target, passed, torch.arange(len(frame.programs)))]
    if last.name != "cf.cond_br":
        raise Unsupported(last.name, "as the end of a block")
    taken = machine.condition(frame[last.operands[0]], frame, last)
    known = _known(machine, last, frame, [frame[last.operands[0]]])
    takes = (taken, ~taken) if known is None else (taken & known, ~taken & known)
    ways = zip(last.successors, takes, strict=True)
    return [(target, passed, holds.nonzero().flatten()) for (target, passed), holds in ways if bool(holds.any())]


HANDLERS: dict[str, Handler] = {
    "scf.if": _if,
    "scf.for": _for,
    "scf.while": _while,
    "tt.call": _call,
    "tt.map_elementwise": _map_elementwise,
}
