"""Executes one launch on the CPU: its program on its arguments, all of its grid or some programs of it.

What it holds beside the launch's tensors is bounded, and does not grow with the rounds of loops:

* The values of one chunk of programs, until these end: each of at most so many elements as a chunk may have, or of one
  block where that is larger, of up to 8 bytes. With 2^17 elements that is 1 MiB a value, with 2^19 it is 4; attention
  in blocks of 64 x 64 was measured to hold 50 MiB, sums of vectors 2 MiB, over any grid.
* With checks, for each cell of a memory that the launch writes to: 4 bytes where it is written, 4 where it is read, and
  5 more where there are atomics. A cell is as large as the smallest element of the tensors in it and of the kernel's
  pointers: a float32 tensor that is read and written has shadows of twice its size, one of bytes with atomics of 13
  times. Besides, a byte for each element between the first and the last of a view with holes that is accessed there,
  and for each byte of fresh memory.
* With checks and atomics, up to 272 bytes for each program of the grid.
* Of each of the last 32 forms of launches, up to about 4 MiB of what is the same in each launch of that form.
* Programs that wait for others have a thread each, and their values, until they go on: at most the whole grid.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from types import MappingProxyType
from typing import Any

import torch

from tritonaudit.simulator import (
    assembly,
    control,
    faithful,
    fused,
    loads_stores,
    prints,
    products,
    reductions,
    shapes,
    statements,
)
from tritonaudit.simulator.access import Accesses
from tritonaudit.simulator.addressing import Addressing
from tritonaudit.simulator.affine import Affine
from tritonaudit.simulator.arithmetic import elementwise, select
from tritonaudit.simulator.chains import Chains
from tritonaudit.simulator.contraction import PRODUCT, SUMS, plan_of
from tritonaudit.simulator.faults import Fault, FaultKind, Faults, numbered
from tritonaudit.simulator.fixed import Fixed, fixed_of
from tritonaudit.simulator.ir import Function, Module
from tritonaudit.simulator.lane_order import OrderedAccesses, order_of, waiting
from tritonaudit.simulator.machine import Handler, Machine, NotSimulated
from tritonaudit.simulator.memory import AddressSpace, address_space
from tritonaudit.simulator.notes import Notes
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.numerics.elementwise import is_elementwise
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.programs import Grid, chunks
from tritonaudit.simulator.recall import Form, Forms, Recall
from tritonaudit.simulator.slices import addresses_of, blocks_in, may_wait, places_accessed, pointers_written
from tritonaudit.simulator.sync import clocks_of
from tritonaudit.simulator.turns import Deadlock, Turns
from tritonaudit.simulator.unknown import UnknownAccesses, handlers_of
from tritonaudit.simulator.values import Value

_ELEMENTS = 1 << 17
"""Of the largest block, for all programs of a chunk: what the second-level cache of a core holds several of."""
_ELEMENTS_OF_PRODUCTS = 1 << 19
"""The same where there are matrix products, which take blocks apart for the cache themselves."""
_MOST_PROGRAMS = 1 << 14

_HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        **control.HANDLERS,
        **shapes.HANDLERS,
        **loads_stores.HANDLERS,
        **reductions.HANDLERS,
        **products.HANDLERS,
        **statements.HANDLERS,
        **prints.HANDLERS,
        **assembly.HANDLERS,
        "arith.select": select,
    }
)


_PURE = frozenset((*shapes.HANDLERS, "arith.select", "tt.addptr"))
"""Beside what is elementwise, the operations that give the same for the same operands, and do nothing."""


@dataclass(frozen=True, eq=False)
class Argument:
    """What is passed for a parameter: a tensor on the CPU for a pointer, a number for the rest.

    A pointer points so many bytes behind the tensor's first element as `offset` says.
    """

    name: str
    value: Any
    offset: int = 0


def unchanged(known: Mapping[str, Handler]) -> Mapping[str, Handler]:
    """The handlers as they are."""
    return known


@dataclass(frozen=True)
class Run:
    """How a launch is executed.

    `is_checked`: look for faults. `order`: the programs' numbers in the order in which they run, maybe not all of them.
    `undefined`: by a storage's address, which of its bytes nobody has written, kept up to date. `tick` is called often
    and may raise. `handlers` may put others in place of those that execute the operations of the launch's module.
    `contracts`: sums take in products without a rounding between, as Triton compiles them unless `enable_fp_fusion` is
    off. `is_partial`: only some programs run, so that what the launch writes is not known, and stays as it is.
    `as_gpu`: as an H100 computes, its approximations, and sums and products in its order, bit by bit; slower. `ttgir`
    is the program as Triton lays it out over that GPU's threads, empty where that is not known.
    """

    is_checked: bool = True
    order: torch.Tensor | None = None
    undefined: Mapping[int, torch.Tensor] | None = None
    tick: Callable[[], None] = lambda: None
    handlers: Callable[[Mapping[str, Handler]], Mapping[str, Handler]] = unchanged
    contracts: bool = True
    is_partial: bool = False
    as_gpu: bool = False
    ttgir: str = ""


@dataclass(frozen=True)
class Outcome:
    """What an execution shows: the faults, and what the programs print.

    `undecided` says where what happens depends on what is not known. `programs` are those that ran; None for all.
    """

    faults: tuple[Fault, ...]
    printed: tuple[str, ...] = ()
    undecided: tuple[Fault, ...] = ()
    programs: tuple[Grid, ...] | None = None


def execute(module: Module, grid: Grid, arguments: Sequence[Argument], run: Run = Run()) -> Outcome:
    """Execute a kernel; its tensors are changed as the kernel changes them.

    `arguments` are those that the program still has, in order. Raises NotSimulated.
    """
    if run.as_gpu:
        module = faithful.as_compiled(module, run.ttgir)
    faults = Faults(Chains(module, [one.name for one in arguments]).of)
    try:
        facts = _facts(module)
    except Unsupported as error:
        raise NotSimulated(error, None) from None
    tensors = [
        (place, one.name, one.value) for place, one in enumerate(arguments) if isinstance(one.value, torch.Tensor)
    ]
    space = address_space(tensors, facts.written, run.undefined, facts.cell, run.is_partial)
    clocks = clocks_of(prod(grid), is_kept=facts.has_atomics and run.is_checked and not run.is_partial)
    is_noted = run.is_checked or run.undefined is not None
    notes = Notes(faults, clocks, is_apart=not run.is_checked) if is_noted else None
    key = _form_key(module, grid, arguments, space, run)
    form = None if key is None else _FORMS.get(key)
    recall = None if key is None or not _FORMS.is_met_again(key) else Recall.of(_fixed(module), form)
    if notes is not None and form is not None:
        notes.is_apart = form.is_apart
    addressing = Addressing(space, faults, run.is_checked)
    accesses = (UnknownAccesses if run.is_partial else Accesses)(addressing, notes, recall)
    handlers = facts.contracted if run.contracts else facts.handlers
    if run.as_gpu:
        handlers = faithful.handlers_of(module, run.ttgir, handlers, run.contracts)
    handlers = run.handlers(handlers_of(handlers) if run.is_partial else handlers)
    is_seen_first = run.is_checked and recall is None and not run.is_partial
    order = order_of(prod(grid), space, facts.accessed, facts.written or frozenset()) if is_seen_first else None
    if order is not None:
        accesses, handlers = OrderedAccesses(addressing, notes, order=order), waiting(order, handlers)
    turns = Turns() if facts.waits and not run.is_partial else None
    machine = Machine(
        module, accesses, faults, handlers, run.is_checked, facts.addresses, run.tick, turns, run.is_partial, recall
    )
    values = _values(module.kernel, arguments, space) if form is None else form.values
    works = (
        partial(control.call, machine, module.kernel, programs, values)
        for programs in chunks(grid, facts.chunk, run.order)
    )
    if turns is None:
        for work in works:
            work()
    else:
        _take_turns(turns, works, faults)
    if order is not None and order.has_met:
        _FORMS.start_over(key)
    if recall is not None and recall.is_lost:
        _FORMS.forget(key)
    elif recall is not None and form is None and all(fault.kind in _FOUND_ANEW for fault in faults):
        is_apart = notes is not None and not notes.has_met and _fixed(module).is_steady and recall.is_complete
        _FORMS.keep(key, Form(recall.known, values, is_apart))
    decided = tuple(fault for fault in faults if not fault.kind.is_undecided)
    undecided = tuple(fault for fault in faults if fault.kind.is_undecided)
    ran = None if run.order is None else tuple(numbered(grid, number) for number in run.order.tolist())
    return Outcome(decided, tuple(machine.printed), undecided, ran if run.is_partial else None)


_FORMS = Forms()

_FOUND_ANEW = frozenset(
    (
        FaultKind.UNDEFINED_STORED,
        FaultKind.MASKED_STORED,
        FaultKind.UNDEFINED_BRANCH,
        FaultKind.UNDEFINED_MASK,
        FaultKind.MASKED_MASK,
        FaultKind.RACE_WRITE_WRITE,
        FaultKind.RACE_READ_WRITE,
        FaultKind.SAME_WRITES,
        FaultKind.LANES_COLLIDE,
        FaultKind.ASSERTION,
    )
)
"""The faults that are reported where values are stored, noted or tested; the others may be those of what is kept."""


def _form_key(
    module: Module, grid: Grid, arguments: Sequence[Argument], space: AddressSpace, run: Run
) -> Hashable | None:
    """What launches of one form have in common; None where nothing is kept of them."""
    is_plain = run.order is None and run.handlers is unchanged and not (run.is_partial or run.as_gpu)
    if not is_plain or _facts(module).waits:
        return None
    numbers = tuple(repr(one.value) for one in arguments if not isinstance(one.value, torch.Tensor))
    offsets = tuple(one.offset for one in arguments)
    return module, grid, run.is_checked, run.contracts, numbers, offsets, space.layout


def _take_turns(turns: Turns, works: Iterable[Callable[[], object]], faults: Faults) -> None:
    """Run programs that may wait for each other; where they do so for ever, that is a fault."""
    try:
        turns.run(works)
    except Deadlock as deadlock:
        for site in deadlock.sites:
            fault = Fault(FaultKind.WAITS_FOREVER, site.location)
            faults.add_lanes(fault, torch.ones(len(site.programs), dtype=torch.bool), site)


@dataclass(frozen=True)
class _Facts:
    """What a module's text tells of all of its launches."""

    chunk: int
    cell: int | None
    has_atomics: bool
    waits: bool
    addresses: frozenset[tuple[str, int]]
    written: frozenset[int] | None
    accessed: Mapping[int, int]
    handlers: Mapping[str, Handler]
    contracted: Mapping[str, Handler]


