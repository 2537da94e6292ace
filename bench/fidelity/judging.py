"""What became of one recorded launch: the engine executes it, and its results are compared with the GPU's."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import torch

from bench.fidelity.comparing import Difference, are_within, difference, distance
from bench.fidelity.explanations import explanation
from bench.fidelity.perturbing import Perturbation, Unbounded, inexact_operations
from bench.fidelity.recording import Recorded, bytes_of, load, storages_of
from bench.fidelity.rows import Row, Verdict
from tritonaudit.capture.launch import Program
from tritonaudit.execute.killed import End, Killed
from tritonaudit.simulator.engine import Run, execute
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.gpu_program import TARGET, ttgir_of
from tritonaudit.simulator.ir import Module
from tritonaudit.simulator.live import module_of
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.numerics.elements import bits_of, dtype_of
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.parse import UnsupportedText
from tritonaudit.simulator.slices import blocks_in

PERTURBED = 8
"""How often a launch is executed with errors, at most."""
_PATIENCE = 20.0
"""Seconds after which no further execution is begun."""
_ORDERS = 3

_HARMLESS = (FaultKind.SAME_WRITES, FaultKind.MASKED_STORED, FaultKind.MASKED_MASK, FaultKind.ASSERTION)
"""Faults that change no result: every GPU loads 0 where a mask leaves out a lane, as the engine does."""


def become_judge() -> None:
    """Prepare this process."""
    torch.set_num_threads(1)


def judge_file(path: Path) -> Row:
    """Judge what a file holds."""
    return replace(judge(load(path)), file=path.name)


def judge(recorded: Recorded) -> Row:
    """Compare a launch on the GPU with the engine's."""
    started = time.monotonic()
    return replace(_judged(recorded, started), seconds=time.monotonic() - started)


def _judged(recorded: Recorded, started: float) -> Row:
    if not recorded.ttir:
        return unjudged(recorded, f"Triton's front end: {recorded.error}")
    try:
        launch = _Launch.of(recorded)
        ours, faults = launch.as_gpu()
    except NotSimulated as error:
        line = error.location.line if error.location is not None else 0
        return unjudged(recorded, f"{error}" + (f" (line {line})" if line else ""))
    except (Unsupported, UnsupportedText) as error:
        return unjudged(recorded, f"{error}")
    if recorded.crash:
        said = _said(faults, harmless=())
        verdict = Verdict.EXPLAINED if said else Verdict.UNEXPLAINED
        return _row(recorded, verdict, f"the GPU: {recorded.crash}; the engine: {said or 'no fault'}")
    theirs = launch.typed(recorded.after)
    operations = inexact_operations(launch.module)
    if _are_same(ours, theirs):
        return replace(_row(recorded, Verdict.EXACT), operations=operations)
    verdict, reason = _Comparison(launch, ours, theirs, started + _PATIENCE).verdict(faults)
    if verdict is Verdict.UNEXPLAINED and not recorded.repeats:
        verdict, reason = Verdict.EXPLAINED, "the GPU gives something else when it runs the launch again"
    if verdict is Verdict.UNEXPLAINED and _is_reordered(launch, ours, theirs):
        verdict, reason = Verdict.EXPLAINED, "the same elements in another order, as `tl.cat` with can_reorder may"
    if verdict is Verdict.UNEXPLAINED and (why := explanation(recorded.kernel, _place(recorded))) is not None:
        verdict, reason = Verdict.EXPLAINED, f"read: {why}"
    return replace(_described(_row(recorded, verdict, reason), launch, ours, theirs), operations=operations)


def unjudged(recorded: Recorded, reason: str) -> Row:
    """The row of a launch that the engine cannot execute."""
    return _row(recorded, Verdict.NOT_SIMULATED, reason)


def killed(recorded: Recorded, how: Killed) -> Row:
    """The row of a launch whose judge was killed: that the engine fails is no verdict on the launch."""
    is_slow = how.end in (End.TIMEOUT, End.MEMORY)
    return _row(recorded, Verdict.NOT_SIMULATED if is_slow else Verdict.UNEXPLAINED, how.message)


def _row(recorded: Recorded, verdict: Verdict, reason: str = "") -> Row:
    return Row(recorded.source, recorded.unit, recorded.kernel, _place(recorded), verdict, reason)


def _place(recorded: Recorded) -> str:
    return f"{Path(recorded.path).name}:{recorded.line}"


def _described(row: Row, launch: _Launch, ours: Sequence[torch.Tensor], theirs: Sequence[torch.Tensor]) -> Row:
    """With the tensor that differs most."""
    differences = [difference(one, two) for one, two in zip(ours, theirs, strict=True)]
    place = max(range(len(differences)), key=lambda one: (differences[one].worst, differences[one].elements))
    worst: Difference = differences[place]
    element = str(ours[place].dtype).removeprefix("torch.")
    return replace(row, tensor=f"{launch.names[place]}:{element}", differing=worst.elements, ulps=worst.worst)


def _are_same(ours: Sequence[torch.Tensor], theirs: Sequence[torch.Tensor]) -> bool:
    return all(not difference(one, two).elements for one, two in zip(ours, theirs, strict=True))


def _is_reordered(launch: _Launch, ours: Sequence[torch.Tensor], theirs: Sequence[torch.Tensor]) -> bool:
    """Whether a launch that puts blocks together in any order has the elements of the GPU's."""
    if not any(name == "tt.cat" for name, _ in _operations(launch.module)):
        return False
    pairs = [(bits_of(one).sort().values, bits_of(two).sort().values) for one, two in zip(ours, theirs, strict=True)]
    return all(torch.equal(*pair) for pair in pairs)


