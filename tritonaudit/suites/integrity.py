"""Tries whether a subject's results are made by its kernels, in each call, from what the call is given.

A subject can give right results and still not be what it says: torch does the work, a result is kept from an earlier
call, the output is somebody else's memory. What calls made and what happened beside their launches is held against the
reference, which is run after the last of them. Imports torch: for workers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import torch

from tritonaudit.capture.launch import KernelRef
from tritonaudit.execute.blame import depends_on_stand_in, described
from tritonaudit.finding import Status
from tritonaudit.simulator.live import NoProgram
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.subject.apart import Absent
from tritonaudit.subject.given import AMONG, AMONG_NORMAL, SPECIAL
from tritonaudit.subject.inputs import Arguments, call, make_inputs, tensors_in
from tritonaudit.subject.kernelbench import in_case
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.arithmetic import Spent
from tritonaudit.suites.buffers import Effects, compare_buffers
from tritonaudit.suites.calling import Device, How, Result, bits, copied, is_same
from tritonaudit.suites.calls import LEFT, Call, Calls, Share, calls_here, values_of
from tritonaudit.suites.correctness import why_refused
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.formats import wide
from tritonaudit.suites.garbage import garbage
from tritonaudit.suites.harness import Replaced
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.provenance import Computed, Origin
from tritonaudit.suites.references import References, arithmetic_of, references
from tritonaudit.suites.uncompared import changed_by_reference, gives_back, unheeded
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
_ALL_CALLS = 6
"""The second has other values than the last, and both come when all that is made only once is there."""
_LARGE_SHARE, _SHARE = 0.5, 0.2
"""Of a result's elements, made by torch alone: for certain too many, and worth a warning."""
_ALIKE = "the values of the inputs are special, so they show nothing"


def integrity(device: Device, subject: Subject, case: Case, draw: int = 0) -> CaseOutcome:
    """Call the subject on a case again and again, and look at what its results are and where they come from.

    What changes from call to call that nobody is to foresee is drawn.
    """
    started = time.perf_counter()
    given = values_of(device, subject, case, draw)
    given = (*given, *_left(subject, case, given))
    made = calls_of(device, subject, case, given, draw)
    outcome = _outcome(device, subject, case, made.calls, given)
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
    device: Device, subject: Subject, case: Case, calls: Sequence[Call], given: Sequence[Arguments]
) -> CaseOutcome:
    first = calls[0]
    if isinstance(first.error, NotSimulated):
        return CaseOutcome(case, frozenset(), unchecked=tuple((symptom, str(first.error)) for symptom in _OF_CALLS))
    if first.error is not None and first.fallback is None and not first.strange:  # which the case's own call tells
        why = "" if device.lost else why_refused(subject, case, given[0], first.error)
        left = tuple((symptom, why) for symptom in _OF_CALLS if why)
        return CaseOutcome(case, frozenset(), unchecked=left, is_refused=bool(why))
    return _judged(device, subject, case, calls, given)


def calls_of(device: Device, subject: Subject, case: Case, values: Sequence[Arguments], draw: int) -> Calls:
    """Make the calls where the wrapper is, with the values of these arguments, of which something was drawn."""
    if isinstance(subject.function, Absent):
        made: Calls = subject.function.caller.calls(subject, case, values, draw)
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


# -- what they show ----------------------------------------------------------------------------------------------------


