"""What each category of the audit came to, for all kernels and for each.

A category passes only where the stage that decides it ran, found nothing in it, and tried all of the core of its
suites: what has not run is no pass, and what has in part is incomplete. Findings fail or warn whichever stage they are
of, but a warning does not hide that something was left out. Items that no rule asks are named beside a pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from tritonaudit.finding import Category, Finding, Outcome, Stage, Status
from tritonaudit.measure.checks import Check
from tritonaudit.report.checklists import PRACTICE, Item
from tritonaudit.report.evidence import (
    ASKED,
    LEVELS,
    Evidence,
    KernelName,
    applies,
    cases_tried,
    category_of,
    level,
    outcome_of,
    reported_by,
    shown_check,
    why_unknown,
)
from tritonaudit.report.words import Code, Words, among, joined, words
from tritonaudit.rules import all_rules
from tritonaudit.suites.coverage import shown_missing
from tritonaudit.suites.facts import CORE, CROSS_CHECK
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.suite import Suite

_DECISIVE = {
    Category.CORRECTNESS: Stage.RUN,
    Category.PERFORMANCE: Stage.MEASURE,
    Category.MEMORY: Stage.RUN,
    Category.STABILITY: Stage.RUN,
    Category.PRACTICE: Stage.SOURCE,
}
"""The stage without which a category is not known to be in order."""


class Verdict(IntEnum):
    """What a category came to, the better the higher."""

    FAIL = 0
    INCOMPLETE = 1
    WARN = 2
    NOT_RUN = 3
    PASS = 4

    @property
    def shown(self) -> str:
        return f"{_MARKS[self.name]} {self.name.replace('_', ' ')}"


_MARKS = {"FAIL": "❌", "WARN": "⚠️", "INCOMPLETE": "🟡", "NOT_RUN": "➖", "PASS": "✅"}


def verdict_of_all(verdicts: Iterable[Verdict]) -> Verdict:
    """What several categories come to together: the worst, but INCOMPLETE at best where only some of them ran."""
    known = set(verdicts)
    return min(known if known == {Verdict.NOT_RUN} or Verdict.NOT_RUN not in known else {*known, Verdict.INCOMPLETE})


@dataclass(frozen=True)
class Standing:
    """A verdict with what it rests on."""

    verdict: Verdict
    issues: Words


def standing_of(category: Category, evidence: Evidence) -> Standing:
    """What the category came to over all kernels."""
    findings = [finding for finding in evidence.audit.findings if finding.category is category]
    failed = _unreported(category, evidence.runs, evidence)
    gaps = _gaps(category, evidence.runs, evidence.never_launched, evidence)
    doubts = [*failed, *_inconclusive(category, evidence.runs)]
    _, beside = _missed(category, evidence.runs, evidence)
    issues = [words(_counts(findings)), *doubts, *gaps, *beside, *_scope(category, evidence)]
    is_tried = _is_tried(category, evidence.runs, evidence)
    return Standing(_verdict(findings, doubts, gaps, is_tried), joined(issues) or words("none"))


def verdict_of_kernel(category: Category, kernel: KernelName, evidence: Evidence) -> Verdict:
    """What it came to for one kernel: by its own findings, and by the checks of the subjects that launch it."""
    runs = evidence.runs_by_kernel.get(kernel, [])
    findings = [one for one in evidence.findings_by_kernel.get(kernel, ()) if one.category is category]
    doubts = [outcome for run in runs for outcome in _outcomes(category, run) if outcome.status in _DOUBTFUL]
    unlaunched = () if runs else (kernel,)
    gaps = _gaps(category, runs, unlaunched, evidence)
    return _verdict(findings, doubts, gaps, _is_tried(category, runs, evidence))


_FAILED = (Status.FAIL, Status.WARN)
_DOUBTFUL = (*_FAILED, Status.INCONCLUSIVE)


def _verdict(findings: Iterable[Finding], doubts: Sequence[object], gaps: Sequence[Words], is_tried: bool) -> Verdict:
    levels = {level(finding) for finding in findings}
    if levels & {"CRITICAL", "HIGH"}:
        return Verdict.FAIL
    if gaps and is_tried:
        return Verdict.INCOMPLETE
    if "MEDIUM" in levels or doubts:
        return Verdict.WARN
    return Verdict.NOT_RUN if gaps else Verdict.PASS


def _is_tried(category: Category, runs: Sequence[SubjectRun], evidence: Evidence) -> bool:
    """Whether the stage that decides it ran for any of these, so that what is missing is missing of something."""
    match _DECISIVE[category]:
        case Stage.RUN:
            return _is_asked(category, runs)
        case Stage.MEASURE:
            return not evidence.why_nothing_measured
    return False


def _is_asked(category: Category, runs: Sequence[SubjectRun]) -> bool:
    return any(suite in run.asked for run in runs for suite in _SUITES[category])


def _unasked(category: Category, runs: Sequence[SubjectRun], evidence: Evidence) -> Iterator[Words]:
    """That nobody asked for the category, and what failed of it all the same."""
    yield words("not asked for")
    for run in runs:
        if failed := [shown_check(check) for check in run.failed_unasked if category_of(check) is category]:
            yield words(among(failed), " fails all the same in ", Code(evidence.label(run)))


def _counts(findings: Sequence[Finding]) -> str:
    """`1 CRITICAL, 2 LOW`."""
    counts = Counter(map(level, findings))
    return ", ".join(f"{counts[word]} {word}" for word in LEVELS if counts[word])


def _outcomes(category: Category, run: SubjectRun) -> list[Outcome]:
    """Those that its verdict depends on: a second opinion is no such, and the core counts suite by suite."""
    mine = [outcome for outcome in run.outcomes if category_of(outcome.check) is category]
    return [outcome for outcome in mine if outcome.check not in (CORE, CROSS_CHECK)]


def _unreported(category: Category, runs: Sequence[SubjectRun], evidence: Evidence) -> list[Words]:
    """Checks that failed where no finding says so: it may be suppressed, or its rule off."""
    reported = {finding.code for finding in evidence.audit.findings}
    failed = [
        shown_check(outcome.check)
        for run in runs
        for outcome in _outcomes(category, run)
        if outcome.status in _FAILED and not reported & reported_by(outcome.check)
    ]
    return [words("seen, with no finding of it: ", among(failed))] if failed else []


def _inconclusive(category: Category, runs: Sequence[SubjectRun]) -> list[Words]:
    return [
        words(f"{outcome.check} inconclusive: {outcome.reason}")
        for run in runs
        for outcome in _outcomes(category, run)
        if outcome.status is Status.INCONCLUSIVE
    ]


def _gaps(
    category: Category, runs: Sequence[SubjectRun], unlaunched: Sequence[KernelName], evidence: Evidence
) -> list[Words]:
    """What of the category has not run, so that it cannot pass."""
    stage = _DECISIVE[category]
    if stage is Stage.MEASURE:
        return list(_unmeasured(evidence))
    if stage is Stage.SOURCE:
        return list(_source_gaps(category, evidence))
    if evidence.why_nothing_ran:
        return [words(evidence.why_nothing_ran)]
    if runs and not _is_asked(category, runs):
        return list(_unasked(category, runs, evidence))
    gaps = list(_untried(category, runs, evidence)) or _missed(category, runs, evidence)[0]
    if unlaunched:
        gaps.append(words("no subject launches ", among(Code(kernel.name) for kernel in unlaunched)))
    return gaps


def _unmeasured(evidence: Evidence) -> Iterator[Words]:
    """What of the measuring was not done; that a subject names no baselines of its own is no gap."""
    if evidence.why_nothing_measured:
        yield words(evidence.why_nothing_measured)
        return
    for subject in evidence.timed:
        missed = [one for one in subject.outcomes if one.check in NEEDED and one.status is not Status.PASS]
        if missed:
            yield words(Code(subject.name), f": {missed[0].check}: {missed[0].reason or missed[0].status.value}")


NEEDED = frozenset(
    check.value for check in (Check.TIMED, Check.PYTORCH, Check.COMPILED, Check.VERIFIED, Check.ROOFLINE)
)
"""The checks of the measure stage without which performance is not known to be in order."""


def _source_gaps(category: Category, evidence: Evidence) -> Iterator[Words]:
    rules = (rule for rule in all_rules() if rule.category() is category and not rule.is_pedantic())
    codes = [rule.code for rule in rules if rule.stage() is Stage.SOURCE]
    if reasons := [reason for reason in map(evidence.why_rule_did_not_run, codes) if reason]:
        yield among(reasons)


def _scope(category: Category, evidence: Evidence) -> Iterator[Words]:
    """What a pass of the category does not speak of, and how far beyond the core it rests on."""
    if category is Category.CORRECTNESS and _is_asked(category, evidence.runs):
        for run in evidence.runs:
            if run.coverage.cases:
                yield words(Code(evidence.label(run)), f": {cases_tried(run)}")
    if category is Category.PRACTICE:
        unasked = sum(isinstance(entry, Item) and bool(entry.unanswered) for entry in PRACTICE.entries)
        yield words(f"{unasked} items of its checklist are asked by no rule")


_SUITES = {
    Category.CORRECTNESS: (Suite.CORRECTNESS, Suite.INTEGRITY),
    Category.MEMORY: (Suite.MEMORY,),
    Category.STABILITY: (Suite.STABILITY,),
}
"""Of the run stage, by the category that they decide."""


def _untried(category: Category, runs: Sequence[SubjectRun], evidence: Evidence) -> Iterator[Words]:
    """What of the core was not tried, subject by subject."""
    for run in runs:
        missing = run.coverage.missing_of(*_SUITES[category])
        if missing:
            yield words(Code(evidence.label(run)), f": {shown_missing(missing)}")


def _missed(category: Category, runs: Sequence[SubjectRun], evidence: Evidence) -> tuple[list[Words], list[Words]]:
    """What did not run of the checks that the category needs, and of others, by reason."""
    needed: dict[str, list[tuple[str, str]]] = {}
    others: dict[str, list[tuple[str, str]]] = {}
    for run in runs:
        for check in (*sorted(ASKED), *(outcome.check for outcome in run.outcomes if outcome.check not in ASKED)):
            outcome = outcome_of(run, check)
            is_known = outcome is not None and outcome.status is not Status.NOT_RUN
            if category_of(check) is category and applies(check, run) and not is_known:
                missed = needed if check in ASKED else others
                missed.setdefault(why_unknown(check, run), []).append((shown_check(check), evidence.label(run)))
    return _reported(needed), _reported(others)


def _reported(missed: Mapping[str, Sequence[tuple[str, str]]]) -> list[Words]:
    """`wrong result and 4 others in `softmax`: not run: …`."""
    return [
        words(among((check for check, _ in alike), 2), " in ", among(Code(name) for _, name in alike), f": {why}")
        for why, alike in missed.items()
    ]
