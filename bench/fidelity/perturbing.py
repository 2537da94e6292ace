"""Executes a launch with every inexact result moved as far as its operation may err, up or down by the toss of a coin.

What is moved, and how far:
* results of operations that have a bound in `numerics.bounds`: by all of it, in ulps; where the instruction flushes
  subnormals, these become 0;
* products of matrices: by `dot_error` times the sum of the magnitudes that are summed;
* sums that a reduction or scan makes: by nothing, but they are added in another order, which only adds neighbours where
  what combines them is more than an addition or a multiplication;
* sums of a product and something: all of a launch are contracted to fused multiply-adds, or none.
Atomics are made in another order where the programs run in another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from tritonaudit.simulator.ir import Module, Operation, Region, Type
from tritonaudit.simulator.machine import Frame, Handler, Machine
from tritonaudit.simulator.numerics.bounds import FLUSHES, bound, dot_error
from tritonaudit.simulator.numerics.rounding import BITS
from tritonaudit.simulator.slices import blocks_in
from tritonaudit.simulator.values import Value

_MAY_ERR = ("math.", "arith.divf", "arith.remf", "tt.extern_elementwise", "tt.precise_")
_DOTS = ("tt.dot", "tt.dot_scaled")
_ORDERED = ("tt.reduce", "tt.scan")
_COMMUTATIVE = ("arith.addf", "arith.mulf")
_SELECTING = ("arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf", "arith.cmpf", "arith.select")
_HALF_STEP = 16
"""Products that an instruction adds before it rounds an accumulator of half precision (PTX, `mma.m16n8k16`)."""


class Unbounded(Exception):
    """An operation of which nobody has declared how far it may err, by its name and type."""


def inexact_operations(module: Module) -> tuple[str, ...]:
    """The operations of a module that are executed in another way where there are errors, by name and type."""
    found = {
        name
        for function in module.functions
        for operation in blocks_in(function.region.blocks)
        if (name := _inexact(operation, function.types))
    }
    return tuple(sorted(found))


def _inexact(operation: Operation, types: Sequence[Type]) -> str:
    if not operation.results or not (type := types[operation.results[0]]).is_float:
        return ""
    name = str(operation.attributes.get("symbol") or operation.name)
    if name == "tt.atomic_rmw":
        return f"{name}:{type.element}" if operation.attributes.get("atomic_rmw_op") == "fadd" else ""
    if name.startswith(_MAY_ERR) or name.startswith("__"):
        limit = bound(name, type.element)
        return f"{name}:{type.element}" if limit is None or limit.ulps else ""
    is_sum = name in _ORDERED and _rounds(operation, types)
    return f"{name}:{type.element}" if name in _DOTS or is_sum else ""


@dataclass
class Perturbation:
    """One choice of all errors."""

    seed: int
    _coins: torch.Generator = field(default_factory=torch.Generator)

    def __post_init__(self) -> None:
        self._coins.manual_seed(self.seed)

    def handlers(self, known: Mapping[str, Handler]) -> Mapping[str, Handler]:
        """What executes operations in place of the engine's own handlers. They raise Unbounded."""
        return {name: self._erring(name, handler) for name, handler in known.items()}

    def contracts(self) -> bool:
        """Whether products that are summed are rounded before."""
        return bool(self._toss((1,)))

    def order(self, programs: int) -> torch.Tensor:
        """An order of the programs."""
        return torch.randperm(programs, generator=self._coins)

    def _erring(self, name: str, handler: Handler) -> Handler:
        if name in _DOTS:
            return self._moving(handler, self._dot_errors)
        if name in _ORDERED:
            return self._reordering(handler, is_scan=name == "tt.scan")
        return self._moving(handler, self._moved) if name.startswith(_MAY_ERR) else handler

    def _moving(
        self, handler: Handler, moved: Callable[[Handler, Machine, Operation, Frame, torch.Tensor], torch.Tensor]
    ) -> Handler:
        def execute(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
            (exact,) = handler(machine, operation, frame)
            type = frame.result(operation)
            if not type.is_float:
                return (exact,)
            return (replace(exact, data=moved(handler, machine, operation, frame, exact.tensor(type))),)

        return execute

    # -- one operation on elements -------------------------------------------------------------------------------------

    def _moved(
        self, handler: Handler, machine: Machine, operation: Operation, frame: Frame, exact: torch.Tensor
    ) -> torch.Tensor:
        name = str(operation.attributes.get("symbol") or operation.name)
        element = frame.result(operation).element
        limit = bound(name, element)
        if limit is None:
            raise Unbounded(f"{name} of {element}")
        if (operation.name, element) in FLUSHES or (name.startswith("__nv_") and element == "f32"):
            exact = self._flushed(handler, machine, operation, frame, exact)
        return self._shifted(exact, limit.ulps) if limit.ulps else exact

    def _flushed(
        self, handler: Handler, machine: Machine, operation: Operation, frame: Frame, exact: torch.Tensor
    ) -> torch.Tensor:
        """With the subnormals among operands and results taken for 0, in some lanes."""
        changed = {}
        for number in operation.operands:
            value = frame[number]
            data = value.tensor(frame.type(number))
            if data.dtype is torch.float32 and bool(_subnormal(data).any()):
                changed[number] = replace(value, data=torch.where(_subnormal(data), torch.copysign(_ZERO, data), data))
        if changed:
            (other,) = handler(machine, operation, _with(frame, changed))
            flushed = other.tensor(frame.result(operation))
            exact = torch.where(self._toss(exact.shape), flushed, exact)
        return torch.where(_subnormal(exact) & self._toss(exact.shape), torch.copysign(_ZERO, exact), exact)

    def _shifted(self, x: torch.Tensor, ulps: float) -> torch.Tensor:
        """Every number but 0 so many floats farther from 0 or nearer to it."""
        bits = x.contiguous().view(BITS[x.dtype])
        steps = torch.where(self._toss(x.shape), 1, -1) * int(-(-ulps // 1))
        moved = (bits + steps.to(bits.dtype)).view(x.dtype)
        keeps = (x == 0) | ~x.isfinite() | ~moved.isfinite() | (moved.signbit() != x.signbit())
        return torch.where(keeps, x, moved)

    def _toss(self, shape: Sequence[int]) -> torch.Tensor:
        return torch.randint(0, 2, tuple(shape), generator=self._coins, dtype=torch.bool)

    # -- products of matrices ------------------------------------------------------------------------------------------

    def _dot_errors(
        self, handler: Handler, machine: Machine, operation: Operation, frame: Frame, exact: torch.Tensor
    ) -> torch.Tensor:
        types = [frame.type(number) for number in operation.operands]
        length = types[0].shape[-1] * (2 if _is_packed(operation, "lhs") else 1)
        magnitudes = {
            number: Value(_magnitude(frame.tensor(number), _is_packed(operation, side)))
            for number, side in zip(operation.operands[:3], ("lhs", "rhs", ""), strict=True)
        }
        (summed,) = handler(machine, operation, _with(frame, magnitudes))
        relative = _relative_error(length, types[0].element, frame.result(operation).element)
        most = summed.tensor(frame.result(operation)).double() * relative
        moved = exact.double() + torch.where(self._toss(exact.shape), most, -most)
        return torch.where(exact.isfinite(), moved.to(exact.dtype), exact)

    # -- reductions and scans ------------------------------------------------------------------------------------------

    def _reordering(self, handler: Handler, *, is_scan: bool) -> Handler:
        def execute(machine: Machine, operation: Operation, frame: Frame) -> tuple[Value, ...]:
            exact = handler(machine, operation, frame)
            if not _rounds(operation, frame.function.types):
                return exact
            axis = int(operation.attributes["axis"]) + 1
            blocks = [block.movedim(axis, 0) for block in _blocks(operation, frame, axis)]
            combine = _Combine(machine, operation.regions[0], frame)
            if not is_scan:
                results = self._reduced(blocks, combine)
            else:
                turned = [block.flip(0) for block in blocks] if operation.attributes.get("reverse") else blocks
                lines = self._scanned(turned, combine)
                turned = [line.flip(0) for line in lines] if operation.attributes.get("reverse") else lines
                results = [line.movedim(0, axis) for line in turned]
            return tuple(replace(value, data=result) for value, result in zip(exact, results, strict=True))

        return execute

    def _reduced(self, lines: list[torch.Tensor], combine: _Combine) -> list[torch.Tensor]:
        """One after the other within chunks, chunks in pairs; in any order where that changes only the rounding."""
        size = lines[0].shape[0]
        if combine.is_commutative:
            order = torch.randperm(size, generator=self._coins)
            lines = [line[order] for line in lines]
        length = self._chunk(size)
        chunks = [line.reshape(size // length, length, *line.shape[1:]) for line in lines]
        total = [chunk[:, 0] for chunk in chunks]
        for place in range(1, length):
            total = combine(total, [chunk[:, place] for chunk in chunks])
        while (count := total[0].shape[0]) > 1:
            paired = combine([one[: count // 2 * 2 : 2] for one in total], [one[1::2] for one in total])
            total = [torch.cat([one, rest[count // 2 * 2 :]]) for one, rest in zip(paired, total, strict=True)]
        return [one[0] for one in total]

    def _scanned(self, lines: list[torch.Tensor], combine: _Combine) -> list[torch.Tensor]:
        """One after the other within chunks, and so are the chunks' totals."""
        size = lines[0].shape[0]
        length = self._chunk(size)
        chunks = [line.reshape(size // length, length, *line.shape[1:]) for line in lines]
        prefixes = [[chunk[:, 0] for chunk in chunks]]
        for place in range(1, length):
            prefixes.append(combine(prefixes[-1], [chunk[:, place] for chunk in chunks]))
        before = [one[:1] for one in prefixes[-1]]
        found = [[one[:1] for one in prefix] for prefix in prefixes]
        results = [[torch.cat([prefix[which] for prefix in found])] for which in range(len(lines))]
        for number in range(1, size // length):
            own = [
                torch.cat([prefix[which][number : number + 1] for prefix in prefixes]) for which in range(len(lines))
            ]
            made = combine([one.expand(length, *one.shape[1:]) for one in before], own)
            before = [one[-1:] for one in made]
            for result, one in zip(results, made, strict=True):
                result.append(one)
        return [torch.cat(result) for result in results]

    def _chunk(self, size: int) -> int:
        """A length that divides the size."""
        lengths = [1 << power for power in range(_LONGEST.bit_length()) if size % (1 << power) == 0]
        return lengths[int(torch.randint(len(lengths), (1,), generator=self._coins))]


_LONGEST = 64  # chunk
_ZERO = torch.zeros(())


@dataclass(frozen=True)
class _Combine:
    """What the region of a reduction or scan makes of two lists of elements; lanes come first in their shape."""

    machine: Machine
    region: Region
    frame: Frame

    @property
    def is_commutative(self) -> bool:
        """Whether it is one addition or multiplication."""
        return [operation.name in _COMMUTATIVE for operation in self.region.block.operations[:-1]] == [True]

    def __call__(self, left: Sequence[torch.Tensor], right: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        frame = _with(self.frame, {}, has_lanes=True)
        block = self.region.block
        frame.set(block.arguments, [Value(one) for one in (*left, *right)])
        for operation in block.operations[:-1]:
            self.machine.execute(operation, frame)
        return [frame.tensor(number).expand(left[0].shape) for number in block.operations[-1].operands]


def _with(frame: Frame, values: Mapping[int, Value], *, has_lanes: bool = False) -> Frame:
    """The frame with other values in place of some."""
    places = torch.arange(len(frame.programs))
    return Frame(frame.function, frame.programs, dict(values), frame, places, has_lanes or frame.has_lanes)


def _rounds(operation: Operation, types: Sequence[Type]) -> bool:
    """Whether a reduction's or scan's region rounds anything."""
    return any(types[number].is_float for number in operation.operands) and any(
        inner.name not in _SELECTING and any(types[number].is_float for number in inner.results)
        for inner in operation.regions[0].block.operations
    )


def _blocks(operation: Operation, frame: Frame, axis: int) -> list[torch.Tensor]:
    """The operands with all of the axis and all programs that any of them has."""
    tensors = [frame.tensor(number) for number in operation.operands]
    shape = list(torch.broadcast_shapes(*(tensor.shape for tensor in tensors)))
    shape[axis] = frame.type(operation.operands[0]).shape[axis - 1]
    return [tensor.expand(shape) for tensor in tensors]


def _subnormal(x: torch.Tensor) -> torch.Tensor:
    return (x != 0) & (x.abs() < torch.finfo(x.dtype).tiny)


def _is_packed(operation: Operation, side: str) -> bool:
    """Whether the bytes of an operand hold two floats of 4 bits each."""
    return operation.attributes.get(side) == "e2m1"


def _magnitude(x: torch.Tensor, is_packed: bool) -> torch.Tensor:
    """Without signs; 8-bit integers stand for floats."""
    if is_packed:
        return x & 0x77
    if x.dtype in (torch.int8, torch.uint8):
        return x & 0x7F
    return (x.view(torch.uint8) & 0x7F).view(x.dtype) if x.itemsize == 1 else x.abs()


def _relative_error(length: int, element: str, result: str) -> float:
    """How far a product's element may err, relative to the sum of the magnitudes that are summed."""
    halves = -(-length // _HALF_STEP) * 2.0**-11 if result == "f16" else 0.0
    return dot_error(length, element) + halves
