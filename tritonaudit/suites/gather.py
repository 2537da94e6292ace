"""From what a subject's trials came to, to facts of its kernels and outcomes of its checks. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.compile.places import Places
from tritonaudit.finding import Elsewhere, Outcome, Span, Status, Witness
from tritonaudit.shown import shown_path
from tritonaudit.subject.model import Case
from tritonaudit.suites.coverage import SUITES, Coverage, Verdict, core_outcome, coverage_of, verdict_of
from tritonaudit.suites.facts import SELDOM, RunKernel, Seen, Symptom
from tritonaudit.suites.journal import REST, Ended, Record, Stopped
from tritonaudit.suites.opinion import Opinion, outcome_of
from tritonaudit.suites.outcome import CaseOutcome, Sighting, Simplest
from tritonaudit.suites.relation_names import is_call, is_relation, shown_relations, silent_relations
from tritonaudit.suites.sentences import counted
from tritonaudit.suites.stability import NUMERIC
from tritonaudit.suites.suite import Suite
from tritonaudit.suites.witness import witness_of

INTERRUPTED = "interrupted"
NO_CASE = "no case of it looks for that"


_INSTEAD = {Symptom.WEAK_REFERENCE: Status.INCONCLUSIVE}
"""What a symptom means that is no defect of the subject's."""


