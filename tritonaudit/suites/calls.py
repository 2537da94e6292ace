"""Calls a subject again and again, as integrity wants it, and notes what is seen of each call beside its results.

A case is called several times, with the same tensors and with others, with the same values and with others. Nothing of
a reference is run here, so that none of its results lies about in memory. Imports torch: for processes in which user
code runs.
"""

from __future__ import annotations

import _thread
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import torch

from tritonaudit.capture.time_limit import OutOfTime
from tritonaudit.simulator.torch_memory import storage_address
from tritonaudit.subject.inputs import Arguments, call, make_inputs, passed_in, seed_torch, tensors_in
from tritonaudit.subject.kernelbench import in_case
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites import harness
from tritonaudit.suites.arithmetic import Spent
from tritonaudit.suites.calling import (
    Device,
    How,
    Ran,
    Result,
    Unreadable,
    bytes_needed,
    copied,
    holders,
    is_same,
    leaves,
    results_of,
)
from tritonaudit.suites.harness import Replaced
from tritonaudit.suites.provenance import Computed, Origin, Provenance, Unaccounted

_WATCHED = (0, 1, 5)
"""The calls in which memory is looked at before and after every launch: the first, and one with each of the values
after that, when all that is made only once is there.
"""
LEFT = 3
"""Of the sets of values that with which a call goes on from what another one has left, where there is one."""
_BETWEEN = "the same values, with a call of others before the backward pass"
_GRACE = 0.02
"""Seconds for a thread that has done its work to end, and for one that has not to go on."""
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_PICKLED = 2
"""The protocol: the least by which objects of all classes have a pickle."""


