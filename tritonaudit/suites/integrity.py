"""Tries whether a subject's results are made by its kernels, in each call, from what the call is given.

A subject can give right results and still not be what it says: torch does the work, a result is kept from an earlier
call, the output is somebody else's memory. A case is called several times, with the same tensors and with others, with
the same values and with others, and what happens beside the launches is watched. No reference is run before the last
call, so that none of its results lies about in memory. Imports torch: for workers.
"""

from __future__ import annotations

import _thread
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from tritonaudit.capture.launch import KernelRef
from tritonaudit.capture.time_limit import OutOfTime
from tritonaudit.execute.blame import described
from tritonaudit.finding import Status
from tritonaudit.simulator.live import NoProgram
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.torch_memory import storage_address
from tritonaudit.subject.inputs import Arguments, call, make_inputs, tensors_in
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites import harness
from tritonaudit.suites.calling import Device, How, Ran, bytes_needed, copied, is_same, results_of
from tritonaudit.suites.correctness import why_refused
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.garbage import garbage
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.provenance import Computed, Origin, Provenance
from tritonaudit.suites.references import References, references
from tritonaudit.suites.wrapper import wrapper_ref

SYMPTOMS = (
    Symptom.NO_KERNEL,
    Symptom.TORCH_WORK,
    Symptom.STALE,
    Symptom.ALIASED,
    Symptom.NO_TENSOR,
    Symptom.THREAD,
    Symptom.PATCHED,
    Symptom.WEAK_REFERENCE,
)
_LARGE_SHARE, _SHARE = 0.5, 0.2
"""Of a result's elements, made by torch alone: for certain too many, and worth a warning."""
_GRACE = 0.02
"""Seconds for a thread that has done its work to end, and for one that has not to go on."""
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def integrity(device: Device, subject: Subject, case: Case) -> CaseOutcome:
    """Call the subject on a case again and again, and look at what its results are and where they come from."""
    harness.repair()
    started = time.perf_counter()
    calls = _calls(device, subject, case)
    harness.repair()
    patched = [_patched(subject, one.name, one.place) for one in harness.replaced()]
    first = calls[0]
    if isinstance(first.error, NotSimulated):
        reason = str(first.error)
        left = tuple((symptom, reason) for symptom in SYMPTOMS if symptom is not Symptom.PATCHED)
        return CaseOutcome(case, frozenset((Symptom.PATCHED,)), tuple(patched), left)
    if first.error is not None and first.fallback is None and not first.strange:  # which the case's own call tells
        why = "" if device.lost else why_refused(subject, case, first.given, first.error)
        left = tuple((symptom, why) for symptom in SYMPTOMS if why and symptom is not Symptom.PATCHED)
        return CaseOutcome(case, frozenset((Symptom.PATCHED,)), tuple(patched), left, is_refused=bool(why))
    outcome = _judged(device, subject, case, calls)
    return replace(
        outcome,
        checked=outcome.checked | {Symptom.PATCHED},
        sightings=(*patched, *outcome.sightings),
        kernels=tuple(dict.fromkeys(ran.launch.kernel for one in calls for ran in one.ran)),
        seconds=time.perf_counter() - started,
    )


def _patched(subject: Subject, name: str, place: tuple[str, int] | None) -> Sighting:
    text = f"`{name}`, which tells whether a result is right, is another function once the subject's code has run"
    wrapper = wrapper_ref(subject)
    return Sighting(Symptom.PATCHED, wrapper, None if place is None else (*place, 1), text)


# -- the calls ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Share:
    """A result, by name: how many of its elements come from where, and by which operators of torch.

    `is_foreign`: of its memory nothing at all was seen.
    """

    name: str
    counts: Mapping[Origin, int]
    operators: frozenset[str]
    is_foreign: bool

    @property
    def elements(self) -> int:
        return sum(self.counts.values())