def _judged(
    device: Device, subject: Subject, case: Case, calls: Sequence[Call], given: Sequence[Arguments]
) -> CaseOutcome:
    first = calls[0]
    if first.fallback is not None or first.strange:
        found = [*_fallback(calls), *_no_tensor(first)]
        checked = frozenset(symptom for symptom, _, _ in found)
        return CaseOutcome(case, checked, tuple(_sightings(wrapper_ref(subject), found)))
    is_decisive = case.fill == Case().fill
    answers, missing = _answers(subject, case, calls, given) if is_decisive else ({}, _ALIKE)
    weak = [text for number, text in _weak(first, answers) if not _shows(device, subject, case, number)]
    effects = compare_buffers(device, subject, case, given[0]) if 0 in answers else Effects()
    blind = [*filter(None, (effects.uncompared,)), *_blind(subject, case, given, answers)] if not weak else []
    made = _counted(first.arithmetic, first)
    has_reference = subject.reference is not None and bool(first.ran) and made != Spent()
    wanted = _counted(arithmetic_of(subject, given[0], case), first) if has_reference else Spent()
    found = [
        *_no_kernel(first),
        *_torch_work(calls, answers, is_weak=bool(weak)),
        *_moved(subject, case, first, given[0]),
        *_torch_arithmetic(subject, made, wanted),
        *_unseen(calls),
        *_passed(calls),
        *(_stale(calls, answers) if is_decisive else ()),
        *_aliased(calls, lambda: subject.reference is None or gives_back(subject, given[0], case)),
        *_beside(calls),
        *((Symptom.WEAK_REFERENCE, text, True) for text in (*weak, *blind)[:1]),
    ]
    is_reported = any(symptom is Symptom.TORCH_WORK for symptom, _, _ in found)
    unchecked = [(Symptom.TORCH_WORK, why) for why in _unknown_arithmetic(subject, made, wanted) if not is_reported]
    if any(one.on_their_way is None for one in calls):
        unchecked.append((Symptom.THREAD, "the call fails where a launch on another stream comes late"))
    if not missing and not weak and not _are_weighed(first, answers[0]):
        missing = "some output is empty, or of another type than the reference's"
    if missing:
        unchecked.append((Symptom.WEAK_REFERENCE, missing))
    if not is_decisive:
        unchecked.append((Symptom.STALE, _ALIKE))
    unchecked += [(Symptom.STALE, why) for why in _untold(calls)]
    checked = frozenset(SYMPTOMS) - {symptom for symptom, _ in unchecked} | effects.checked
    sightings = (*_sightings(wrapper_ref(subject), found), *effects.sightings)
    return CaseOutcome(case, checked, sightings, tuple(unchecked))


def _answers(
    subject: Subject, case: Case, calls: Sequence[Call], given: Sequence[Arguments]
) -> tuple[dict[int, References], str]:
    """What the reference gives for each set of values; if it does not, why."""
    if subject.reference is None:
        return {}, "the subject has no reference"
    kernels = {ran.launch.kernel for one in calls for ran in one.ran}
    number = len(calls[0].results)
    found = {n: references(subject, given[n], case, kernels, number) for n in {one.values for one in calls}}
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


def _elements(one: Call) -> int:
    return sum(result.tensor.numel() for result in one.results)


def _fallback(calls: Sequence[Call]) -> Iterator[_Seen]:
    for one in calls:
        if one.fallback is not None and not isinstance(one.fallback, NotSimulated):
            failure = str(one.fallback) if isinstance(one.fallback, NoProgram) else described(one.fallback)
            text = f"a launch fails ({failure}), and the wrapper goes on without it"
            yield Symptom.TORCH_WORK, text, True


def _no_tensor(first: Call) -> Iterator[_Seen]:
    for how in dict.fromkeys(first.strange):
        yield Symptom.NO_TENSOR, f"the output is {how}", True


def _no_kernel(first: Call) -> Iterator[_Seen]:
    """No launch where there is something to compute: views that the reference gives as well are no work."""
    if first.ran or first.fallback is not None or not _elements(first) or _gives_views(first):
        return
    operators = sorted({one.operator for one in first.computed if not one.moved})
    instead = f", and computes with {_listed(operators)} of torch" if operators else ""
    yield Symptom.NO_KERNEL, f"the call launches no kernel{instead}", True


def _gives_views(one: Call) -> bool:
    """Whether all that a call gives is, unchanged, memory that it was given."""
    inputs = {given.storage for given in one.inputs}
    return all(result.storage in inputs - one.written for result in one.results)


def _torch_work(calls: Sequence[Call], answers: Mapping[int, References], *, is_weak: bool) -> Iterator[_Seen]:
    """Elements that come from operators of torch alone, or from what nobody was seen to write."""
    first = calls[0]
    total = sum(share.elements for share in first.shares)
    if not first.ran or not total:
        return
    yield from _by_others(calls, total)
    if is_weak or not answers:
        return
    for number, result in enumerate(first.results):
        if result.tensor.numel() >= _LARGE_SHARE * total and not result.name.startswith("gradient"):
            yield from _answered(result.name, result.tensor, number, first.computed, answers[0])