def _said(faults: Sequence[Fault], harmless: Sequence[FaultKind] = _HARMLESS) -> str:
    """The faults of a launch in words."""
    harmful = dict.fromkeys(
        f"{fault.kind.value} (line {fault.location.line})" if fault.location else fault.kind.value
        for fault in faults
        if fault.kind not in harmless
    )
    return ", ".join(harmful)


@dataclass(frozen=True, eq=False)
class _Launch:
    """A recorded launch, and of each of its storages the type of the elements in it and the first argument's name."""

    recorded: Recorded
    module: Module
    types: tuple[torch.dtype, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, recorded: Recorded) -> _Launch:
        module = module_of(recorded.ttir)
        kernel = module.kernel
        types: dict[int, torch.dtype] = {}
        names: dict[int, str] = {}
        for number, argument in zip(kernel.arguments, recorded.arguments, strict=True):
            if isinstance(argument.value, torch.Tensor):
                storage = argument.value.untyped_storage()._cdata
                pointee = kernel.types[number].pointee
                known = pointee is not None and not pointee.is_pointer and pointee.element != "i1"
                types.setdefault(storage, dtype_of(pointee) if known and pointee else torch.uint8)
                names.setdefault(storage, argument.name)
        return cls(recorded, module, tuple(types.values()), tuple(names.values()))

    def run(self, run: Run) -> tuple[list[torch.Tensor], tuple[Fault, ...]]:
        """What the launch leaves in its storages, and its faults."""
        arguments = copy.deepcopy(list(self.recorded.arguments))
        outcome = execute(self.module, self.recorded.grid, arguments, run)
        return self.typed([bytes_of(one) for one in storages_of(one.value for one in arguments)]), outcome.faults

    def as_gpu(self) -> tuple[list[torch.Tensor], tuple[Fault, ...]]:
        """As `run`, computed as the GPU computes."""
        recorded = self.recorded
        ttgir = ttgir_of(Program(TARGET, recorded.ttir, recorded.options))
        return self.run(Run(contracts=recorded.contracts, as_gpu=True, ttgir=ttgir))

    def typed(self, contents: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The elements of storages; what is left of one whose size is no multiple of theirs is not looked at."""
        return [
            content[: len(content) // type.itemsize * type.itemsize].view(type)
            for content, type in zip(contents, self.types, strict=True)
        ]

    def in_order(self, order: torch.Tensor) -> list[torch.Tensor]:
        """As `run`, with the programs in another order."""
        return self.run(Run(is_checked=False, order=order, contracts=self.recorded.contracts))[0]


@dataclass(frozen=True, eq=False)
class _Comparison:
    """The results of a launch that are not the same, in executions until some time."""

    launch: _Launch
    ours: Sequence[torch.Tensor]
    theirs: Sequence[torch.Tensor]
    ends: float

    def verdict(self, faults: Sequence[Fault]) -> tuple[Verdict, str]:
        """Whether they are within bounds, or why they differ."""
        try:
            perturbed, is_within = self._perturbed()
        except Unbounded as error:
            words, is_within = f"no bound is declared for {error}", False
        else:
            words = f"beyond {perturbed} executions with errors"
        if is_within:
            return Verdict.BOUNDED, words.replace("beyond", "within")
        if said := _said(faults):
            return Verdict.EXPLAINED, said
        if self._depends_on_order():
            return Verdict.EXPLAINED, "the order of atomics"
        return Verdict.UNEXPLAINED, words

    def _perturbed(self) -> tuple[int, bool]:
        """After how many executions with errors the GPU's results are within what those do. Raises Unbounded."""
        deviations = [torch.zeros(one.shape, dtype=torch.float64) for one in self.ours]
        number = 0
        for number in range(1, PERTURBED + 1):
            if time.monotonic() > self.ends:
                return number - 1, False
            results = self._with_errors(Perturbation(number))
            for place, (mine, other) in enumerate(zip(self.ours, results, strict=True)):
                deviations[place] = torch.maximum(deviations[place], distance(mine, other))
            if all(map(are_within, self.ours, self.theirs, deviations)):
                return number, True
        return number, False

    def _with_errors(self, errors: Perturbation) -> list[torch.Tensor]:
        order = errors.order(prod(self.launch.recorded.grid)) if _adds_floats(self.launch.module) else None
        contracts = self.launch.recorded.contracts and errors.contracts()
        return self.launch.run(Run(is_checked=False, order=order, handlers=errors.handlers, contracts=contracts))[0]

    def _depends_on_order(self) -> bool:
        """Whether a launch with atomics comes to something else in another order of its programs."""
        if not any(name.startswith("tt.atomic") for name, _ in _operations(self.launch.module)):
            return False
        programs = prod(self.launch.recorded.grid)
        orders = [torch.arange(programs).flip(0), *(Perturbation(seed).order(programs) for seed in range(_ORDERS))]
        return any(not _are_same(self.ours, self.launch.in_order(order)) for order in orders)


def _operations(module: Module) -> Iterator[tuple[str, str]]:
    """The names of operations, and what atomics do."""
    for function in module.functions:
        for operation in blocks_in(function.region.blocks):
            yield operation.name, str(operation.attributes.get("atomic_rmw_op", ""))


def _adds_floats(module: Module) -> bool:
    return ("tt.atomic_rmw", "fadd") in _operations(module)