@dataclass(eq=False)
class _Call:
    """One of the calls: `way` says how it was made. `given` are its arguments as they were, `values` which they are.

    `results` are what it gave, and `kept` copies of them as they were then. `started` are the threads that it
    starts, `threads` those that are there when it is over.
    """

    way: str
    values: int
    given: Arguments
    arguments: Arguments
    results: tuple[tuple[str, torch.Tensor], ...] = ()
    kept: tuple[torch.Tensor, ...] = ()
    ran: tuple[Ran, ...] = ()
    error: BaseException | None = None
    fallback: BaseException | None = None
    strange: tuple[str, ...] = ()
    started: list[str] = field(default_factory=list)
    threads: tuple[str, ...] = ()
    shares: tuple[_Share, ...] = ()
    computed: tuple[Computed, ...] = ()
    written: frozenset[int] = frozenset()


def _calls(device: Device, subject: Subject, case: Case) -> list[_Call]:
    """The calls, in their order; after one that fails there are no more."""
    other = replace(case, seed=case.seed + 1)
    with device.observing(How(is_checked=False)):
        here = make_inputs(subject, case)
        first = copied(here)
        second = copied(make_inputs(subject, other))
        there = copied(second)
    plans: tuple[tuple[str, int, Arguments, Arguments | None], ...] = (
        ("the first call", 0, here, None),
        ("the same tensors with other values", 1, here, second),
        ("other tensors with the same values", 1, there, None),
        ("the very same tensors again", 1, there, None),
        ("the first tensors with their first values", 0, here, first),
    )
    calls: list[_Call] = []
    for way, values, arguments, filled in plans:
        if filled is None and calls and not _are_same(arguments, second):
            filled = second  # the call before has changed them
        if filled is not None:
            arguments = _filled(arguments, filled)
        one = _called(device, subject, case, _Call(way, values, copied(arguments), arguments), is_traced=not calls)
        calls.append(one)
        if one.error is not None:
            break
    if any(one.threads for one in calls):
        time.sleep(_GRACE)
    return calls


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


def _called(device: Device, subject: Subject, case: Case, one: _Call, *, is_traced: bool) -> _Call:
    """Make the call, and keep what is seen of it."""
    for tensor in tensors_in(one.arguments):
        tensor.grad = None
    before, number = set(threading.enumerate()), _thread._count()
    with device.observing(How(is_checked=is_traced, is_traced=is_traced)) as observed:
        torch.manual_seed(case.seed)
        provenance = Provenance(observed, list(tensors_in(one.arguments)))
        try:
            with _noting_threads(one.started), provenance:
                returned = call(subject.function, *one.arguments, gradients=subject.gradients)
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
        one.strange = tuple(_strange(returned, one.arguments))
        if not one.strange:
            one.results = tuple(results_of(subject, one.arguments, returned, one.given))
            one.kept = tuple(copied(tensor) for _, tensor in one.results)
            one.shares = tuple(_shares(provenance, one.results))
        one.written = frozenset(provenance.written())
        one.computed = tuple(provenance.computed) if is_traced else ()
    one.threads = tuple(_new_threads(before, number))
    return one


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


def _shares(provenance: Provenance, results: Sequence[tuple[str, torch.Tensor]]) -> Iterator[_Share]:
    for name, tensor in results:
        if not name.startswith("gradient"):
            is_foreign = not provenance.is_known(tensor)
            origins = provenance.origins(tensor)
            counts = {origin: int((origins == int(origin)).sum()) for origin in Origin}
            yield _Share(name, counts, provenance.operators(tensor), is_foreign)


def _strange(returned: Any, arguments: Arguments) -> Iterator[str]:
    """What is returned and no plain tensor: how it is not."""
    device = next((tensor.untyped_storage().device for tensor in tensors_in(arguments)), None)
    given = {type(tensor) for tensor in tensors_in(arguments)}
    for tensor in tensors_in(returned):
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


# -- what they show ----------------------------------------------------------------------------------------------------