def _by_others(calls: Sequence[Call], total: int) -> Iterator[_Seen]:
    """A large share of so many elements that no kernel has made.

    What comes of memory that nobody was seen to make may have been there before: unless it changes with the inputs.
    """
    first = calls[0]
    has_changed = _changes(calls, [one for one in first.shares if not one.is_foreign])
    unseen = "by what is neither a launch nor an operator of torch"
    if has_changed:
        unseen = "of memory that nobody was seen to write, and that changes with the values of the inputs"
    for origin, by, is_certain in (
        (Origin.TORCH, "", True),
        (Origin.UNSEEN, "in a thread of the call's" if first.started else unseen, has_changed or first.started),
        (Origin.ALTERED, "where nobody was seen to write over what had been put there", True),
    ):
        parts = [one for one in first.shares if one.counts[origin]]
        if origin is Origin.UNSEEN and not has_changed:
            parts = [one for one in parts if one.is_foreign]
        share = sum(part.counts[origin] for part in parts) / total
        if share >= _SHARE:
            operators = sorted({operator for part in parts for operator in part.operators})
            said = by or f"by {_listed(operators)} of torch"
            text = f"{share:.0%} of the elements of {' and '.join(part.name for part in parts)} are made {said}"
            yield Symptom.TORCH_WORK, text, bool(is_certain) and (share >= _LARGE_SHARE or origin is Origin.ALTERED)


def _changes(calls: Sequence[Call], shares: Sequence[Share]) -> bool:
    """Whether elements that nobody was seen to make are others with other values of the inputs."""
    first = calls[0]
    other = next((one for one in calls[1:] if one.values != first.values and len(one.kept) == len(first.kept)), None)
    if other is None:
        return False
    kept = {
        result.name: (here, there)
        for result, here, there in zip(first.results, first.kept, other.kept, strict=True)
        if here.shape == there.shape and here.dtype == there.dtype
    }
    return any(
        int((bits(here) != bits(there)).sum()) > share.elements - share.counts[Origin.UNSEEN]
        for share in shares
        if share.name in kept
        for here, there in (kept[share.name],)
    )


def _counted(spent: Spent, first: Call) -> Spent:
    """What counts as work: operations on integers where a call gives nothing but integers."""
    dtypes = [result.tensor.dtype for result in first.results]
    is_of_integers = not any(dtype.is_floating_point or dtype.is_complex for dtype in dtypes)
    return spent.of_integers() if is_of_integers else spent.of_floats()


def _torch_arithmetic(subject: Subject, made: Spent, wanted: Spent) -> Iterator[_Seen]:
    """Operators of torch that compute as much in the call as much of the reference takes."""
    allowed = subject.torch_share
    ways = ("", made.forward, wanted.forward), ("the backward pass of ", made.backward, wanted.backward)
    for way, spent, whole in ways:
        share = min(spent / whole, 1.0) if whole else 0.0
        is_certain = share > _LARGE_SHARE if allowed is None else share > allowed
        if is_certain or (allowed is None and share >= _SHARE):
            text = f"operators of torch do {share:.0%} of the arithmetic that {way}the reference takes"
            yield Symptom.TORCH_WORK, text, is_certain


def _unknown_arithmetic(subject: Subject, made: Spent, wanted: Spent) -> Iterator[str]:
    """Why nobody can tell how much operators of torch compute: all that the known ones leave may be theirs."""
    allowed = _LARGE_SHARE if subject.torch_share is None else subject.torch_share
    whole, most = wanted.forward + wanted.backward, made.forward + made.backward + made.at_most
    is_open = math.isinf(made.at_most) and allowed < 1
    if made.unknown and (is_open or (whole and min(most / whole, 1.0) > allowed)):
        text = f"what {_listed(sorted(made.unknown))} computes, which may be what the kernels are there for"
        yield f"{text}, is not known: where that is fair, give the subject a `torch_share`"


