"""Which relations of a subject are tried, in which order, and whether what breaks one is a defect or a question.

A broken relation accuses the wrapper only where all that it hangs on is known. What only a guess shows is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tritonaudit.subject.guessed import GuessedSubject
from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.suites.axes import Axes, Axis, Value, axes_of, is_huge
from tritonaudit.suites.calling import Device
from tritonaudit.suites.cases import audit_cases, case_with
from tritonaudit.suites.coverage import REFERENCE
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.journal import CoreTrial, Trial
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.relation_names import check_of
from tritonaudit.suites.relations import Relations, tried
from tritonaudit.suites.rows import why_not_split
from tritonaudit.suites.suite import Suite

AGAIN = "the same call again"
"""Where this is broken, so is every other relation."""
_LAYOUTS = (Layout.TRANSPOSED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED)
_NARROW = ("float16", "bfloat16")
_MOST_WAYS = 3
_MOST_PARTS = 4
_MOST_CONFIGS = 6
_LARGEST = 4096

Work = Callable[[Case], CaseOutcome]


@dataclass(frozen=True)
class RelationTrial:
    """A relation to try in a case; `what` it says, in a report's words."""

    what: str
    case: Case
    work: Work

    @property
    def trial(self) -> Trial:
        return Trial(check_of(self.what), self.case.label)

    @property
    def core(self) -> CoreTrial:
        """The same as something without which nothing passes."""
        return CoreTrial(Suite.CORRECTNESS.value, self.what, self.trial, frozenset((Symptom.BROKEN_RELATION,)))


NEVER_TRIED = CoreTrial(Suite.CORRECTNESS.value, REFERENCE, Trial("reference", ""), frozenset((Symptom.WRONG_RESULT,)))
"""What relations do not stand for: whoever trusts a result needs more than that it agrees with itself."""


def ways(subject: Subject) -> Iterator[Subject]:
    """The subject, and other ways to call it where its inputs are guessed: also without a backward pass."""
    guessed = [subject, *subject.others] if isinstance(subject, GuessedSubject) else [subject]
    for one in guessed[:_MOST_WAYS]:
        yield one
        if isinstance(one, GuessedSubject) and one.gradients:
            yield replace(one, gradients=False)


def ordinary_case(subject: Subject) -> Case:
    """The case that a wrapper has to take for anything to be asked of it."""
    return audit_cases(subject, (), on_engine=True).cases[0]


def odd_trial(relations: Relations, called: CaseOutcome, *, is_asked: bool = True) -> RelationTrial | None:
    """That the wrapper takes sizes that no block divides, as well as those that it was `called` with."""
    axes = axes_of(relations.subject, sorted(called.blocks))
    case = case_with(relations.subject, axes, {axis: axis.odd for axis in axes.sizes if axis.odd is not None})
    if case is None or case == called.case:
        return None
    what, attempt = "sizes that no block divides", tried(relations.elsewhere)
    return RelationTrial(what, case, partial(_asked, relations, what, attempt) if is_asked else attempt)


def relation_trials(
    relations: Relations, called: CaseOutcome, other: Case | None, *, is_asked: bool = True
) -> Iterator[RelationTrial]:
    """The relations of a subject that was `called` so, and takes an `other` case of odd sizes, if it takes any.

    Unless it `is_asked` whose fault it is, all that is seen counts.
    """
    subject, ordinary = relations.subject, called.case
    axes = axes_of(subject, sorted(called.blocks))

    def trial(what: str, case: Case, work: Work) -> RelationTrial:
        attempt = tried(work)
        return RelationTrial(what, case, partial(_asked, relations, what, attempt) if is_asked else attempt)

    yield trial(AGAIN, ordinary, relations.again)
    if other is not None:
        yield trial("the same call after another size", ordinary, partial(relations.after, other))
    for layout in _LAYOUTS:
        if layout.value in axes.layout.values:
            yield trial(f"tensors {layout.value}", replace(ordinary, layout=layout), relations.laid_out)
    for axis in axes.sizes:
        if not why_not_split(subject, axis.name) and (found := _larger(subject, axes, axis, other)) is not None:
            sizes, case = found
            work = partial(relations.parts, axis.name, ordinary, sizes)
            yield trial(f"parts along {axis.name}", case, work)
    for number in range(1, _MOST_CONFIGS) if called.configs else ():
        yield trial(f"config {number} of the autotuner", ordinary, partial(relations.configured, number))
    for dtype in _NARROW:
        if dtype in axes.dtype.values and ordinary.dtype == "float32":
            case = replace(other or ordinary, dtype=dtype)
            yield trial(f"{dtype} beside float32", case, partial(relations.narrow, ordinary))
    yield trial("NaN beside tensors", ordinary, relations.slack)
    if subject.gradients:
        yield trial("gradients beside differences", other or ordinary, partial(relations.slopes, ordinary))
    for axis in axes.sizes:
        if not why_not_split(subject, axis.name) and other is not None and other[axis.name] > 1:
            yield trial(f"another order along {axis.name}", other, partial(relations.permuted, axis.name, ordinary))