def _judged(device: Device, subject: Subject, case: Case, calls: Sequence[_Call]) -> CaseOutcome:
    first = calls[0]
    if first.fallback is not None or first.strange:
        found = [*_fallback(calls), *_no_tensor(first)]
        checked = frozenset(symptom for symptom, _, _ in found)
        return CaseOutcome(case, checked, tuple(_sightings(wrapper_ref(subject), found)))
    answers, missing = _answers(subject, case, calls)
    weak = list(_weak(first, answers))
    found = [
        *_no_kernel(first),
        *_torch_work(first, answers, is_weak=bool(weak)),
        *_stale(calls, answers),
        *_aliased(subject, calls),
        *_beside(subject, calls),
        *((Symptom.WEAK_REFERENCE, text, True) for text in weak[:1]),
    ]
    unchecked = [(Symptom.THREAD, f"streams, which are not watched on the {device.name}")]
    if missing:
        unchecked.append((Symptom.WEAK_REFERENCE, missing))
    checked = frozenset(symptom for symptom in SYMPTOMS if symptom is not Symptom.WEAK_REFERENCE or not missing)
    return CaseOutcome(case, checked, tuple(_sightings(wrapper_ref(subject), found)), tuple(unchecked))


def _answers(subject: Subject, case: Case, calls: Sequence[_Call]) -> tuple[dict[int, References], str]:
    """What the reference gives for the first and for the other values; if it does not, why."""
    if subject.reference is None:
        return {}, "the subject has no reference"
    found = {one.values: references(subject, one.given, case) for one in calls[:2]}
    if not found[0].same:
        return {}, found[0].reason
    if len(found[0].same) != len(calls[0].results):
        return {}, "the reference gives another number of tensors"
    return found, ""


_Seen = tuple[Symptom, str, bool]
"""What is wrong, in words, and whether that is certain."""


def _sightings(wrapper: KernelRef, found: Sequence[_Seen]) -> Iterator[Sighting]:
    """One of each symptom: the first that is certain, else the first."""
    for symptom in dict.fromkeys(symptom for symptom, _, _ in found):
        alike = [one for one in found if one[0] is symptom]
        _, text, is_certain = next((one for one in alike if one[2]), alike[0])
        yield Sighting(symptom, wrapper, None, text, is_certain)


def _elements(one: _Call) -> int:
    return sum(tensor.numel() for _, tensor in one.results)


def _fallback(calls: Sequence[_Call]) -> Iterator[_Seen]:
    for one in calls:
        if one.fallback is not None and not isinstance(one.fallback, NotSimulated):
            failure = str(one.fallback) if isinstance(one.fallback, NoProgram) else described(one.fallback)
            text = f"a launch fails ({failure}), and the wrapper goes on without it"
            yield Symptom.TORCH_WORK, text, True


def _no_tensor(first: _Call) -> Iterator[_Seen]:
    for how in dict.fromkeys(first.strange):
        yield Symptom.NO_TENSOR, f"the output is {how}", True


def _no_kernel(first: _Call) -> Iterator[_Seen]:
    """No launch where there is something to compute: views that the reference gives as well are no work."""
    if first.ran or first.fallback is not None or not _elements(first) or _gives_views(first):
        return
    operators = sorted({one.operator for one in first.computed})
    instead = f", and computes with {_listed(operators)} of torch" if operators else ""
    yield Symptom.NO_KERNEL, f"the call launches no kernel{instead}", True


def _gives_views(one: _Call) -> bool:
    """Whether all that a call gives is, unchanged, memory that it was given."""
    inputs = {storage_address(tensor) for tensor in tensors_in(one.arguments)}
    return all(storage_address(tensor) in inputs - one.written for _, tensor in one.results)


def _torch_work(first: _Call, answers: Mapping[int, References], *, is_weak: bool) -> Iterator[_Seen]:
    """Elements that come from operators of torch alone, or from nothing that was seen."""
    total = sum(share.elements for share in first.shares)
    if not first.ran or not total:
        return
    for origin in (Origin.TORCH, Origin.UNSEEN):
        parts = [one for one in first.shares if one.counts[origin] and (origin is Origin.TORCH or one.is_foreign)]
        share = sum(part.counts[origin] for part in parts) / total
        if share < _SHARE:
            continue
        operators = sorted({operator for part in parts for operator in part.operators})
        by = f"by {_listed(operators)} of torch"
        if origin is Origin.UNSEEN:
            by = (
                "in a thread of the call's" if first.started else "by what is neither a launch nor an operator of torch"
            )
        text = f"{share:.0%} of the elements of {' and '.join(part.name for part in parts)} are made {by}"
        is_certain = origin is Origin.TORCH or bool(first.started)
        yield Symptom.TORCH_WORK, text, is_certain and share >= _LARGE_SHARE
    if is_weak or not answers:
        return
    for number, (name, tensor) in enumerate(first.results):
        if tensor.numel() >= _LARGE_SHARE * total and not name.startswith("gradient"):
            yield from _answered(name, tensor, number, first.computed, answers[0])