@dataclass(frozen=True)
class Share:
    """A result, by name: how many of its elements come from where, and by which operators of torch.

    `is_foreign`: of its memory nothing at all was seen. So many elements were `overwritten` after the last launch by
    somebody who was not seen.
    """

    name: str
    counts: Mapping[Origin, int]
    operators: frozenset[str]
    is_foreign: bool
    overwritten: int = 0

    @property
    def elements(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Input:
    """A tensor among the arguments of a call: how a report calls it, and the address of its storage."""

    name: str
    storage: int
    is_by_intent: bool


@dataclass(eq=False)
class Call:
    """One of the calls: `way` says how it was made, and `values` which of the sets of values it was made with.

    `results` are what it gave, and `kept` copies of them as they were then. `started` are the threads that it
    starts, `threads` those that are there when it is over. `arithmetic` is what operators of torch computed on
    the way to the results; `unaccounted` is what was read and nobody was seen to make, and `altered` says
    how often what one had left was another thing for the next; `undefined`, how often the host was told
    what lies in memory that nobody has written.
    """

    way: str
    values: int
    inputs: tuple[Input, ...] = ()
    results: tuple[Result, ...] = ()
    kept: tuple[torch.Tensor, ...] = ()
    ran: tuple[Ran, ...] = ()
    error: BaseException | None = None
    fallback: BaseException | None = None
    strange: tuple[str, ...] = ()
    started: list[str] = field(default_factory=list)
    threads: tuple[str, ...] = ()
    shares: tuple[Share, ...] = ()
    computed: tuple[Computed, ...] = ()
    written: frozenset[int] = frozenset()
    arithmetic: Spent = field(default_factory=Spent)
    unaccounted: tuple[Unaccounted, ...] = ()
    altered: int = 0
    undefined: int = 0
    on_their_way: tuple[str, ...] | None = ()

    @property
    def elements(self) -> int:
        """How many its results have in all."""
        return sum(result.tensor.numel() for result in self.results)


@dataclass(frozen=True)
class Calls:
    """The calls, in their order, and the functions that a judge would rely on which were others after them."""

    calls: tuple[Call, ...]
    replaced: tuple[Replaced, ...] = ()


def values_of(device: Device, subject: Subject, case: Case, draw: int) -> tuple[Arguments, ...]:
    """The sets of values for the calls: those of a case, others, and these with an element changed that is drawn."""
    with device.observing(How(is_checked=False)):
        first, second = make_inputs(subject, case), make_inputs(subject, replace(case, seed=case.seed + 1))
        return first, second, nearly_same(second, Random(draw))


def nearly_same(arguments: Arguments, numbers: Random) -> Arguments:
    """The same, but for an element of each tensor of floating-point numbers, which has the value of another one.

    That is the one furthest away, so that what is computed from it shows it.
    """
    changed: Arguments = copied(arguments)
    for tensor in tensors_in(changed):
        if tensor.is_floating_point() and tensor.numel() > 1 and tensor.layout == torch.strided:
            place = numbers.randrange(tensor.numel())
            with torch.no_grad():
                elements = tensor.flatten()
                away = (elements.double() - elements[place].double()).abs().nan_to_num(-1.0, -1.0, -1.0)
                tensor[torch.unravel_index(torch.tensor(place), tensor.shape)] = elements[int(away.argmax())]
    return changed


def calls_here(device: Device, subject: Subject, case: Case, values: Sequence[Arguments]) -> Calls:
    """Make them in this process, with such `values_of` a case; after one that fails there are no more."""
    harness.repair()
    first, second, nearly, *left = values
    here, there = copied(first), copied(second)
    between = _between(subject, case, copied(first)) if subject.gradients else None
    plans: tuple[tuple[str, int, Arguments, Arguments | None], ...] = (
        ("the first call", 0, here, None),
        ("the same tensors with other values", 1, here, second),
        ("other tensors with the same values", 1, there, None),
        ("the very same tensors again", 1, there, None),
        ("the very same tensors with one element changed", 2, there, nearly),
        ("the first tensors with their first values", 0, here, first),
        *([(_BETWEEN, 1, copied(second), None)] if between is not None else []),
        *(
            ("others, with what the first call was to leave in those that it changes", LEFT, copied(one), None)
            for one in left
        ),
    )
    calls: list[Call] = []
    for way, number, arguments, filled in plans:
        if filled is None and number == 1 and not _are_same(arguments, second):
            filled = second  # the call before has changed them
        if filled is not None:
            arguments = _filled(arguments, filled)
        one = _called(
            device,
            subject,
            case,
            Call(way, number),
            arguments,
            is_traced=not calls,
            is_watched=len(calls) in _WATCHED,
            between=between if way == _BETWEEN else None,
        )
        calls.append(one)
        if one.error is not None:
            break
    if any(one.threads for one in calls):
        time.sleep(_GRACE)
    harness.repair()
    return Calls(tuple(calls), harness.replaced())


def _between(subject: Subject, case: Case, arguments: Arguments) -> Callable[[], object]:
    """Another call of the wrapper, without its backward pass."""
    positional, keywords = arguments
    return lambda: in_case(subject.function, case)(*positional, **keywords)


def _are_same(arguments: Arguments, others: Arguments) -> bool:
    pairs = zip(tensors_in(arguments), tensors_in(others), strict=False)
    return all(is_same(one, other) for one, other in pairs)


def _filled(arguments: Arguments, values: Arguments) -> Arguments:
    """The tensors of the first where they can hold what the second has, and all else of the second."""
    mine = iter(list(tensors_in(arguments)))

    def fill(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            target = next(mine, None)
            if target is None or target.shape != value.shape or target.dtype != value.dtype:
                return copied(value)
            if not _hold(target, value):
                return copied(value)
            return target
        if isinstance(value, Mapping):
            return {key: fill(member) for key, member in value.items()}
        if type(value) in (list, tuple):
            return type(value)(fill(member) for member in value)
        return value

    filled: Arguments = fill(values)
    return filled


def _hold(target: torch.Tensor, value: torch.Tensor) -> bool:
    """Give a tensor other elements; False where several of them share a place."""
    try:
        with torch.no_grad():
            target.copy_(value)
    except RuntimeError:
        return False
    return True


def _called(
    device: Device,
    subject: Subject,
    case: Case,
    one: Call,
    arguments: Arguments,
    *,
    is_traced: bool,
    is_watched: bool,
    between: Callable[[], object] | None,
) -> Call:
    """Make the call, and keep what is seen of it."""
    given = copied(arguments)
    one.inputs = tuple(_inputs(subject, arguments))
    for tensor in tensors_in(arguments):
        tensor.grad = None
    before, number = set(threading.enumerate()), _thread._count()
    with device.observing(How(is_checked=is_traced, is_traced=is_traced, is_watched=is_watched)) as observed:
        seed_torch(case.seed)
        provenance = Provenance(observed, list(tensors_in(arguments)), is_watched=is_watched)
        try:
            with _noting_threads(one.started), provenance:
                function = in_case(subject.function, case)
                passed = passed_in(case)
                returned = call(function, *arguments, gradients=subject.gradients, passed=passed, between=between)
        except OutOfTime:
            raise
        except BaseException as error:
            one.error = observed.failure or error
            one.ran = tuple(observed.ran)
            return one
        one.ran = tuple(observed.ran)
        if observed.failure is not None:
            one.error = one.fallback = observed.failure
            return one
        try:
            found = list(leaves(returned))
        except Unreadable as error:
            one.error = error
            return one
        one.strange = (*_strange(found, arguments), *_calling_when_read(returned))
        if not one.strange:
            results = results_of(subject, arguments, returned, given)
            one.results = tuple(Result(name, tensor, storage_address(tensor)) for name, tensor in results)
            one.kept = tuple(copied(result.tensor) for result in one.results)
            one.shares = tuple(_shares(provenance, one.results))
            one.on_their_way = observed.on_their_way(one.results, lambda: _again(subject, case, given))
        one.written = frozenset(provenance.written())
        one.arithmetic = provenance.arithmetic([result.tensor for result in one.results])
        one.unaccounted, one.altered = tuple(provenance.unaccounted), provenance.altered
        one.undefined = provenance.undefined
        one.computed = tuple(provenance.computed) if is_traced else ()
    one.threads = tuple(_new_threads(before, number))
    return one


def _again(subject: Subject, case: Case, given: Arguments) -> tuple[Result, ...]:
    """The results of a call with such arguments, of which nothing else is seen."""
    arguments = copied(given)
    function = in_case(subject.function, case)
    returned = call(function, *arguments, gradients=subject.gradients, passed=passed_in(case))
    results = results_of(subject, arguments, returned, given)
    return tuple(Result(name, tensor, storage_address(tensor)) for name, tensor in results)


@contextmanager
def _noting_threads(started: list[str]) -> Iterator[None]:
    """Note the names of threads that are started while this lasts, but for the CPU engine's own."""
    name = "_start_joinable_thread" if hasattr(threading, "_start_joinable_thread") else "_start_new_thread"
    start = getattr(threading, name)

    def noting(function: Any, *args: Any, **kwargs: Any) -> Any:
        thread = getattr(function, "__self__", None)
        target = getattr(thread, "_target", None)
        if not str(getattr(target, "__module__", "")).startswith("tritonaudit."):
            started.append(str(getattr(thread, "name", "without a name")))
        return start(function, *args, **kwargs)

    setattr(threading, name, noting)
    try:
        yield
    finally:
        setattr(threading, name, start)


def _new_threads(before: set[threading.Thread], number: int) -> Iterator[str]:
    """The threads that are there now and were not before, by name."""
    if _thread._count() <= number:
        return
    time.sleep(_GRACE)
    new = [_named(thread) for thread in threading.enumerate() if thread not in before]
    yield from new
    if not new and _thread._count() > number:
        yield "one without a name"


def _named(thread: threading.Thread) -> str:
    """Its name, or what it runs where it was given none."""
    usual = re.fullmatch(r"Thread-\d+(?: \((.*)\))?", thread.name)
    return f"`{thread.name if usual is None else usual[1] or 'run'}`"


def _inputs(subject: Subject, arguments: Arguments) -> Iterator[Input]:
    positional, keywords = arguments
    for place, value in (*enumerate(positional), *keywords.items()):
        shown = f"argument {place}" if isinstance(place, int) else f"`{place}`"
        for tensor in tensors_in(value):
            yield Input(shown, storage_address(tensor), place in subject.mutates)


def _shares(provenance: Provenance, results: Sequence[Result]) -> Iterator[Share]:
    for result in results:
        if not result.name.startswith("gradient"):
            is_foreign = not provenance.is_known(result.tensor)
            origins = provenance.origins(result.tensor)
            counts = {origin: int((origins == int(origin)).sum()) for origin in Origin}
            overwritten = provenance.overwritten(result.tensor)
            over = 0 if overwritten is None else int(overwritten.sum())
            yield Share(result.name, counts, provenance.operators(result.tensor), is_foreign, over)


def _strange(returned: Sequence[torch.Tensor], arguments: Arguments) -> Iterator[str]:
    """What is returned and no plain tensor: how it is not."""
    device = next((tensor.untyped_storage().device for tensor in tensors_in(arguments)), None)
    given = {type(tensor) for tensor in tensors_in(arguments)}
    for tensor in returned:
        if type(tensor) not in (*_PLAIN, *given):
            yield f"of the class `{type(tensor).__qualname__}`, which may compute whenever it is looked at"
            continue
        if tensor.layout != torch.strided:
            continue
        storage = tensor.untyped_storage()
        if storage.device.type == "meta":
            yield "on the meta device: it has a shape and no elements"
        elif device is not None and storage.device != device:
            yield f"on {storage.device}, and the inputs on {device}"
        elif storage.nbytes() < bytes_needed(tensor):
            yield f"a tensor of {bytes_needed(tensor):,} bytes over a storage of {storage.nbytes():,}"


def _calling_when_read(returned: Any) -> Iterator[str]:
    """What calls a function in whoever reads its pickle, rather than its class: the function's name."""
    for held in holders(returned):
        try:
            reduced = held.__reduce_ex__(_PICKLED)
            called = reduced[0] if isinstance(reduced, tuple) else type(held)
        except Exception:  # it has no pickle
            continue
        if not isinstance(called, type) and getattr(called, "__module__", "") != "copyreg":
            name = getattr(called, "__qualname__", type(called).__qualname__)
            yield f"held in a `{type(held).__qualname__}`, which has whoever reads its pickle call `{name}`"