@dataclass(frozen=True)
class SubjectRun:
    """All that trying a subject came to: `trials` in their order, what was `left_out` and why, its `coverage`.

    The `seed` drew the cases that nobody could foresee; None where it came to none. The `outcomes` are of the suites
    that were `asked` for; of the others, the checks in `failed_unasked` failed.
    """

    path: Path
    name: str
    trials: tuple[CaseOutcome, ...]
    kernels: tuple[RunKernel, ...]
    outcomes: tuple[Outcome, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    seed: int | None = None
    asked: tuple[Suite, ...] = SUITES
    failed_unasked: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """What it came to as a whole."""
        return verdict_of(self.outcomes, self.coverage)

    @property
    def is_known_to_compute(self) -> bool:
        """Whether nothing is wrong with it, and all has been tried that says so of its results."""
        missing = self.coverage.missing_of(*(suite for suite in SUITES if suite is not Suite.MEMORY))
        is_wrong = self.verdict is Verdict.FAIL or bool(self.failed_unasked)
        return not is_wrong and all(missed.is_moot for missed in missing)

    @property
    def questions(self) -> tuple[str, ...]:
        """What was seen that a guess may be to blame for, with what would have to be known: once of each symptom."""
        first: dict[tuple[Symptom, KernelRef], Sighting] = {}
        for one in (one for trial in self.trials for one in trial.sightings if one.question):
            first.setdefault((one.symptom, one.kernel), one)
        return tuple(f"`{one.kernel.name}`: {one.text}: {one.question}" for one in first.values())

    @property
    def cases(self) -> int:
        """How many different cases were tried."""
        return len({trial.case.label for trial in self.trials})

    @property
    def launched(self) -> tuple[KernelRef, ...]:
        """Every kernel that it launched."""
        return tuple(dict.fromkeys(kernel for trial in self.trials for kernel in trial.kernels))


def gather(
    path: Path,
    subject: str,
    record: Record,
    cut_short: str = INTERRUPTED,
    *,
    watched: Record | None = None,
    cross_checked: bool = False,
) -> SubjectRun:
    """The run of a subject, from its journal; where that has no end, it was `cut_short` by this.

    Of a subject that ran on a GPU, the journal of what the CPU engine `watched` of its memory stands beside it. Where
    it was to be `cross_checked`, what came of that is reported, too.
    """
    records = [record] if watched is None else [record, watched]
    ended = [entry for one in records for entry in one.ended]
    trials = tuple(_where_it_proves(entry.outcome for entry in ended))
    stopped = record.stopped
    left_out = (*(stopped.left_out if stopped else ((REST, cut_short),)), *silent_relations(ended))
    is_related_alone = bool(ended) and all(is_relation(entry.trial.check) for entry in ended)
    place = f"{shown_path(path)}: {subject}"
    of_suites = [(record, [Suite.CORRECTNESS])] if is_related_alone else _with_suites(record, watched)
    coverage = coverage_of(of_suites, cut_short)
    none = dict(coverage.inapplicable).get(Suite.STABILITY.value, "")
    why, no_hardship = _why_unknown(stopped, cut_short), f"does not apply: {none}" if none else ""
    checks = (
        *(() if is_related_alone else _outcomes(place, trials, why, no_hardship)),
        *_named_outcomes(place, ended),
    )
    core = core_outcome(place, checks, coverage, shown_relations(checks))
    is_never_called = is_related_alone and all(is_call(entry.trial.check) for entry in ended)
    return SubjectRun(
        path,
        subject,
        trials,
        tuple(_kernels(path, subject, trials)),
        (
            *(() if is_never_called and stopped else (core,)),
            *checks,
            *(_second_opinion(place, record, cut_short) if cross_checked else ()),
            *(() if stopped else (Outcome(REST, place, Status.NOT_RUN, reason=cut_short),)),
        ),
        left_out,
        coverage,
        record.seed,
    )


def _where_it_proves(trials: Iterable[CaseOutcome]) -> Sequence[CaseOutcome]:
    """A reference that is too weak in some cases is weak only if there is none in which it proves something."""
    known = list(trials)
    weak = Symptom.WEAK_REFERENCE
    proves = any(weak in one.checked and all(seen.symptom is not weak for seen in one.sightings) for one in known)
    if not proves:
        return known
    return [replace(one, sightings=tuple(seen for seen in one.sightings if seen.symptom is not weak)) for one in known]


def _why_unknown(stopped: Stopped | None, cut_short: str) -> str:
    """Why a check of which no trial tells anything is unknown."""
    if stopped is None:
        return cut_short
    return stopped.why if stopped.left_out else NO_CASE


def _with_suites(record: Record, watched: Record | None) -> list[tuple[Record, Sequence[Suite]]]:
    """The records of a subject, and the suites that each decides."""
    if watched is None:
        return [(record, SUITES)]
    return [(record, [suite for suite in SUITES if suite is not Suite.MEMORY]), (watched, [Suite.MEMORY])]


def _kernels(path: Path, subject: str, trials: Sequence[CaseOutcome]) -> Iterator[RunKernel]:
    """The kernels of which something was seen, in the order of files and lines."""
    places = Places()
    found: dict[KernelRef, dict[object, list[tuple[Sighting, Case]]]] = {}
    for trial in trials:
        for sighting in (one for one in trial.sightings if not one.question):
            alike = found.setdefault(sighting.kernel, {}).setdefault(sighting.key, [])
            alike.append((sighting, trial.case))
    cases = len({trial.case.label for trial in trials})
    for kernel, by_key in sorted(found.items(), key=lambda item: (item[0].path, item[0].line)):
        span = places.name(kernel.path, kernel.line)
        seen = tuple(_seen(path, subject, alike, kernel, span, places) for alike in by_key.values())
        yield RunKernel(kernel.path or str(path), kernel.name, span, subject, cases, seen)


def _seen(
    path: Path, subject: str, alike: Sequence[tuple[Sighting, Case]], kernel: KernelRef, span: Span, places: Places
) -> Seen:
    """One defect over the cases that show it: what the simplest of the surest shows, and that as its witness."""
    seldom = [one for one in alike if one[0].text.endswith(SELDOM)]  # certain, but for who has such inputs
    surest = [one for one in alike if one[0].is_certain] or seldom or alike
    first, case = next((one for one in surest if one[0].simplest), surest[0])
    simplest = first.simplest or Simplest(case, first.text)
    if first.text.endswith(SELDOM) and not simplest.text.endswith(SELDOM):
        simplest = Simplest(case, first.text)
    elsewhere = ""
    if first.place is not None:
        file, line, column = first.place
        if file == kernel.path:
            span = places.expression(file, line, column)
        else:
            elsewhere = f" ({shown_path(Path(file))}:{line})"
    labels = tuple(dict.fromkeys(case.label for _, case in alike))
    witness: Witness = witness_of(path, subject, simplest.case)
    related = tuple((places.expression(*at), how) for at, how in first.related if at[0] == kernel.path)
    way = tuple(way_to(first, kernel, places)) if not elsewhere else ()
    return Seen(first.symptom, span, labels, f"{simplest.text}{elsewhere}", first.is_certain, witness, related, way)


def way_to(sighting: Sighting, kernel: KernelRef, places: Places) -> Iterator[tuple[Span | Elsewhere, str]]:
    """From the launch through the kernel and what it calls; nothing where neither launch nor calls are known."""

    def at(path: str, span: Span) -> Span | Elsewhere:
        return span if path == kernel.path else Elsewhere(path, span)

    if sighting.launch is not None:
        path, line = sighting.launch
        yield at(path, places.line(path, line).span), "it is launched here"
    if sighting.launch is not None or sighting.calls:
        yield places.name(kernel.path, kernel.line), f"into `{kernel.name}`"
    for path, line, column in sighting.calls:
        yield at(path, places.expression(path, line, column)), "it is called here"


def _outcomes(place: str, trials: Sequence[CaseOutcome], missed: str, no_hardship: str) -> Iterator[Outcome]:
    """What looking for each symptom came to, over all trials; for one that none looked for, why it was `missed`.

    Where no hardship applies to the subject, `no_hardship` says so.
    """
    for symptom in (one for one in Symptom if one is not Symptom.BROKEN_RELATION):
        seen = [one for trial in trials for one in trial.sightings if one.symptom is symptom]
        checked = len({trial.case.label for trial in trials if symptom in trial.checked})
        reasons = [reason for trial in trials for other, reason in trial.unchecked if other is symptom]
        if not (reasons or checked or (symptom is Symptom.UNSTABLE and _is_wrong(trials))):
            reasons = [(no_hardship if symptom is Symptom.UNSTABLE else "") or missed]
        yield from outcome_of_check(symptom.value, place, seen, checked, reasons)


def _is_wrong(trials: Sequence[CaseOutcome]) -> bool:
    """Whether it is on ordinary inputs, for then no hard ones are tried."""
    return any(one.is_certain and one.symptom in NUMERIC for trial in trials for one in trial.sightings)


def _named_outcomes(place: str, ended: Sequence[Ended]) -> Iterator[Outcome]:
    """What the trials that have a name of their own came to, name by name."""
    silent = {check for check, _ in silent_relations(ended)}
    for check in dict.fromkeys(entry.trial.check for entry in ended if ": " in entry.trial.check):
        found = [entry.outcome for entry in ended if entry.trial.check == check]
        if check in silent:
            continue
        seen = [sighting for outcome in found for sighting in outcome.sightings]
        reasons = [reason for outcome in found for _, reason in outcome.unchecked]
        checked = 0 if all(outcome.unchecked for outcome in found) else len(found)
        yield from outcome_of_check(check, place, seen, len(found) if seen else checked, reasons)


def _second_opinion(place: str, record: Record, cut_short: str) -> Iterator[Outcome]:
    left_out = record.stopped.left_out if record.stopped else ()
    reason = next((why for what, why in left_out if what == REST), cut_short)
    yield outcome_of(place, record.opinions or (Opinion("", reason=reason),))


def outcome_of_check(
    check: str, place: str, seen: Sequence[Sighting], checked: int, reasons: Sequence[str]
) -> Iterator[Outcome]:
    """What a check of so many cases came to, which could not be made in others for these reasons."""
    sure = [one for one in seen if not one.question]
    if seen and not sure:
        yield Outcome(
            check, place, Status.INCONCLUSIVE, counted(checked, "case"), f"{seen[0].text}; {seen[0].question}"
        )
    elif seen:
        seen = sure
        status = Status.FAIL if any(one.is_certain for one in seen) else Status.WARN
        status = _INSTEAD.get(seen[0].symptom, status)
        surest = next((one for one in seen if one.is_certain), seen[0])
        yield Outcome(check, place, status, counted(checked, "case"), surest.text)
    elif checked:
        yield Outcome(check, place, Status.PASS, counted(checked, "case"), _also(reasons))
    elif reasons:
        yield Outcome(check, place, Status.NOT_RUN, reason=reasons[0])


def _also(reasons: Sequence[str]) -> str:
    return f"not in {counted(len(reasons), 'case')}: {reasons[0]}" if reasons else ""