def related(device: Device, subject: Subject, case: Case) -> tuple[CaseOutcome, ...]:
    """What the relations of a subject come to that are tried in that case."""
    for way in ways(subject):
        relations, ordinary = Relations(device, way), ordinary_case(way)
        called = tried(relations.ordinary)(ordinary)
        if called.checked:
            odd = odd_trial(relations, called)
            outcome = None if odd is None else odd.work(odd.case)
            trials = relation_trials(relations, called, taken(outcome))
            found = [one.work(one.case) for one in trials if one.case == case]
            return (*((outcome,) if outcome is not None and outcome.case == case else ()), *found)
    return (called,)


def taken(odd: CaseOutcome | None) -> Case | None:
    """The case of odd sizes, if the wrapper takes it."""
    return odd.case if odd is not None and odd.checked and not odd.sightings else None


def _larger(subject: Subject, axes: Axes, axis: Axis, odd: Case | None) -> tuple[Sequence[int], Case] | None:
    """A size of the dimension that no block divides, in a case, and sizes of parts of it; None if there is none.

    The other sizes are odd ones where these are taken: beside an ordinary one, no size makes an odd number of elements.
    """
    beside: dict[Axis, Value] = {} if odd is None else {one: odd[one.name] for one in axes.sizes}
    sizes = [int(size) for size in axis.values if not is_huge(size) and int(size) <= _LARGEST]
    for size in sorted(sizes, key=lambda one: (one % 2 == 0, -one)):
        case = case_with(subject, axes, {**beside, axis: size})
        parts = [one for one in sizes if 0 < one < size]
        if case is not None and parts:
            chosen = dict.fromkeys((*(one for one in parts if one == 1), *sorted(parts, reverse=True)))
            return list(chosen)[:_MOST_PARTS], case
    return None


def _asked(relations: Relations, what: str, work: Work, case: Case) -> CaseOutcome:
    """What comes of it, where everything that was seen is a question if the subject's inputs leave a doubt."""
    outcome, subject = work(case), relations.subject
    if not outcome.sightings or not isinstance(subject, GuessedSubject):
        return outcome
    doubts = [*subject.callers, *subject.doubts]
    if case.sizes != ordinary_case(subject).sizes:
        doubts += subject.sizes_apart
    if subject.ranks and not (doubts or _stays(relations.device, subject, what)):
        doubts += subject.ranks
    if not doubts:
        return outcome
    question = f"nothing in the project shows {_listed(doubts)}"
    sightings = (replace(one, question=one.question or question) for one in outcome.sightings)
    return replace(outcome, sightings=tuple(sightings))


def _stays(device: Device, subject: GuessedSubject, what: str) -> bool:
    """Whether tensors of another rank break such a relation, too: then it does not hang on the rank."""
    for other in subject.others:
        way = replace(other, gradients=subject.gradients)
        relations, ordinary = Relations(device, way), ordinary_case(way)
        called = tried(relations.ordinary)(ordinary)
        if not called.checked:
            continue
        odd = odd_trial(relations, called, is_asked=False)
        outcome = None if odd is None else odd.work(odd.case)
        if odd is not None and outcome is not None and outcome.sightings and odd.what == what:
            return True
        trials = relation_trials(relations, called, taken(outcome), is_asked=False)
        if any(one.work(one.case).sightings for one in trials if _kind(one.what) == _kind(what)):
            return True
    return False


def _kind(what: str) -> str:
    """A relation without the dimension that it is along."""
    return what.partition(" along ")[0]


def _listed(doubts: Sequence[str]) -> str:
    return " and ".join((", ".join(doubts[:-1]), doubts[-1])) if len(doubts) > 1 else doubts[0]