def _unseen(calls: Sequence[Call]) -> Iterator[_Seen]:
    """What is in memory that nobody was seen to put there."""
    first = calls[0]
    for share in first.shares:
        if share.elements and share.overwritten >= _SHARE * share.elements:
            text = (
                f"{share.overwritten / share.elements:.0%} of the elements of {share.name} are no longer what was left"
                " there by the last launch or operator of torch that was seen to write them"
            )
            yield Symptom.TORCH_WORK, text, True
    if any(one.altered for one in calls):
        text = "what a launch left differs for the next one, and nothing was seen to write it in between"
        yield Symptom.TORCH_WORK, text, True
    if any(one.undefined for one in calls):
        text = "the host reads what lies in memory that nobody has written, as if others had left the results there"
        yield Symptom.TORCH_WORK, text, True
    if len(calls) >= _ALL_CALLS and calls[_ALL_CALLS - 1].error is None:
        written = frozenset[int]().union(*(one.written for one in calls))
        known = {one.digest for one in calls[1].unaccounted}
        last = calls[_ALL_CALLS - 1]
        changed = [one for one in last.unaccounted if one.digest not in known and one.address not in written]
        whole = sum(result.tensor.numel() * result.tensor.element_size() for result in first.results)
        if whole and sum(one.size for one in changed) >= _SHARE * whole:
            text = "memory is read that nothing was seen to write, and that changes with the values of the inputs"
            yield Symptom.TORCH_WORK, text, True


def _passed(calls: Sequence[Call]) -> Iterator[_Seen]:
    """Numbers that the host has computed of the inputs, and that launches do no more than write down."""
    first = calls[0]
    others = (one for one in calls[1:] if one.values != first.values and len(one.kept) == len(first.kept))
    if (other := next(others, None)) is None:
        return
    total = _elements(first)
    for result, here, there in zip(first.results, first.kept, other.kept, strict=True):
        is_large = here.numel() >= _LARGE_SHARE * total and not result.name.startswith("gradient")
        if (
            is_large
            and not is_same(here, there)
            and _is_reported(first, other, here)
            and _is_reported(other, first, there)
        ):
            text = f"all that is in {result.name} are numbers passed to launches, which the host has computed"
            yield Symptom.TORCH_WORK, text, True


def _is_reported(one: Call, other: Call, tensor: torch.Tensor) -> bool:
    """Whether each element is, rounded to its type, a number that launches are given, and not those of the other."""
    passed = _passed_in(one) - _passed_in(other)
    if not passed or not tensor.numel() or not tensor.is_floating_point():
        return False
    with torch._C.DisableTorchFunction():
        numbers = torch.tensor(sorted(passed), dtype=torch.float64, device=tensor.device).to(tensor.dtype).double()
        return bool(torch.isin(tensor.double(), numbers).all())


def _passed_in(one: Call) -> set[float]:
    """The numbers that its launches are given."""
    given = (value for ran in one.ran for _, value in ran.launch.arguments)
    return {float(value) for value in given if isinstance(value, (int, float)) and not isinstance(value, bool)}


def _answered(
    name: str, tensor: torch.Tensor, number: int, computed: Sequence[Computed], answer: References
) -> Iterator[_Seen]:
    """An operator of torch whose result is the call's, whatever the kernels do with it then."""
    for one in computed:
        if one.moved or one.result.numel() != tensor.numel() or _is_constant(one.result):
            continue
        candidate = one.result.to(tensor.dtype).reshape(tensor.shape)
        if is_same(candidate, tensor):
            yield Symptom.TORCH_WORK, f"{name} is, bit for bit, what `{one.operator}` of torch gives in the call", True
        elif answer.yardstick(number).judge(candidate).status is Status.PASS:
            text = f"what `{one.operator}` of torch gives in the call is right as {name}, before any kernel touches it"
            yield Symptom.TORCH_WORK, text, False


def _moved(subject: Subject, case: Case, first: Call, given: Arguments) -> Iterator[_Seen]:
    """Most of what a call gives is what torch has moved into place, where the reference does nothing but move.

    A copy of an argument as it is moves nothing.
    """
    moved = [one for one in first.computed if one.moved]
    if (
        not moved
        or not first.ran
        or subject.reference is None
        or arithmetic_of(subject, given, case).of_floats() != Spent()
    ):
        return
    whole, arguments = _elements(first), list(tensors_in(given))
    for result in first.results:
        tensor = result.tensor
        if tensor.numel() < _LARGE_SHARE * whole or result.name.startswith("gradient") or _is_constant(tensor):
            continue
        if any(_holds(one, tensor) for one in arguments):
            continue
        if by := next((one.operator for one in moved if _holds(one.result, tensor)), ""):
            text = f"{result.name} is, bit for bit, what `{by}` of torch has moved into place before the kernels"
            yield Symptom.TORCH_WORK, text, True