def _answered(
    name: str, tensor: torch.Tensor, number: int, computed: Sequence[Computed], answer: References
) -> Iterator[_Seen]:
    """An operator of torch whose result is the call's, whatever the kernels do with it then."""
    for one in computed:
        if one.result.numel() != tensor.numel() or _is_constant(one.result):
            continue
        candidate = one.result.to(tensor.dtype).reshape(tensor.shape)
        if is_same(candidate, tensor):
            yield Symptom.TORCH_WORK, f"{name} is, bit for bit, what `{one.operator}` of torch gives in the call", True
        elif answer.yardstick(number).judge(candidate).status is Status.PASS:
            text = f"what `{one.operator}` of torch gives in the call is right as {name}, before any kernel touches it"
            yield Symptom.TORCH_WORK, text, False


def _is_constant(tensor: torch.Tensor) -> bool:
    return tensor.numel() > 1 and bool((tensor == tensor.flatten()[0]).all())


# -- results of other calls --------------------------------------------------------------------------------------------


def _stale(calls: Sequence[_Call], answers: Mapping[int, References]) -> Iterator[_Seen]:
    first = calls[0]
    if first.fallback is not None:
        return
    for number, one in enumerate(calls[1:], 2):
        said = f"call {number} ({one.way})"
        if one.error is not None:
            if not isinstance(one.error, NotSimulated):
                yield Symptom.STALE, f"{said} fails where the first does not: calling it {described(one.error)}", True
            return
        if first.ran and not one.ran and _elements(one):
            yield Symptom.STALE, f"{said} launches no kernel, as the first call did", True
    right = _which_are_right(calls, answers)
    if not right[0]:
        return
    for number, one in enumerate(calls[1:], 2):
        if right[number - 1] is not False:
            continue
        said = f"call {number} ({one.way})"
        again = _repeated(one, calls[: number - 1])
        if again is not None:
            yield Symptom.STALE, f"{said} gives the result of call {again + 1} again, whose values were others", True
        elif any(ok for other, ok in zip(calls, right, strict=True) if other.values == one.values):
            right_one = next(n for n, other in enumerate(calls) if other.values == one.values and right[n])
            text = f"{said} gives a wrong result, and call {right_one + 1} a right one for the same values"
            yield Symptom.STALE, text, True
        else:
            text = f"{said} gives a wrong result, and the first call a right one for its values"
            yield Symptom.STALE, text, False


def _which_are_right(calls: Sequence[_Call], answers: Mapping[int, References]) -> list[bool | None]:
    """Whether each call's results are the reference's; the same ones for the same values are judged once."""
    right: list[bool | None] = []
    for number, one in enumerate(calls):
        earlier = (n for n, other in enumerate(calls[:number]) if other.values == one.values and _are_kept(one, other))
        known = next(earlier, None)
        right.append(_is_right(one, answers) if known is None else right[known])
    return right


def _are_kept(one: _Call, other: _Call) -> bool:
    """Whether two calls gave the same results, to the bit."""
    return len(one.kept) == len(other.kept) and all(map(is_same, one.kept, other.kept))


def _is_right(one: _Call, answers: Mapping[int, References]) -> bool | None:
    """Whether the results are the reference's; None where that cannot be told."""
    answer = answers.get(one.values)
    if answer is None or len(answer.same) != len(one.kept):
        return None
    verdicts = [answer.yardstick(number).judge(tensor).status for number, tensor in enumerate(one.kept)]
    return Status.FAIL not in verdicts


