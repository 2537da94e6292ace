"""Tries a subject on one case, and says what is wrong with what it gives. Imports torch: for workers."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from tritonaudit.capture.launch import KernelRef, Launch
from tritonaudit.execute.blame import account_in, depends_on_stand_in, described, is_refusal, users_place
from tritonaudit.finding import Status
from tritonaudit.simulator.live import NoProgram
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.subject.apart import Absent
from tritonaudit.subject.given import OF_TENSOR, SCALED
from tritonaudit.subject.inputs import Arguments, tensors_in
from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.subject.parameters import FewerParameters, OtherParameters
from tritonaudit.subject.varying import unscaled
from tritonaudit.suites import memory
from tritonaudit.suites.axes import NAN_AMONG
from tritonaudit.suites.calling import BESIDE, UPSTREAM, Called, Device, How, Lost, Result, call_subject, is_same
from tritonaudit.suites.error_map import ErrorMap, error_map
from tritonaudit.suites.facts import NOT_COMPILED, Symptom
from tritonaudit.suites.formats import is_constant, is_inexact, wide
from tritonaudit.suites.judgement import Judgement
from tritonaudit.suites.outcome import CaseOutcome, Closeness, Sighting
from tritonaudit.suites.references import Ahead, References, references
from tritonaudit.suites.sentences import counted, differ
from tritonaudit.suites.tolerance import judge
from tritonaudit.suites.wrapper import wrapper_ref

_RESULTS = frozenset((Symptom.WRONG_RESULT, Symptom.NEW_NON_FINITE, Symptom.WRONG_AT_BOUNDARY))
_CALLS = frozenset((Symptom.CRASH, Symptom.HANG, Symptom.INPUT_CHANGED, Symptom.NOT_WRITTEN))
_ORDERS: tuple[str | int, ...] = ("reverse", 1)
"""In which the programs run once more, after their own order."""
_EDGE = 8
"""The part of an axis, one in so many, that counts as its boundary."""
_NEAR_OVERFLOW = frozenset(("1e38",))
"""Of such numbers not even two have a sum in float32: whether that matters is for people to say."""
_OF_NAN = frozenset(("nan", NAN_AMONG))
_EQUAL = frozenset(("constant", "ties"))
"""Among numbers of which many are equal no one says which is the first, as an index that is returned does."""
_FAILING = 16.0
"""Times its budget an error fails."""
_SHORT = 64
"""Terms of a sum whose order does not matter much."""
_OTHER, _FEWER = (f"{kind.__module__}.{kind.__qualname__}" for kind in (OtherParameters, FewerParameters))
_BEYOND = "with empty tensors that the reference does not take"
_FAR = 1e-2
"""Off by so much of the largest element, an element is far off."""


def examine(device: Device, subject: Subject, case: Case, config: int = 0, *, judges: bool = True) -> CaseOutcome:
    """Call the subject once and look at all that came of it, at the results only if it `judges`."""
    started = time.perf_counter()
    ahead = Ahead(subject, case, are_precise=judges)
    called = call_subject(device, subject, case, How(config=config), meanwhile=ahead.find)
    watched = memory.SYMPTOMS if device.is_engine else frozenset[Symptom]()
    if called.error is None:
        outcome = _returned(subject, case, called, watched, ahead, judges=judges)
    elif device.lost is not None:
        outcome = _lost(subject, case, called, device.lost)
    else:
        outcome = _failed(subject, case, called, watched)
    outcome = _completed(outcome, called, time.perf_counter() - started)
    outcome = replace(outcome, asks_multiprocessors=called.asks_multiprocessors, operators=called.operators)
    return outcome if called.multiprocessors is None else _reported_of(called.multiprocessors, outcome, called)


def _reported_of(multiprocessors: int, outcome: CaseOutcome, called: Called) -> CaseOutcome:
    """What a call came to that saw so few: a wrapper may need more, and all GPUs have more."""
    few = f"with {multiprocessors} multiprocessors"
    is_empty = any(ran.launch.grid is not None and 0 in ran.launch.grid for ran in called.ran)
    if called.error is not None or is_empty:
        why = f"{few} it launches no programs" if called.error is None else f"{few} {crash_words(called.error)}"
        unchecked = tuple((symptom, why) for symptom in sorted_(outcome.checked | _RESULTS))
        return replace(outcome, checked=frozenset(), sightings=(), unchecked=unchecked, is_refused=True)
    sightings = tuple(replace(one, text=f"{one.text}, {few}") for one in outcome.sightings)
    return replace(outcome, sightings=sightings)


def repeat(device: Device, subject: Subject, case: Case) -> CaseOutcome:
    """Call the subject with its programs in other orders: what comes out must not depend on these."""
    started = time.perf_counter()
    first = call_subject(device, subject, case, How(is_checked=False))
    sightings: list[Sighting] = []
    if first.error is None and first.ran:
        for order in _ORDERS:
            again = call_subject(device, subject, case, How(order, is_checked=False))
            if not _is_same_given(first, again):
                reason = "its inputs differ each time they are made"
                return CaseOutcome(case, frozenset(), unchecked=((Symptom.NONDETERMINISTIC, reason),))
            if again.error is not None:
                reason = f"in another order of the programs calling it {described(again.error)}"
                return CaseOutcome(case, frozenset(), unchecked=((Symptom.NONDETERMINISTIC, reason),))
            sightings += _differences(subject, first, again, is_poisoned=not device.is_engine)
            if sightings:
                break
    if first.error is not None:
        why = "" if device.lost else why_refused(subject, case, first.given, first.error)
        unchecked = ((Symptom.NONDETERMINISTIC, why or crash_words(first.error)),)
        return CaseOutcome(case, frozenset(), unchecked=unchecked, is_refused=bool(why))
    checked = frozenset((Symptom.NONDETERMINISTIC,))
    return CaseOutcome(case, checked, tuple(sightings), seconds=time.perf_counter() - started)


def _is_same_given(first: Called, again: Called) -> bool:
    pairs = zip(tensors_in(first.given), tensors_in(again.given), strict=False)
    return all(is_same(one, other) for one, other in pairs)


def _completed(outcome: CaseOutcome, called: Called, seconds: float) -> CaseOutcome:
    launches = [ran.launch for ran in called.ran]
    return replace(
        outcome,
        blocks=frozenset(size for launch in launches for size in blocks_of(launch)),
        launches=len(launches),
        kernels=tuple(dict.fromkeys(launch.kernel for launch in launches)),
        configs=tuple(dict.fromkeys(launch.config for launch in launches if launch.config)),
        seconds=seconds,
    )


def blocks_of(launch: Launch) -> Iterator[int]:
    """The sizes of blocks among the constants that a kernel was launched with: powers of 2 that are not small."""
    kinds = dict(launch.signature)
    for name, value in launch.arguments:
        is_size = isinstance(value, int) and not isinstance(value, bool) and value >= 8 and value & (value - 1) == 0
        if is_size and kinds.get(name) == "constexpr":
            yield value


# -- a call that failed ------------------------------------------------------------------------------------------------


def _lost(subject: Subject, case: Case, called: Called, by: Lost) -> CaseOutcome:
    """A case that the GPU gave up on: it says nothing where it has other sizes than given, which the reference refuses.

    The reference can still be asked where it has another process.
    """
    if subject.given is None or not subject.given.is_elsewhere(case) or not isinstance(subject.function, Absent):
        return lost(case, by)
    found = references(subject, called.given, case, are_precise=False)
    if not found.has_failed:
        return lost(case, by)
    unchecked = tuple((symptom, found.reason) for symptom in sorted_(_RESULTS | _CALLS))
    return CaseOutcome(case, frozenset(), unchecked=unchecked, is_refused=True)


def lost(case: Case, by: Lost) -> CaseOutcome:
    """A case with a launch that the GPU gave up on."""
    sighting = Sighting(Symptom.CRASH, by.kernel, None, by.text)
    return CaseOutcome(case, frozenset((Symptom.CRASH,)), (sighting,), kernels=(by.kernel,))


def _failed(subject: Subject, case: Case, called: Called, watched: frozenset[Symptom]) -> CaseOutcome:
    """A call that raised: the subject's fault, unless its reference refuses the case too, or it is our engine's."""
    error = called.error
    assert error is not None
    every = _RESULTS | _CALLS | watched
    if case.parameters and account_in(error).kind == _FEWER:
        reason = "the wrapper has fewer parameters than the reference, and may take the others for granted"
        return CaseOutcome(case, frozenset(), unchecked=tuple((symptom, reason) for symptom in sorted_(every)))
    why = why_refused(subject, case, called.given, error)
    if reason := str(error) if isinstance(error, NotSimulated) else why:
        unchecked = tuple((symptom, reason) for symptom in sorted_(every))
        return CaseOutcome(case, frozenset(), unchecked=unchecked, is_refused=bool(why))
    is_empty = 0 in case.sizes.values()
    sighting = Sighting(
        Symptom.CRASH, _blamed(subject, called), _place(error), crash_words(error), is_certain=not is_empty
    )
    return CaseOutcome(case, frozenset((Symptom.CRASH,)), (sighting, *memory.sightings(called)))


def why_refused(subject: Subject, case: Case, given: Arguments, error: BaseException) -> str:
    """Why calling it on these arguments says nothing of the subject, though it raised; nothing where it does."""
    if isinstance(error, NotSimulated):
        return ""
    if case.parameters and account_in(error).kind == _OTHER:
        return "the wrapper has other constant parameters than the reference, so that they stay as new models have them"
    if depends_on_stand_in(error):
        return f"calling it {described(error)}"
    if is_refusal(error):
        return f"the wrapper refuses the case: {described(error)}"
    if subject.given is not None and subject.given.is_elsewhere(case):
        return f"the wrapper does not take inputs of other sizes or layouts than given: {crash_words(error)}"
    if subject.reference is not None and not (found := references(subject, given, case)).same:
        return f"the wrapper and the reference both fail: {found.reason}"
    return ""


def sorted_(symptoms: frozenset[Symptom]) -> Sequence[Symptom]:
    """In the order of their definition."""
    return [symptom for symptom in Symptom if symptom in symptoms]


def crash_words(error: BaseException) -> str:
    """How a report says that a call raised."""
    if isinstance(error, NoProgram):
        return f"{NOT_COMPILED}: {error}"
    return f"calling it {described(error)}"


def _place(error: BaseException) -> tuple[str, int, int] | None:
    if isinstance(error, NoProgram) and error.error is not None:
        return error.error.path, error.error.line, error.error.column
    place = users_place(error)
    return None if place is None or place[1] is None else (place[0], place[1], 1)


def _blamed(subject: Subject, called: Called) -> KernelRef:
    if isinstance(called.error, NoProgram):
        return called.error.launch.kernel
    return wrapper_ref(subject)


# -- a call that returned ----------------------------------------------------------------------------------------------


def _returned(
    subject: Subject, case: Case, called: Called, watched: frozenset[Symptom], ahead: Ahead, *, judges: bool
) -> CaseOutcome:
    sightings = [*memory.sightings(called), *_changed(subject, called), *_unwritten(subject, called)]
    checked = _CALLS | watched
    if subject.reference is None:
        return _unjudged(case, checked, sightings, "the subject has no reference")
    kernels = {ran.launch.kernel for ran in called.ran}
    found = ahead.references(called.given, kernels, len(called.results))
    if not found.same:
        if found.has_failed and 0 in case.sizes.values():  # nobody says what is right here
            sightings = [replace(one, text=f"{one.text}, {_BEYOND}", is_certain=False) for one in sightings]
        unjudged = _unjudged(case, checked, sightings, found.reason)
        return replace(unjudged, is_refused=subject.given is not None and not case.is_as_given)
    if not judges:
        return CaseOutcome(case, checked, tuple(sightings))
    if len(found.same) != len(called.results):
        text = f"it gives {_tensors(len(called.results))}, and the reference {_tensors(len(found.same))}"
        sightings.append(Sighting(Symptom.WRONG_RESULT, wrapper_ref(subject), None, text))
        return CaseOutcome(case, checked | _RESULTS, tuple(sightings))
    judged = list(_judged(called.results, found, _usual(subject, case, called)))
    sightings += [one for each in judged for one in _wrong(subject, case, called, each)]
    closeness, errors = _closeness(judged), tuple(_errors(judged))
    if reason := next(filter(None, map(_why_not_compared, judged)), ""):
        unjudged = _unjudged(case, checked, sightings, reason)
        return replace(unjudged, closeness=closeness, errors=errors, is_refused=case.fill != Case().fill)
    are_alike = all(map(_has_one_number, found.same))
    return CaseOutcome(
        case, checked | _RESULTS, tuple(sightings), closeness=closeness, errors=errors, are_alike=are_alike
    )


def _has_one_number(tensor: torch.Tensor) -> bool:
    """Whether all elements are alike; a single one is only where it is an integer, of which there are few."""
    return is_constant(tensor.detach()) or not tensor.numel() or (tensor.numel() == 1 and not is_inexact(tensor))


def wrong_results(
    subject: Subject, case: Case, called: Called, found: References, results: Mapping[int, Result]
) -> Iterator[Sighting]:
    """What is wrong with results, by the numbers of what they are held against."""
    for number, result in results.items():
        yield from _wrong(subject, case, called, _judged_one(result, found, number))


def _why_not_compared(judged: _Judged) -> str:
    """Why nothing of a result says whether it is right; empty where something does."""
    judgement = judged.judgement
    return f"{judged.result.name}: {judgement.reason}" if judgement.status is Status.INCONCLUSIVE else ""


def _errors(judged: Sequence[_Judged]) -> Iterator[ErrorMap]:
    """Where each result is wrong that does not pass."""
    for each in judged:
        wrong = each.judgement.wrong
        if each.judgement.status is not Status.PASS and wrong is not None and bool(wrong.any()):
            yield error_map(each.result.name, wrong)


def _unjudged(case: Case, checked: frozenset[Symptom], sightings: Sequence[Sighting], reason: str) -> CaseOutcome:
    unchecked = tuple((symptom, reason) for symptom in sorted_(_RESULTS))
    return CaseOutcome(case, checked, tuple(sightings), unchecked)


def _tensors(number: int) -> str:
    return "1 tensor" if number == 1 else f"{number} tensors"


def _changed(subject: Subject, called: Called) -> Iterator[Sighting]:
    for changed in called.changed:
        why = "autograd may pass it on elsewhere" if changed.name == UPSTREAM else "`mutates` does not name it"
        why = "it is the caller's" if changed.name.startswith(BESIDE) else why
        text = f"{changed.name} has changed after the call, and {why}"
        kernel, place = wrapper_ref(subject), None
        if any(changed.storage in ran.written for ran in called.ran):
            kernel, place = _writer(subject, called, changed)
        yield Sighting(Symptom.INPUT_CHANGED, kernel, place, text)


def _unwritten(subject: Subject, called: Called) -> Iterator[Sighting]:
    for result in called.results:
        if result.unwritten is not None:
            places = result.unwritten.nonzero()
            first = ", ".join(map(str, places[0].tolist()))
            text = (
                f"nothing writes {len(places):,} of {counted(result.tensor.numel(), 'element')} of {result.name}:"
                f" [{first}] first"
            )
            kernel, place = _writer(subject, called, result)
            yield Sighting(Symptom.NOT_WRITTEN, kernel, place, text)


@dataclass(frozen=True, eq=False)
class _Judged:
    """A result, what the reference has in its place, and how close they are."""

    result: Result
    precise: torch.Tensor
    judgement: Judgement


def _usual(subject: Subject, case: Case, called: Called) -> Sequence[float]:
    """The magnitude that each result has on the inputs as given, where the case makes these tiny.

    And that on gradients which differ, where those of the case do not: they may cancel.
    """
    given, plain = called.given, replace(case, gradient=Case().gradient)
    if subject.given is not None and case.fill.startswith(SCALED):
        given, plain = unscaled(subject.given, case, given), replace(plain, fill=Case().fill)
    elif case.gradient is not Layout.EXPANDED:
        return ()
    ordinary = references(subject, given, plain).precise
    with torch._C.DisableTorchFunction():
        finite = [one[one.isfinite()].double() for one in ordinary]
        return [float(one.square().mean().sqrt()) if one.numel() else 0.0 for one in finite]


def _judged(results: Sequence[Result], found: References, usual: Sequence[float]) -> Iterator[_Judged]:
    for number, result in enumerate(results):
        yield _judged_one(result, found, number, usual[number] if number < len(usual) else 0.0)


def _judged_one(result: Result, found: References, number: int, usual: float = 0.0) -> _Judged:
    return _Judged(result, found.of(number)[0], found.judgement(result.tensor, number, usual))


def _wrong(subject: Subject, case: Case, called: Called, judged: _Judged) -> Iterator[Sighting]:
    status = judged.judgement.status
    if status in (Status.PASS, Status.INCONCLUSIVE):
        return
    kernel, place = _writer(subject, called, judged.result)
    if judged.judgement.nonfinite is not None and _is_new_non_finite(judged):
        symptom = Symptom.NEW_NON_FINITE
    elif _is_at_boundary(judged):
        symptom = Symptom.WRONG_AT_BOUNDARY
    else:
        symptom = Symptom.WRONG_RESULT
    text = f"{judged.result.name}: {judged.judgement.reason}"
    terms = max((tensor.numel() for tensor in tensors_in(called.given)), default=0)
    is_certain = status is Status.FAIL and not _may_be_harmless(symptom, case, judged, terms)
    yield Sighting(symptom, kernel, place, text, is_certain)


def _may_be_harmless(symptom: Symptom, case: Case, judged: _Judged, terms: int) -> bool:
    """Whether inputs that are hard in one way explain it: near the largest number, NaN, or all alike; or many of them.

    Roundings of equal numbers add up, where those of different ones cancel: a sum one by one then loses digits that a
    sum by pairs keeps, one rounding for each of its `terms` at most. The error of a sum one by one also grows by the
    square root of its length beside that of the reference (Ipsen & Zhou, arXiv 1906.10465). Where all terms cancel
    nothing tells how large they were.
    """
    judgement = judged.judgement
    if judgement.narrowed:
        return False
    if symptom is Symptom.NEW_NON_FINITE:
        return case.fill in _NEAR_OVERFLOW
    if case.fill.partition(OF_TENSOR)[0] in _OF_NAN and judgement.nonfinite is not None:
        return True
    if case.fill in _EQUAL and not judged.result.tensor.is_floating_point():
        return True
    are_alike = case.fill != Case().fill or case.layout is Layout.EXPANDED
    are_alike &= judgement.ratio.max <= _FAILING * terms
    is_long = judgement.ratio.max <= _FAILING * math.sqrt(max(case.sizes.values(), default=1) / _SHORT)
    return judgement.loose and (are_alike or is_long or not bool(judged.precise.any()))


def _is_new_non_finite(judged: _Judged) -> bool:
    """Whether an element is NaN or infinite that is finite in the reference, and not only the other way round."""
    got, wanted = wide(judged.result.tensor), judged.precise
    return got.shape == wanted.shape and bool((~got.isfinite() & wanted.isfinite()).any())


def _is_at_boundary(judged: _Judged) -> bool:
    """Whether what is far off, and not all of a tensor, is alone at the end of one axis."""
    got, wanted = wide(judged.result.tensor), judged.precise
    is_floating = got.is_floating_point() and wanted.is_floating_point()
    if not is_floating or got.shape != wanted.shape or not got.numel():
        return False
    scale = float(wanted.abs().nan_to_num(0.0, 0.0).max())
    wrong = ~torch.isclose(got, wanted, rtol=_FAR, atol=_FAR * scale, equal_nan=True)
    wrong &= ~got.isfinite() | wanted.isfinite()
    if not bool(wrong.any()):
        return False
    edges = [(axis, size, size // _EDGE) for axis, size in enumerate(wrong.shape)]
    return any(edge and not bool(wrong.narrow(axis, 0, size - edge).any()) for axis, size, edge in edges)


def _closeness(judged: Sequence[_Judged]) -> Closeness | None:
    found = [each.judgement for each in judged if each.judgement.status is not Status.INCONCLUSIVE]
    if not found:
        return None
    return Closeness(
        max(judgement.error.max for judgement in found),
        max(judgement.ratio.max for judgement in found),
        all(judgement.strict for judgement in found),
        all(judgement.loose for judgement in found),
    )


def _writer(subject: Subject, called: Called, result: Result) -> tuple[KernelRef, tuple[str, int, int] | None]:
    """Which kernel wrote to a result last, and where; the wrapper if none was launched."""
    ran = called.last_writer(result)
    if ran is None:
        return wrapper_ref(subject), None
    return ran.launch.kernel, ran.written.get(result.storage)


# -- calls that are repeated -------------------------------------------------------------------------------------------


def _differences(subject: Subject, first: Called, again: Called, *, is_poisoned: bool) -> Iterator[Sighting]:
    """What differs between two calls; where memory `is_poisoned`, apart from what is there by chance."""
    for one, other in zip(first.results, again.results, strict=False):
        if is_same(one.tensor, other.tensor):
            continue
        kernel, place = _writer(subject, first, one)
        here, there = wide(one.tensor), wide(other.tensor)
        different = (here != there) & ~(here.isnan() & there.isnan())
        for result in (one, other):
            if is_poisoned and result.unwritten is not None:
                different &= ~result.unwritten
        if not bool(different.any()):
            continue
        index = tuple(different.nonzero()[0].tolist())
        where = ", ".join(map(str, index))
        number = int(different.sum())
        text = (
            f"{one.name}[{where}] is {here[index].item():.9g} when the programs run one way,"
            f" and {there[index].item():.9g} in another order;"
            f" {counted(number, 'element')} {differ(number)}"
        )
        judgement = judge(other.tensor, one.tensor.double(), one.tensor, [])
        is_certain = judgement.status is Status.FAIL or judgement.unasked > 0
        yield Sighting(Symptom.NONDETERMINISTIC, kernel, place, text, is_certain)
