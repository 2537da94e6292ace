"""Programs that write the same to one place: whether they do so whatever lies in the memory that they read.

What they write may be a constant, or computed by each of the same elements: whoever is last, it is the same. Else it is
the same by chance, and they race. A launch shows that by itself, executed once more with other contents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field, replace
from math import log

import torch

from tritonaudit.simulator.constant_writes import write_one_constant
from tritonaudit.simulator.engine import Argument, Outcome, Run, execute
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.ir import Function, Location, Module, Operation
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.programs import Grid
from tritonaudit.simulator.slices import blocks_in, made_of, may_wait, pointed_to, pointers_written, sources_of
from tritonaudit.simulator.torch_memory import storage_address

_TIMES = 3
"""That the first launch of a form is executed with other contents."""
_ALL = 8
"""So many launches of a form are all asked, and of more those whose numbers are powers of two."""
_LEAST_RUN = 8
"""Elements in a row that have one sign, at least; at most all of them have."""
_MOST_RUNS = 4096
_SPREAD = 8
"""By how much integers differ."""
_READS = ("tt.load", "tt.atomic")
_ACCESSES = (*_READS, "tt.store")
_CONDITIONS = {"scf.for": 3, "scf.if": 1, "scf.condition": 1, "cf.cond_br": 1}
_DIFFERS = "what they write is the same by chance, and differs with other contents of what they read"

_Place = tuple["Location | None", str]


def distinguished(outcome: Outcome, module: Module, grid: Grid, arguments: Sequence[Argument], run: Run) -> Outcome:
    """What a launch showed, those programs reported to race that write the same by chance.

    The launch has been executed. Nothing is said where others hold what it writes, or where its programs wait.
    """
    return Coincidences().distinguished(outcome, module, grid, arguments, run)


@dataclass
class Coincidences:
    """Tells what is the same by chance in the launches of a loop in host code, of which most are of one form.

    Where programs were found to race, they do so in each later launch of the form. Where none were, most likely none
    do: that is asked of each of the first eight launches that show such writes, as integers in memory may have them go
    elsewhere each time, and then of the 16th, the 32nd and so on, each time with contents that are new.
    """

    _forms: dict[Hashable, _Writes] = field(default_factory=dict)

    def distinguished(
        self, outcome: Outcome, module: Module, grid: Grid, arguments: Sequence[Argument], run: Run
    ) -> Outcome:
        """What the next launch showed, those programs reported to race that write the same by chance."""
        values = [one.value for one in arguments]
        places = {
            place
            for place in _places(outcome, FaultKind.SAME_WRITES)
            if not write_one_constant(place[0], module, values)
        }
        if not places or not _may_be_repeated(module):
            return outcome
        writes = self._forms.setdefault((module, grid, _form(arguments)), _Writes())
        writes.racing |= _places(outcome, FaultKind.RACE_WRITE_WRITE)
        writes.shown.update(places)
        asked = {place: seeds for place in places - writes.racing if (seeds := _seeds(writes.shown[place]))}
        if asked:
            seeds = max(asked.values(), key=len)
            writes.racing |= _racing_with(seeds, asked.keys(), module, grid, arguments, run)
        return replace(outcome, faults=tuple(_restated(fault, writes.racing) for fault in outcome.faults))


@dataclass
class _Writes:
    """Where programs of launches of one form wrote the same: in how many launches, and where they race."""

    shown: Counter[_Place] = field(default_factory=Counter)
    racing: set[_Place] = field(default_factory=set)


def _form(arguments: Sequence[Argument]) -> Hashable:
    """What launches of a program have in common that differ in what their tensors hold: numbers, and how tensors lie.

    Of tensors in one storage the first tells which it is.
    """
    first: dict[int, int] = {}
    found: list[Hashable] = []
    for place, one in enumerate(arguments):
        value = one.value
        if isinstance(value, torch.Tensor):
            storage = first.setdefault(storage_address(value), place)
            lies = value.shape, value.stride(), value.storage_offset(), one.offset, storage
            found.append((value.dtype, *lies))
        else:
            found.append(repr(value))
    return tuple(found)


def _seeds(launches: int) -> range:
    """Of the contents with which the last of so many launches is asked; none where it is not."""
    if launches == 1:
        return range(_TIMES)
    is_asked = launches <= _ALL or launches & (launches - 1) == 0
    return range(_TIMES + launches - 2, _TIMES + launches - 1) if is_asked else range(0)


def _racing_with(
    seeds: Sequence[int], places: Set[_Place], module: Module, grid: Grid, arguments: Sequence[Argument], run: Run
) -> set[_Place]:
    """Where programs race with other contents, which are tried until all of these places are found."""
    kept = _read_to_decide(module.kernel)
    racing: set[_Place] = set()
    for seed in seeds:
        if places <= racing:
            break
        others = _with_other_contents(arguments, kept, torch.Generator().manual_seed(seed))
        racing |= _racing(module, grid, others, run)
    return racing


def _may_be_repeated(module: Module) -> bool:
    """Whether copies of the arguments' memory are all that executing it again can change."""
    waits = any(may_wait(one) for function in module.functions for one in blocks_in(function.region.blocks))
    return pointers_written(module) is not None and not waits