def _repeated(one: _Call, earlier: Sequence[_Call]) -> int | None:
    """The earlier call, of other values, whose results these are."""
    for number, other in enumerate(earlier):
        if other.values != one.values and _are_kept(one, other):
            return number
    return None


# -- memory and threads ------------------------------------------------------------------------------------------------


def _aliased(subject: Subject, calls: Sequence[_Call]) -> Iterator[_Seen]:
    first = calls[0]
    inputs = {storage_address(tensor): name for name, tensor in _unchanging(subject, first.arguments)}
    for name, tensor in _own_results(subject, first):
        address = storage_address(tensor)
        if address in inputs and address in first.written:
            yield Symptom.ALIASED, f"{name} is the memory of {inputs[address]}, which the call writes to", True
    for number, one in enumerate(calls):
        for name, tensor, kept in _foreign_results(subject, one, calls):
            later = next((n for n in range(number + 1, len(calls)) if _shares_memory(tensor, calls[n])), None)
            if later is not None and not is_same(tensor, kept):
                text = f"{name} of call {number + 1} is overwritten by call {later + 1}, which returns the same memory"
                yield Symptom.ALIASED, text, True


def _beside(subject: Subject, calls: Sequence[_Call]) -> Iterator[_Seen]:
    for number, one in enumerate(calls):
        for name, tensor, kept in _foreign_results(subject, one, calls):
            is_reused = any(_shares_memory(tensor, other) for other in calls[number + 1 :])
            if not is_reused and not is_same(tensor, kept):
                yield Symptom.THREAD, f"{name} is another one after call {number + 1} has returned", True
    started = [one for one in calls if one.threads]
    if started:
        names = started[0].threads
        text = f"threads that it has started still run when it returns: {', '.join(names)}"
        yield Symptom.THREAD, text, len(started) > 1


def _unchanging(subject: Subject, arguments: Arguments) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors that the wrapper may not change, each with its name."""
    positional, keywords = arguments
    for place, value in (*enumerate(positional), *keywords.items()):
        if place not in subject.mutates:
            shown = f"argument {place}" if isinstance(place, int) else f"`{place}`"
            yield from ((shown, tensor) for tensor in tensors_in(value))


def _own_results(subject: Subject, one: _Call) -> Iterator[tuple[str, torch.Tensor]]:
    """What was returned, without gradients and what is changed by intent."""
    by_intent = {storage_address(tensor) for tensor in tensors_in(one.arguments)} - {
        storage_address(tensor) for _, tensor in _unchanging(subject, one.arguments)
    }
    for name, tensor in one.results:
        if not name.startswith("gradient") and tensor.numel() and storage_address(tensor) not in by_intent:
            yield name, tensor


def _foreign_results(
    subject: Subject, one: _Call, calls: Sequence[_Call]
) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """What was returned and is no memory of any call's arguments, and how it was then."""
    given = {storage_address(tensor) for other in calls for tensor in tensors_in(other.arguments)}
    for (name, tensor), kept in zip(one.results, one.kept, strict=False):
        if not name.startswith("gradient") and tensor.numel() and storage_address(tensor) not in given:
            yield name, tensor, kept


def _shares_memory(tensor: torch.Tensor, later: _Call) -> bool:
    return any(storage_address(tensor) == storage_address(other) for _, other in later.results)


# -- the reference -----------------------------------------------------------------------------------------------------


def _weak(first: _Call, answers: Mapping[int, References]) -> Iterator[str]:
    """What passes for a result and is computed from nothing."""
    answer = answers.get(0)
    if answer is None:
        return
    for number, (name, tensor) in enumerate(first.results):
        precise, same, _ = answer.of(number)
        if not tensor.numel() or tensor.dtype != same.dtype:
            continue
        for kind, candidate in garbage(precise, tensor.dtype):
            if tensor.numel() == 1 and kind != "zeros":
                continue
            if not answer.yardstick(number).rejects(candidate):
                yield f"{kind} would pass as {name}: that it passes proves nothing"
                break


def _listed(operators: Sequence[str]) -> str:
    return ", ".join(f"`{operator}`" for operator in operators[:4]) + (" and others" if len(operators) > 4 else "")
