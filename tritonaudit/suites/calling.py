"""Calls a subject once, and tells what came of it. Imports torch: for processes in which user code runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Protocol

import torch

from tritonaudit.capture.launch import KernelRef, Launch
from tritonaudit.capture.time_limit import OutOfTime
from tritonaudit.simulator.faults import Fault
from tritonaudit.simulator.torch_memory import storage_address
from tritonaudit.subject.apart import Absent
from tritonaudit.subject.inputs import Arguments, Upstream, call, make_inputs, passed_in, seed, tensors_in
from tritonaudit.subject.kernelbench import buffers_in_case, in_case
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites import harness
from tritonaudit.suites.arithmetic import Operators
from tritonaudit.suites.far_inputs import NothingFar, far_inputs
from tritonaudit.suites.followed import Followed
from tritonaudit.suites.gaps import Gaps, gaps_in
from tritonaudit.suites.integers import Contents, contents_of

UPSTREAM = "the gradient that is passed backward"
"""How a report calls it."""
BESIDE = "memory beside the elements of "
"""How it calls what lies in an argument's storage and is none of its elements."""
_LARGE = 0.2
"""A part of the largest tensor that a call is given: what torch computes on less is no work."""


@dataclass(frozen=True)
class Ran:
    """A launch that was executed: what is wrong in it, and to which storages, by address, it may have written.

    `written` gives for each of them the place in the source where that is done: path, line and column. `elements` has
    of those where it is known which of their bytes were written. Where it was watched so closely `held` has a digest of
    each storage that it was given, as that was before, `sizes` its bytes, and `left` those of what it may have written.
    `undecided` says where what happens depends on what is not known. `site` is the line that launches it.
    """

    launch: Launch
    faults: tuple[Fault, ...] = ()
    written: Mapping[int, tuple[str, int, int]] = field(default_factory=dict)
    elements: Mapping[int, torch.Tensor] = field(default_factory=dict)
    held: Mapping[int, int] = field(default_factory=dict)
    sizes: Mapping[int, int] = field(default_factory=dict)
    left: Mapping[int, torch.Tensor] = field(default_factory=dict)
    undecided: tuple[Fault, ...] = ()
    site: tuple[str, int] | None = None