def _holds(one: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether it has the same elements in the same order, whatever its shape."""
    return one.numel() == tensor.numel() and is_same(one.detach().flatten().to(tensor.dtype), tensor.flatten())


def _is_constant(tensor: torch.Tensor) -> bool:
    numbers = wide(tensor).flatten()
    return len(numbers) > 1 and bool((numbers == numbers[0]).all())


# -- results of other calls --------------------------------------------------------------------------------------------


def _untold(calls: Sequence[Call]) -> Iterator[str]:
    """Why it is open what a later call gives, where the first one was executed."""
    for one in calls[1:]:
        if isinstance(one.error, NotSimulated) or (one.error is not None and depends_on_stand_in(one.error)):
            yield f"a later call: {described(one.error)}"
            return


def _stale(calls: Sequence[Call], answers: Mapping[int, References]) -> Iterator[_Seen]:
    first = calls[0]
    if first.fallback is not None:
        return
    for number, one in enumerate(calls[1:], 2):
        said = f"call {number} ({one.way})"
        if one.values == LEFT and not answers.get(LEFT, References()).same:
            return
        if one.error is not None:
            if not isinstance(one.error, NotSimulated) and not depends_on_stand_in(one.error):
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
            yield Symptom.STALE, text, one.values == LEFT


def _which_are_right(calls: Sequence[Call], answers: Mapping[int, References]) -> list[bool | None]:
    """Whether each call's results are the reference's; the same ones for the same values are judged once."""
    right: list[bool | None] = []
    for number, one in enumerate(calls):
        earlier = (n for n, other in enumerate(calls[:number]) if other.values == one.values and _are_kept(one, other))
        known = next(earlier, None)
        right.append(_is_right(one, answers) if known is None else right[known])
    return right


def _are_kept(one: Call, other: Call) -> bool:
    """Whether two calls gave the same results, to the bit."""
    return len(one.kept) == len(other.kept) and all(map(is_same, one.kept, other.kept))


def _is_right(one: Call, answers: Mapping[int, References]) -> bool | None:
    """Whether the results are the reference's; None where that is unknown.

    What a call has left need not change once more: then what is returned alone is compared.
    """
    answer = answers.get(one.values)
    if answer is None or (len(answer.same) != len(one.kept) and one.values != LEFT):
        return None
    common = min(len(answer.same), len(one.kept))
    verdicts = [answer.yardstick(number).judge(one.kept[number]).status for number in range(common)]
    return Status.FAIL not in verdicts


def _repeated(one: Call, earlier: Sequence[Call]) -> int | None:
    """The earlier call, of other values, whose results these are."""
    for number, other in enumerate(earlier):
        if other.values != one.values and _are_kept(one, other):
            return number
    return None


# -- memory and threads ------------------------------------------------------------------------------------------------


def _aliased(calls: Sequence[Call], is_given_back: Callable[[], bool]) -> Iterator[_Seen]:
    """Memory that is not a result's own; `is_given_back` says whether the reference gives that of an argument, too."""
    first = calls[0]
    inputs = {given.storage: given.name for given in first.inputs if not given.is_by_intent}
    by_intent = {given.storage for given in first.inputs} - inputs.keys()
    for result in _returned(first, by_intent):
        if result.storage in inputs and result.storage in first.written:
            yield (
                Symptom.ALIASED,
                f"{result.name} is the memory of {inputs[result.storage]}, which the call writes to",
                True,
            )
        elif result.storage in inputs and not is_given_back():
            text = f"{result.name} is the memory of {inputs[result.storage]}, and the reference gives memory of its own"
            yield Symptom.ALIASED, text, True
    for number, one in enumerate(calls):
        for result, kept in _foreign_results(one, calls):
            later = next((n for n in range(number + 1, len(calls)) if _shares_memory(result, calls[n])), None)
            if later is not None and not is_same(result.tensor, kept):
                after = f"call {later + 1}, which returns the same memory"
                text = f"{result.name} of call {number + 1} is overwritten by {after}"
                yield Symptom.ALIASED, text, True


def _beside(calls: Sequence[Call]) -> Iterator[_Seen]:
    for name in dict.fromkeys(name for one in calls for name in one.on_their_way or ()):
        text = f"{name} is written on a stream other than the caller's, which does not wait for it"
        yield Symptom.THREAD, text, True
    for number, one in enumerate(calls):
        for result, kept in _foreign_results(one, calls):
            is_reused = any(_shares_memory(result, other) for other in calls[number + 1 :])
            if not is_reused and not is_same(result.tensor, kept):
                yield Symptom.THREAD, f"{result.name} is another one after call {number + 1} has returned", True
    started = [one for one in calls if one.threads]
    if started:
        names = started[0].threads
        text = f"threads that it has started still run when it returns: {', '.join(names)}"
        yield Symptom.THREAD, text, len(started) > 1


def _returned(one: Call, but: Collection[int]) -> Iterator[Result]:
    """What was returned, without gradients and what has one of these storages."""
    for result in one.results:
        if not result.name.startswith("gradient") and result.tensor.numel() and result.storage not in but:
            yield result


def _foreign_results(one: Call, calls: Sequence[Call]) -> Iterator[tuple[Result, torch.Tensor]]:
    """What was returned and is no memory of any call's arguments, and how it was then."""
    given = {inner.storage for other in calls for inner in other.inputs}
    kept = dict(zip(map(id, one.results), one.kept, strict=False))
    yield from ((result, kept[id(result)]) for result in _returned(one, given))


def _shares_memory(result: Result, later: Call) -> bool:
    return any(result.storage == other.storage for other in later.results)


# -- the reference -----------------------------------------------------------------------------------------------------


def _are_weighed(first: Call, answer: References) -> bool:
    """Whether of each result it can be said what else would pass for it."""
    pairs = zip(first.results, answer.same, strict=True)
    return all(result.tensor.numel() and result.tensor.dtype == same.dtype for result, same in pairs)


def _weak(first: Call, answers: Mapping[int, References]) -> Iterator[tuple[int, str]]:
    """What passes for the result of that number and is computed from nothing."""
    answer = answers.get(0)
    if answer is None:
        return
    for number, result in enumerate(first.results):
        name, tensor = result.name, result.tensor
        if not tensor.numel() or tensor.dtype != answer.same[number].dtype:
            continue
        if kind := next(_passing(answer, number), ""):
            yield number, f"{kind} would pass as {name}: that it passes proves nothing"


def _passing(answer: References, number: int, *, keeps: bool = False) -> Iterator[str]:
    """What passes for that result and is computed from nothing; it `keeps` what is not finite, which proves little."""
    precise, same, _ = answer.of(number)
    is_kept = ~same.isfinite() if keeps else torch.zeros_like(same, dtype=torch.bool)
    usual = precise[~is_kept].double().mean() if bool(is_kept.any()) else 0.0
    for kind, candidate in garbage(precise.masked_fill(is_kept, usual), same.dtype):
        candidate = torch.where(is_kept, same, candidate.to(same.device))
        if same.numel() == 1 and kind != "zeros":
            continue
        if not answer.yardstick(number).rejects(candidate):
            yield kind


def _shows(device: Device, subject: Subject, case: Case, number: int) -> bool:
    """Whether NaN or infinities among the inputs, which every audit has, make a result that proves something."""
    among = AMONG_NORMAL if subject.given is None else AMONG
    for special in SPECIAL if subject.given is not None else SPECIAL[:1]:
        there = replace(case, fill=f"{special}{among}")
        try:
            with device.observing(How(is_checked=False)):
                given = make_inputs(subject, there)
            answer = references(subject, given, there)
            if number < len(answer.same) and next(_passing(answer, number, keeps=True), None) is None:
                return True
        except Exception:  # no such numbers can be had, or the reference takes none
            continue
    return False


def _blind(
    subject: Subject, case: Case, given: Sequence[Arguments], answers: Mapping[int, References]
) -> Iterator[str]:
    """What is in arguments and shows in no comparison."""
    if 0 not in answers:
        return
    if names := list(changed_by_reference(subject, given[0], case)):
        yield f"the reference changes {' and '.join(names)}, and nothing compares what it leaves: name it in `mutates`"
    if names := list(unheeded(subject, given[0], given[1], case, answers[0].same)):
        yield f"{' and '.join(names)} may hold other numbers for the same results: nothing compares their use"


def _listed(operators: Sequence[str]) -> str:
    return ", ".join(f"`{operator}`" for operator in operators[:4]) + (" and others" if len(operators) > 4 else "")
