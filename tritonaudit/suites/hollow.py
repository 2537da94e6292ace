"""Calls on tensors without memory, which only the CPU engine can do: where accesses go when offsets are large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tritonaudit.execute.blame import account_in, depends_on_stand_in, described, is_refusal
from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.large import ELEMENTS
from tritonaudit.suites.outcome import CaseOutcome, Sighting

if TYPE_CHECKING:
    from tritonaudit.suites.calling import Called, Device

LARGE = "large tensors: more than 2^31 elements"
FAR = "views of large tensors: more than 2^31 elements"
"""What the checks are called."""
_SYMPTOMS = frozenset((Symptom.OVERFLOW, Symptom.OUT_OF_BOUNDS))


def look(device: Device, subject: Subject, case: Case) -> CaseOutcome:
    """Call the subject on tensors without memory, and see where its accesses go."""
    from tritonaudit.suites import memory
    from tritonaudit.suites.calling import How, call_subject

    called = call_subject(device, subject, case, How(has_memory=False))
    sightings = tuple(_reported_once([one for one in memory.sightings(called) if one.symptom in _SYMPTOMS]))
    if called.error is not None and not sightings:
        refused = tuple(_too_many_programs(case, called))
        checked = frozenset(one.symptom for one in refused)
        return CaseOutcome(case, checked, refused, unchecked=((Symptom.OVERFLOW, _said(called.error)),))
    undecided = [(ran.launch.kernel, fault) for ran in called.ran for fault in ran.undecided]
    if undecided and not sightings:
        reason = f"on tensors without memory: in `{undecided[0][0].name}` {memory.said(undecided[0][1])}"
        unchecked = ((Symptom.OVERFLOW, reason), (Symptom.OUT_OF_BOUNDS, reason))
        return CaseOutcome(case, frozenset(), unchecked=unchecked)
    return CaseOutcome(case, _SYMPTOMS, sightings, kernels=tuple({ran.launch.kernel for ran in called.ran}))


def _said(error: BaseException) -> str:
    """Why nothing is known of a call that raised."""
    if depends_on_stand_in(error):
        return f"calling it {described(error)}"
    if is_refusal(error):
        return f"the wrapper refuses the case: {described(error)}"
    account = account_in(error)
    what = "" if account.kind.startswith("tritonaudit.") else f"{account.kind}: "
    return f"on tensors without memory: {what}{account.text}"


def look_far(device: Device, subject: Subject, case: Case) -> CaseOutcome:
    """The same of elements that lie far apart, for integers that overflow: how tensors lie is tried elsewhere."""
    outcome = look(device, subject, case)
    only = frozenset((Symptom.OVERFLOW,))
    seen = tuple(one for one in outcome.sightings if one.symptom in only)
    unchecked = tuple(one for one in outcome.unchecked if one[0] in only)
    return replace(outcome, checked=outcome.checked & only, sightings=seen, unchecked=unchecked)


def _too_many_programs(case: Case, called: Called) -> Iterator[Sighting]:
    """Launches that no GPU takes, of tensors that lie as they do with most callers.

    Others are so large in one dimension as nobody has them, and so is what has too many programs along x.
    """
    from tritonaudit.simulator.live import why_too_large

    for ran in called.ran if case.layout is Layout.CONTIGUOUS else ():
        if ran.launch.grid is not None and ran.launch.grid[0] < ELEMENTS and (why := why_too_large(ran.launch)):
            yield Sighting(Symptom.CRASH, ran.launch.kernel, None, why, is_certain=False)


def not_looked(case: Case, reason: str) -> CaseOutcome:
    """That no such case can be had."""
    return CaseOutcome(case, frozenset(), unchecked=((Symptom.OVERFLOW, f"with so many elements: {reason}"),))


def _reported_once(sightings: Sequence[Sighting]) -> Iterator[Sighting]:
    """Without the accesses that go wrong since an integer overflowed, which few callers have tensors enough for."""
    overflowed = {one.place for one in sightings if one.symptom is Symptom.OVERFLOW}
    for one in sightings:
        if one.symptom is Symptom.OVERFLOW:
            yield replace(one, is_certain=False)
        elif one.place not in overflowed:
            yield one