@lru_cache(maxsize=64)
def _facts(module: Module) -> _Facts:
    operations = [operation for function in module.functions for operation in blocks_in(function.region.blocks)]
    atomics = any(operation.name.startswith("tt.atomic") for operation in operations)
    largest = max((prod(type.shape) for function in module.functions for type in function.types), default=1)
    names = {operation.name for operation in operations}
    elements = _ELEMENTS_OF_PRODUCTS if names & products.HANDLERS.keys() else _ELEMENTS
    chunk = max(1, min(_MOST_PROGRAMS, elements // max(1, largest)))
    waits = any(may_wait(operation) for operation in operations)
    if waits:
        chunk = 1
    handlers = {name: handler for name, handler in _HANDLERS.items() if name in names}
    handlers |= {name: elementwise for name in names if name not in handlers and is_elementwise(name)}
    has_fused = PRODUCT in names and not names.isdisjoint(SUMS)
    pointees = {type.pointee for function in module.functions for type in function.types if type.is_pointer}
    sizes = [dtype_of(pointee).itemsize for pointee in pointees if pointee is not None and not pointee.is_pointer]
    return _Facts(
        chunk,
        min(sizes, default=None),
        atomics,
        waits,
        addresses_of(module),
        pointers_written(module),
        places_accessed(module),
        MappingProxyType(handlers),
        MappingProxyType(handlers | fused.handlers_of(plan_of(module)) if has_fused else handlers),
    )


@lru_cache(maxsize=64)
def _fixed(module: Module) -> Fixed:
    names = _facts(module).handlers.keys()
    return fixed_of(module, {name for name in names if is_elementwise(name) or name in _PURE})


def _values(kernel: Function, arguments: Sequence[Argument], space: AddressSpace) -> Sequence[Value]:
    found: list[Value] = []
    for place, (number, argument) in enumerate(zip(kernel.arguments, arguments, strict=True)):
        type = kernel.types[number]
        if (buffer := space[place]) is not None:
            found.append(Value(Affine.uniform(buffer.address + argument.offset)))
        elif type.is_float or type.element == "i1":
            found.append(Value(torch.tensor([argument.value], dtype=dtype_of(type))))
        else:
            found.append(Value(Affine.uniform(int(argument.value))))
    return found