def _racing(module: Module, grid: Grid, arguments: Sequence[Argument], run: Run) -> set[_Place]:
    try:
        outcome = execute(module, grid, arguments, replace(run, undefined=None, as_gpu=False))
    except NotSimulated:
        return set()
    return _places(outcome, FaultKind.RACE_WRITE_WRITE)


def _restated(fault: Fault, racing: Set[_Place]) -> Fault:
    if fault.kind is not FaultKind.SAME_WRITES or _place(fault) not in racing:
        return fault
    return replace(fault, kind=FaultKind.RACE_WRITE_WRITE, detail=_DIFFERS)


def _places(outcome: Outcome, kind: FaultKind) -> set[_Place]:
    return {_place(fault) for fault in outcome.faults if fault.kind is kind}


def _place(fault: Fault) -> _Place:
    return fault.location, fault.tensor


# -- other contents ----------------------------------------------------------------------------------------------------


def _read_to_decide(kernel: Function) -> frozenset[int]:
    """The arguments, by their place, on whose contents it hangs which accesses are made, and where to."""
    operations = list(blocks_in(kernel.region.blocks))
    sources = sources_of(kernel)
    decided = made_of([number for one in operations for number in _deciding(one, kernel)], sources)
    reads = [one for one in operations if one.name.startswith(_READS) and not decided.isdisjoint(one.results)]
    return pointed_to([one.operands[0] for one in reads], kernel, sources)


def _deciding(operation: Operation, kernel: Function) -> Sequence[int]:
    """The operands that say where an access goes and whether it is made, or what is executed."""
    if operation.name.startswith(_ACCESSES):
        types = kernel.types
        return [one for one in operation.operands if types[one].is_pointer or types[one].element == "i1"]
    return operation.operands[: _CONDITIONS.get(operation.name, 0)]


def _with_other_contents(
    arguments: Sequence[Argument], kept: Set[int], generator: torch.Generator
) -> Sequence[Argument]:
    """The same, their tensors in memory of their own: numbers there are others, but for integers that are `kept`."""
    together: dict[int, list[int]] = {}
    for place, one in enumerate(arguments):
        if isinstance(one.value, torch.Tensor) and one.value.untyped_storage().nbytes():
            together.setdefault(storage_address(one.value), []).append(place)
    found = list(arguments)
    for places in together.values():
        tensors = [arguments[place].value for place in places]
        storage = tensors[0].untyped_storage().clone()
        dtypes = {tensor.dtype for tensor in tensors}
        if len(dtypes) == 1 and (tensors[0].is_floating_point() or kept.isdisjoint(places)):
            _change(storage, tensors[0].dtype, generator)
        for place, tensor in zip(places, tensors, strict=True):
            view = torch.empty(0, dtype=tensor.dtype).set_(
                storage, tensor.storage_offset(), tensor.shape, tensor.stride()
            )
            found[place] = replace(arguments[place], value=view)
    return found


def _change(storage: torch.UntypedStorage, dtype: torch.dtype, generator: torch.Generator) -> None:
    """Write normal numbers, with one sign for runs of elements: short ones and long ones, as blocks are."""
    count = storage.nbytes() // dtype.itemsize
    longest = log(max(count, 2 * _LEAST_RUN) / _LEAST_RUN)
    runs = (_LEAST_RUN * torch.exp(torch.rand(_MOST_RUNS, generator=generator) * longest)).to(torch.int64)
    runs = runs[: int(torch.searchsorted(runs.cumsum(0), count)) + 1]
    signs = (1 - 2 * (torch.arange(len(runs)) % 2)).repeat_interleave(runs)[:count]
    values = torch.randn(count, generator=generator).abs()
    values[: len(signs)] *= signs
    if not dtype.is_floating_point:
        values = values > 0 if dtype is torch.bool else (values * _SPREAD).round()
        values = values.abs() if not dtype.is_signed else values
    torch.empty(0, dtype=dtype).set_(storage, 0, (count,)).copy_(values)