@dataclass
class Observed:
    """What is seen while a subject is called."""

    ran: list[Ran] = field(default_factory=list)
    failure: BaseException | None = None
    """Why a launch was not executed, which host code may have caught."""
    contents: Contents = field(default_factory=dict)
    """What tensors hold that have no memory."""

    def unwritten(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Which of a tensor's elements nobody has written, of its shape; None where all are, or that is not known."""
        return None

    def on_their_way(self, results: Sequence[Result], again: Callable[[], Sequence[Result]]) -> tuple[str, ...] | None:
        """Which results are written on a stream for which nobody waits who goes on where it was called, by name.

        To see that on a GPU the call is made `again`; None where it then fails, so that nobody knows.
        """
        return ()


@dataclass(frozen=True)
class Lost:
    """What the launch of a kernel did to the GPU, which nothing in this process can use any more."""

    kernel: KernelRef
    text: str


class Device(Protocol):
    """Where launches are executed: a GPU, or the CPU engine in its place."""

    name: str
    lost: Lost | None
    """Why nothing can be executed in this process any more."""
    is_engine: bool
    """Whether it is the CPU engine, which watches every access and can do without the tensors' memory."""
    is_outgrown: bool
    """Whether what was called needs more of a GPU than this process has: only another process can show what it does."""

    def observing(self, how: How) -> AbstractContextManager[Observed]:
        """While this lasts, launches are executed here, and observed."""


@dataclass(frozen=True)
class How:
    """How launches are executed: the order of their programs, which of an autotuner's configs, looking for faults.

    `is_traced` asks for the bytes that each launch writes, which on the CPU engine needs `is_checked`, and `is_watched`
    for what memory holds before and after it. Without memory tensors have sizes alone, and nothing but where accesses
    go is looked at. With names of `buffers` the call is one of a new model, whose buffers of these names are the
    results, and all others that it changes.
    """

    order: str | int = "forward"
    config: int = 0
    is_checked: bool = True
    is_traced: bool = False
    is_watched: bool = False
    has_memory: bool = True
    buffers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """A tensor that a call gives: returned, changed by intent, or an input's gradient, as `name` says.

    `storage` is the address of its storage where the call was made.
    """

    name: str
    tensor: torch.Tensor
    storage: int
    unwritten: torch.Tensor | None = None


@dataclass(frozen=True)
class Called:
    """What a call came to. `given` are its arguments as they were; `changed` are inputs, gradients that were passed
    backward, and memory beside the elements of inputs, that are others since.

    `error` is what it raised, and then there are no results. The process in which the call was made has been told of
    so many `multiprocessors`, or None for those of the GPU, and `asks_multiprocessors` where host code there has asked.
    `operators` of torch computed on the way, on much of what is given.
    """

    given: Arguments
    results: tuple[Result, ...]
    changed: tuple[Result, ...]
    ran: tuple[Ran, ...]
    error: BaseException | None = None
    multiprocessors: int | None = None
    asks_multiprocessors: bool = False
    operators: frozenset[str] = frozenset()

    def last_writer(self, result: Result) -> Ran | None:
        """The launch that wrote to a result last, else the last of all."""
        writers = [ran for ran in self.ran if result.storage in ran.written] or self.ran
        return writers[-1] if writers else None


Meanwhile = Callable[..., None]
"""What to do with the arguments of a call while it is made elsewhere."""


def nothing_meanwhile(*_: Arguments) -> None:
    """Wait for the call to be over."""


class Elsewhere(Protocol):
    """In the place of a wrapper that is called in a process of its own."""

    def called(
        self,
        subject: Subject,
        case: Case,
        how: How,
        arguments: Arguments | None = None,
        meanwhile: Meanwhile = nothing_meanwhile,
    ) -> Called:
        """What calling it there comes to, on the arguments, or else on those that the case gives."""

    def calls(
        self,
        subject: Subject,
        case: Case,
        values: Sequence[Arguments],
        draw: int,
        meanwhile: Meanwhile = nothing_meanwhile,
    ) -> Any:
        """What the `Calls` of integrity come to there."""


def call_subject(
    device: Device,
    subject: Subject,
    case: Case,
    how: How = How(),
    arguments: Arguments | None = None,
    meanwhile: Meanwhile = nothing_meanwhile,
) -> Called:
    """Call the subject's wrapper on the arguments, or else on the inputs of a case.

    What user code raises is part of the answer. Where another process makes the call there is a `meanwhile`.
    """
    if isinstance(subject.function, Absent):
        caller: Elsewhere = subject.function.caller
        return caller.called(subject, case, how, arguments, meanwhile)
    called = called_here(device, subject, case, how, arguments)
    harness.repair()
    return called


def called_here(device: Device, subject: Subject, case: Case, how: How, arguments: Arguments | None = None) -> Called:
    """What calling the wrapper in this process comes to, on the arguments, or else on those that the case gives."""
    with device.observing(how) as observed:
        if not how.has_memory:
            try:
                arguments, observed.contents = _hollow(subject, case)
            except NothingFar as error:
                return Called(((), {}), (), (), (), error)
        elif arguments is None:
            arguments = make_inputs(subject, case)
        else:
            seed(case)
        given = copied(arguments) if how.has_memory else arguments
        gaps = tuple(gaps_in([(name, one) for name, _, one in named_tensors(arguments)])) if how.has_memory else ()
        function, operators = in_case(subject.function, case), Operators()
        upstream: list[Upstream] = []
        if how.buffers:
            function = buffers_in_case(subject.function, case, how.buffers)
        with operators if how.has_memory else Followed(observed):
            try:
                returned = call(
                    function, *arguments, gradients=subject.gradients, passed=passed_in(case), upstream=upstream
                )
            except OutOfTime:
                raise
            except BaseException as error:
                return Called(given, (), (), tuple(observed.ran), observed.failure or error)
        if observed.failure is not None:
            return Called(given, (), (), tuple(observed.ran), observed.failure)
        if not how.has_memory:
            return Called(given, (), (), tuple(observed.ran))
        try:
            found = list(leaves(returned))
        except Unreadable as error:
            return Called(given, (), (), tuple(observed.ran), error)
        if any(map(_lacks_elements, found)):
            hollow = ValueError("what it returns has a shape, and no memory for its elements")
            return Called(given, (), (), tuple(observed.ran), hollow)
        named = returned.items() if how.buffers else results_of(subject, arguments, returned, given)
        results = tuple(
            Result(name, tensor, storage_address(tensor), observed.unwritten(tensor)) for name, tensor in named
        )
        changed = (*_changed(subject, arguments, given), *_changed_gaps(gaps), *_changed_upstream(upstream))
        large = _LARGE * max((one.numel() for one in tensors_in(given)), default=0)
        return Called(given, results, changed, tuple(observed.ran), operators=operators.of_at_least(large))


def _hollow(subject: Subject, case: Case) -> tuple[Arguments, Contents]:
    """The arguments without memory, and what is known of what they hold."""
    if case.far:
        return far_inputs(subject, case)
    arguments = make_inputs(subject, case)
    return arguments, contents_of(subject, case, arguments)


def results_of(
    subject: Subject,
    arguments: Arguments,
    returned: Any,
    given: Arguments,
    number: int | None = None,
    *,
    of_same: bool = False,
) -> Iterator[tuple[str, torch.Tensor]]:
    """What a call gave, by name: what it returned, once, and arguments that it changes by intent, and gradients.

    Where it returns something else as well, those that it changes count if any of them is another than what was `given`
    in the end: a reference may give again what the wrapper changes. Where that is not the `number` that another call
    gave, it is settled by this: what changes may stay as it is on other numbers, and be returned besides. A change that
    is not among that number is left out only if the other call was one `of_same` function.
    """
    named = list(named_tensors(arguments))
    by_intent = [(name, tensor) for name, place, tensor in named if place in subject.mutates]
    gradients = [
        (f"gradient of {name}", tensor.grad)
        for name, _, tensor in named
        if subject.gradients and tensor.requires_grad and tensor.grad is not None
    ]
    known = {_place(tensor) for _, tensor in by_intent}
    everything = list(leaves(returned))
    others = [tensor for tensor in everything if _place(tensor) not in known]
    before = {name: tensor for name, _, tensor in named_tensors(given)}
    is_counted = not others or any(_is_another(tensor, before[name]) for name, tensor in by_intent)
    ways = [(others, is_counted), (others, not is_counted or not of_same), (everything, True)]
    wanted = None if number is None else number - len(gradients)
    fits = ((some, counted) for some, counted in ways if len(some) + counted * len(by_intent) == wanted)
    outputs, is_counted = next(fits, ways[0])
    for place, tensor in enumerate(outputs):
        yield ("output" if len(outputs) == 1 else f"output {place}"), tensor.detach()
    if is_counted:
        yield from ((name, tensor.detach()) for name, tensor in by_intent)
    yield from gradients


def bytes_needed(tensor: torch.Tensor) -> int:
    """How large a storage must be to hold all elements."""
    if not tensor.numel():
        return 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return int((tensor.storage_offset() + last + 1) * tensor.element_size())


def _lacks_elements(tensor: torch.Tensor) -> bool:
    if tensor.layout != torch.strided:
        return False
    storage = tensor.untyped_storage()
    return bool(storage.device.type == "meta" or storage.nbytes() < bytes_needed(tensor))


def copied(value: Any) -> Any:
    """The same, every tensor a copy of its own."""
    if isinstance(value, torch.Tensor):
        copy = value.detach().clone()
        return copy.requires_grad_() if value.requires_grad else copy
    if isinstance(value, Mapping):
        return {key: copied(member) for key, member in value.items()}
    if type(value) in (list, tuple):
        return type(value)(copied(member) for member in value)
    return value


def is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are of one type and shape, and have the same bits."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return bool(torch.equal(bits(one), bits(other)))


def _is_another(one: torch.Tensor, before: torch.Tensor) -> bool:
    """Whether a tensor holds other numbers; NaN in place of NaN is none."""
    if one.shape != before.shape or one.dtype != before.dtype:
        return True
    is_other = bits(one) != bits(before)
    if one.is_floating_point():
        wide, old = one.detach().contiguous().float(), before.detach().contiguous().float()
        is_other &= ~(wide.isnan() & old.isnan())
    return bool(is_other.any())


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The elements as integers of their size."""
    plain = tensor.detach().contiguous()
    if plain.dtype.is_complex:
        plain = torch.view_as_real(plain)
    sizes = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return plain.view(sizes[plain.element_size()])


def _changed(subject: Subject, arguments: Arguments, given: Arguments) -> Iterator[Result]:
    for (name, place, tensor), (_, _, before) in zip(named_tensors(arguments), named_tensors(given), strict=True):
        if place not in subject.mutates and not is_same(tensor, before):
            yield Result(name, tensor.detach(), storage_address(tensor))


def _changed_gaps(gaps: Sequence[Gaps]) -> Iterator[Result]:
    for one in gaps:
        if one.have_changed:
            yield Result(f"{BESIDE}{one.name}", one.tensor.detach(), storage_address(one.tensor))


def _changed_upstream(upstream: Sequence[Upstream]) -> Iterator[Result]:
    for one in upstream:
        if not is_same(one.tensor, one.before):
            yield Result(UPSTREAM, one.tensor, storage_address(one.tensor))


def named_tensors(arguments: Arguments) -> Iterator[tuple[str, int | str, torch.Tensor]]:
    """Every tensor among the arguments: how a report calls it, its place or keyword, and itself."""
    positional, keywords = arguments
    placed: list[tuple[int | str, Any]] = [*enumerate(positional), *keywords.items()]
    for place, value in placed:
        found = list(tensors_in(value))
        for number, tensor in enumerate(found):
            shown = f"argument {place}" if isinstance(place, int) else f"`{place}`"
            yield (shown if len(found) == 1 else f"{shown} [{number}]"), place, tensor


class Unreadable(TypeError):
    """Something is returned of which nobody can tell the results."""


def leaves(returned: Any) -> Iterator[torch.Tensor]:
    """The tensors that were returned, and numbers as tensors, in whatever holds them. Raises Unreadable."""
    if isinstance(returned, torch.Tensor):
        yield returned
    elif isinstance(returned, (bool, int, float, complex)):
        yield torch.tensor(returned)
    elif returned is not None and not isinstance(returned, (str, bytes)):
        for member in _members(returned):
            yield from leaves(member)


def holders(returned: Any) -> Iterator[Any]:
    """What was returned, if that holds others, and all that hold others in it. Raises Unreadable."""
    if returned is not None and not isinstance(returned, (torch.Tensor, bool, int, float, complex, str, bytes)):
        yield returned
        for member in _members(returned):
            yield from holders(member)


def _members(held: Any) -> Iterable[Any]:
    """What it holds, asked of the class that holds it, and not of one that is derived from that."""
    if isinstance(held, dict):
        return dict.values(held)
    if isinstance(held, list):
        return list.__iter__(held)
    if isinstance(held, tuple):
        return tuple.__iter__(held)
    if is_dataclass(held) and not isinstance(held, type):
        return [object.__getattribute__(held, one.name) for one in fields(held)]
    if isinstance(held, Mapping):
        return list(held.values())
    raise Unreadable(f"it gives a `{type(held).__qualname__}`, whose results cannot be identified")


def _place(tensor: torch.Tensor) -> tuple[int, int]:
    return tensor.untyped_storage().data_ptr(), tensor.storage_offset()
