"""Tries whether a subject's results are made by its kernels, in each call, from what the call is given.

A subject can give right results and still not be what it says: torch does the work, a result is kept from an earlier
call, the output is somebody else's memory. What calls made and what happened beside their launches is held against the
reference, which is run after the last of them. Imports torch: for workers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tritonaudit.capture.launch import KernelRef
from tritonaudit.execute.blame import described
from tritonaudit.simulator.live import NoProgram
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.subject.apart import Absent
from tritonaudit.subject.inputs import Arguments, call
from tritonaudit.subject.kernelbench import in_case
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.arithmetic import Spent
from tritonaudit.suites.buffers import Effects, compare_buffers
from tritonaudit.suites.calling import Device, Meanwhile, copied, is_same, nothing_meanwhile
from tritonaudit.suites.calls import Call, Calls, calls_here, values_of
from tritonaudit.suites.correctness import why_refused
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.harness import Replaced
from tritonaudit.suites.kept_results import foreign_results, in_memory_of_others, kept_from_earlier, shares_memory
from tritonaudit.suites.outcome import CaseOutcome, Said, Sighting
from tritonaudit.suites.references import Ahead, References, arithmetic_of
from tritonaudit.suites.sentences import listed
from tritonaudit.suites.uncompared import gives_back
from tritonaudit.suites.weak_reference import are_weighed, is_shown_elsewhere, why_blind, why_weak
from tritonaudit.suites.whose_work import (
    counted_as_work,
    numbers_passed,
    only_moved,
    torch_arithmetic,
    torch_work,
    unknown_arithmetic,
    unseen_writers,
    why_untold,
)
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
_OF_CALLS = tuple(symptom for symptom in SYMPTOMS if symptom is not Symptom.PATCHED)
_ALIKE = "the values of the inputs are special, so they show nothing"


def integrity(device: Device, subject: Subject, case: Case, draw: int = 0) -> CaseOutcome:
    """Call the subject on a case again and again, and look at what its results are and where they come from.

    What changes from call to call that nobody is to foresee is drawn.
    """
    started = time.perf_counter()
    given = values_of(device, subject, case, draw)
    given = (*given, *_left(subject, case, given))
    ahead = Ahead(subject, case)
    made = calls_of(device, subject, case, given, draw, ahead.find if _is_decisive(case) else nothing_meanwhile)
    outcome = _outcome(device, subject, case, made.calls, given, ahead)
    doubt = subject.function.doubt if isinstance(subject.function, Absent) else ""
    unvouched = ((Symptom.PATCHED, f"what judges it cannot be separated from it: {doubt}"),) if doubt else ()
    return replace(
        outcome,
        checked=outcome.checked if doubt else outcome.checked | {Symptom.PATCHED},
        unchecked=(*outcome.unchecked, *unvouched),
        sightings=(*(_patched(subject, one) for one in made.replaced), *outcome.sightings),
        kernels=tuple(dict.fromkeys(ran.launch.kernel for one in made.calls for ran in one.ran)),
        seconds=time.perf_counter() - started,
    )


def _left(subject: Subject, case: Case, given: Sequence[Arguments]) -> Iterator[Arguments]:
    """Other values, beside what the reference leaves of the first in the arguments that are changed by intent.

    A cache or a workspace comes to the next call like that: nobody makes a new one for each.
    """
    if subject.reference is None or not subject.mutates:
        return
    (positional, keywords), (others, named) = copied(given[0]), copied(given[1])
    try:
        call(in_case(subject.reference, case), positional, keywords, gradients=False)
    except Exception:  # which other calls tell
        return
    kept = [
        one if place in subject.mutates else other
        for place, (one, other) in enumerate(zip(positional, others, strict=True))
    ]
    yield tuple(kept), {name: keywords[name] if name in subject.mutates else one for name, one in named.items()}


def _outcome(
    device: Device, subject: Subject, case: Case, calls: Sequence[Call], given: Sequence[Arguments], ahead: Ahead
) -> CaseOutcome:
    first = calls[0]
    if isinstance(first.error, NotSimulated):
        return CaseOutcome(case, frozenset(), unchecked=tuple((symptom, str(first.error)) for symptom in _OF_CALLS))
    if first.error is not None and first.fallback is None and not first.strange:  # which the case's own call tells
        why = "" if device.lost else why_refused(subject, case, given[0], first.error)
        left = tuple((symptom, why) for symptom in _OF_CALLS if why)
        return CaseOutcome(case, frozenset(), unchecked=left, is_refused=bool(why))
    return _judged(device, subject, case, calls, given, ahead)


def calls_of(
    device: Device, subject: Subject, case: Case, values: Sequence[Arguments], draw: int, meanwhile: Meanwhile
) -> Calls:
    """Make the calls where the wrapper is, with the values of these arguments, of which something was drawn."""
    if isinstance(subject.function, Absent):
        made: Calls = subject.function.caller.calls(subject, case, values, draw, meanwhile)
        return made
    return calls_here(device, subject, case, values)


def _patched(subject: Subject, one: Replaced) -> Sighting:
    if one.is_setting:
        text = f"`{one.name}`, a setting of the whole process, is different once the subject's code has run"
    else:
        judging = f"`{one.name}`, which decides whether a result is right,"
        text = f"{judging} is a different function once the subject's code has run"
    wrapper = wrapper_ref(subject)
    return Sighting(Symptom.PATCHED, wrapper, None if one.place is None else (*one.place, 1), text)


def _judged(
    device: Device, subject: Subject, case: Case, calls: Sequence[Call], given: Sequence[Arguments], ahead: Ahead
) -> CaseOutcome:
    first = calls[0]
    if first.fallback is not None or first.strange:
        found = [*_fallback(calls), *_no_tensor(first)]
        checked = frozenset(symptom for symptom, _, _ in found)
        return CaseOutcome(case, checked, tuple(_sightings(wrapper_ref(subject), found)))
    is_decisive = _is_decisive(case)
    answers, missing = _answers(subject, calls, given, ahead) if is_decisive else ({}, _ALIKE)
    weak = [text for number, text in why_weak(first, answers) if not is_shown_elsewhere(device, subject, case, number)]
    effects = compare_buffers(device, subject, case, given[0]) if 0 in answers else Effects()
    blind = [*filter(None, (effects.uncompared,)), *why_blind(subject, case, given, answers)] if not weak else []
    made = counted_as_work(first.arithmetic, first)
    has_reference = subject.reference is not None and bool(first.ran) and made != Spent()
    wanted = counted_as_work(arithmetic_of(subject, given[0], case), first) if has_reference else Spent()
    found = [
        *_no_kernel(first),
        *torch_work(calls, answers, is_weak=bool(weak)),
        *only_moved(subject, case, first, given[0]),
        *torch_arithmetic(subject, made, wanted),
        *unseen_writers(calls),
        *numbers_passed(calls),
        *(kept_from_earlier(calls, answers) if is_decisive else ()),
        *in_memory_of_others(calls, lambda: subject.reference is None or gives_back(subject, given[0], case)),
        *_beside(calls),
        *((Symptom.WEAK_REFERENCE, text, True) for text in (*weak, *blind)[:1]),
    ]
    is_reported = any(symptom is Symptom.TORCH_WORK for symptom, _, _ in found)
    unchecked = [(Symptom.TORCH_WORK, why) for why in unknown_arithmetic(subject, made, wanted) if not is_reported]
    if any(one.on_their_way is None for one in calls):
        unchecked.append((Symptom.THREAD, "the call fails where a launch on another stream comes late"))
    if not missing and not weak and not are_weighed(first, answers[0]):
        missing = "some output is empty, or of another type than the reference's"
    if missing:
        unchecked.append((Symptom.WEAK_REFERENCE, missing))
    if not is_decisive:
        unchecked.append((Symptom.STALE, _ALIKE))
    unchecked += [(Symptom.STALE, why) for why in why_untold(calls)]
    checked = frozenset(SYMPTOMS) - {symptom for symptom, _ in unchecked} | effects.checked
    sightings = (*_sightings(wrapper_ref(subject), found), *effects.sightings)
    return CaseOutcome(case, checked, sightings, tuple(unchecked))


def _is_decisive(case: Case) -> bool:
    return case.fill == Case().fill


def _answers(
    subject: Subject, calls: Sequence[Call], given: Sequence[Arguments], ahead: Ahead
) -> tuple[dict[int, References], str]:
    """What the reference gives for each set of values; if it does not, why."""
    if subject.reference is None:
        return {}, "the subject has no reference"
    kernels = {ran.launch.kernel for one in calls for ran in one.ran}
    number = len(calls[0].results)
    found = {n: ahead.references(given[n], kernels, number) for n in {one.values for one in calls}}
    if not found[0].same:
        return {}, found[0].reason
    if len(found[0].same) != len(calls[0].results):
        return {}, "the reference gives another number of tensors"
    return found, ""


def _sightings(wrapper: KernelRef, found: Sequence[Said]) -> Iterator[Sighting]:
    """One of each symptom: the first that is certain, else the first."""
    for symptom in dict.fromkeys(symptom for symptom, _, _ in found):
        alike = [one for one in found if one[0] is symptom]
        _, text, is_certain = next((one for one in alike if one[2]), alike[0])
        yield Sighting(symptom, wrapper, None, text, is_certain)


def _fallback(calls: Sequence[Call]) -> Iterator[Said]:
    for one in calls:
        if one.fallback is not None and not isinstance(one.fallback, NotSimulated):
            failure = str(one.fallback) if isinstance(one.fallback, NoProgram) else described(one.fallback)
            text = f"a launch fails ({failure}), and the wrapper goes on without it"
            yield Symptom.TORCH_WORK, text, True


def _no_tensor(first: Call) -> Iterator[Said]:
    for how in dict.fromkeys(first.strange):
        yield Symptom.NO_TENSOR, f"the output is {how}", True


def _no_kernel(first: Call) -> Iterator[Said]:
    """No launch where there is something to compute: views that the reference gives as well are no work."""
    if first.ran or first.fallback is not None or not first.elements or _gives_views(first):
        return
    operators = sorted({one.operator for one in first.computed if not one.moved})
    instead = f", and computes with {listed(operators)} of torch" if operators else ""
    yield Symptom.NO_KERNEL, f"the call launches no kernel{instead}", True


def _gives_views(one: Call) -> bool:
    """Whether all that a call gives is, unchanged, memory that it was given."""
    inputs = {given.storage for given in one.inputs}
    return all(result.storage in inputs - one.written for result in one.results)


def _beside(calls: Sequence[Call]) -> Iterator[Said]:
    for name in dict.fromkeys(name for one in calls for name in one.on_their_way or ()):
        text = f"{name} is written on a stream other than the caller's, which does not wait for it"
        yield Symptom.THREAD, text, True
    for number, one in enumerate(calls):
        for result, kept in foreign_results(one, calls):
            is_reused = any(shares_memory(result, other) for other in calls[number + 1 :])
            if not is_reused and not is_same(result.tensor, kept):
                yield Symptom.THREAD, f"{result.name} is another one after call {number + 1} has returned", True
    started = [one for one in calls if one.threads]
    if started:
        names = started[0].threads
        text = f"threads that it has started still run when it returns: {', '.join(names)}"
        yield Symptom.THREAD, text, len(started) > 1
