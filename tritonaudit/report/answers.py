"""How the checklists are answered: by findings, by what checks came to, and by the cases that were tried.

`not checked` is the answer wherever a part of what an item asks was not done; what was done and found nothing does not
make up for it. A finding answers all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.compile.phrases import counted, listed
from tritonaudit.finding import Status
from tritonaudit.report.checklists import Convention, Done, Entry, Item, Measured, Value
from tritonaudit.report.coverage import Coverage, covered
from tritonaudit.report.evidence import (
    ASKED,
    Evidence,
    applies,
    codes_of,
    outcome_of,
    place,
    shown_check,
    why_unknown,
)
from tritonaudit.report.words import Code, Words, among, joined, words
from tritonaudit.suites.facts import CORE
from tritonaudit.suites.gather import SubjectRun

YES, NO, NOT_CHECKED = "yes", "no", "not checked"
_SEEN = (Status.FAIL, Status.WARN)


@dataclass(frozen=True)
class Answer:
    """The word of an answer, whether it is a good one (None: neither), and what it rests on."""

    word: str
    is_good: bool | None
    because: Words

    @property
    def shown(self) -> str:
        mark = {True: "✅", False: "❌", None: "➖"}[self.is_good]
        return f"{mark} {self.word}"


def answer(entry: Entry, evidence: Evidence) -> Answer:
    """The answer to an entry of a checklist."""
    match entry:
        case Item():
            return _of_item(entry, evidence)
        case Done():
            return _of_done(entry, evidence)
        case Convention():
            return _of_convention(entry, evidence)
        case Value():
            return _of_value(entry, evidence)
        case Measured():
            return _of_measured(entry, evidence)


@dataclass(frozen=True)
class FurtherCheck:
    """What a check came to in some of the subjects, and what of each."""

    check: str
    status: Status
    because: Words


def further_checks(evidence: Evidence) -> Iterator[FurtherCheck]:
    """What the checks of the run stage came to that no entry of the checklists asks for."""
    outcomes = [(run, one) for run in evidence.runs for one in run.outcomes if one.check not in ASKED]
    by_status: dict[tuple[str, Status], dict[str, list[Code]]] = {}
    for run, outcome in outcomes:
        case = run.coverage.shown_core if outcome.check == CORE else outcome.case
        because = ", ".join(filter(None, (case, outcome.reason)))
        name = Code(evidence.label(run))
        by_status.setdefault((outcome.check, outcome.status), {}).setdefault(because, []).append(name)
    order = list(dict.fromkeys(check for check, _ in by_status))
    for (check, status), by_text in sorted(by_status.items(), key=lambda item: order.index(item[0][0])):
        yield FurtherCheck(check, status, joined(words(among(names), ": ", text) for text, names in by_text.items()))


def _of_item(item: Item, evidence: Evidence) -> Answer:
    if item.unanswered:
        return Answer(NOT_CHECKED, None, words(item.unanswered))
    if seen := list(_seen(item, evidence)):
        return Answer(YES if item.flag else NO, False, among(seen))
    missing = list(_missing(item, evidence))
    silent = list(_silent(item, evidence))
    if missing:
        return Answer(NOT_CHECKED, None, joined([*missing, *silent]))
    return Answer(NO if item.flag else YES, True, joined(silent))


def _seen(item: Item, evidence: Evidence) -> Iterator[Words]:
    """Findings, and checks that failed though no finding says so."""
    reported = {code for check in item.checks for code in codes_of(check)}
    findings = evidence.findings({*item.rules, *reported})
    yield from (words(f"{finding.code} at ", Code(place(finding))) for finding in findings)
    found = {check for check in item.checks if evidence.findings(codes_of(check))}
    for check in item.checks:
        for run in evidence.runs if check not in found else ():
            outcome = outcome_of(run, check)
            if outcome is not None and outcome.status in _SEEN:
                yield words(f"{shown_check(check)} in ", Code(evidence.label(run)), ": ", outcome.reason)


def _missing(item: Item, evidence: Evidence) -> Iterator[Words]:
    """What an answer would need and was not done."""
    yield from filter(None, map(evidence.why_rule_did_not_run, item.rules))
    if not item.checks:
        return
    if evidence.why_nothing_ran:
        yield words(evidence.why_nothing_ran)
        return
    yield from _by_subject(evidence, lambda run: _why_not_done(run, item.checks))
    if evidence.never_launched:
        yield _unlaunched(evidence)


def _unlaunched(evidence: Evidence) -> Words:
    return words("no subject launches ", among(Code(kernel.name) for kernel in evidence.never_launched))


def _why_not_done(run: SubjectRun, checks: Sequence[str]) -> Words:
    """Empty where all of the checks that apply to the subject came to a verdict."""
    applying = [check for check in checks if applies(check, run)]
    if not applying:
        return words("none of its dtypes can hold such numbers")
    by_reason: dict[str, list[str]] = {}
    for check in applying:
        by_reason.setdefault(why_unknown(check, run), []).append(check)
    return joined(words(_named(missed, applying), why) for why, missed in by_reason.items() if why)


def _named(checks: Sequence[str], of: Sequence[str]) -> str:
    """The checks that something is said of; empty where it is said of all."""
    return "" if len(checks) == len(of) else f"{listed(map(shown_check, checks))}: "


def _silent(item: Item, evidence: Evidence) -> Iterator[Words]:
    """What was done and found nothing."""
    if codes := [code for code in item.rules if not evidence.why_rule_did_not_run(code)]:
        yield words(f"no finding of {listed(codes)}")
    by_shares: dict[Words, list[str]] = {}
    for check in item.checks:
        by_shares.setdefault(among(_shares(check, evidence)), []).append(check)
    for shares, checks in by_shares.items():
        if shares:
            yield words(_named(checks, item.checks), "not seen in " if item.flag else "nothing wrong in ", shares)


def _shares(check: str, evidence: Evidence) -> Iterator[Words]:
    """In how many cases of which subjects a check passed."""
    by_share: dict[str, list[Code]] = {}
    for run in evidence.runs:
        outcome = outcome_of(run, check)
        if outcome is not None and outcome.status is Status.PASS:
            also = f" ({outcome.reason})" if outcome.reason else ""
            by_share.setdefault(f"{outcome.case}{also}", []).append(Code(evidence.label(run)))
    yield from (words(f"{share} of ", among(names)) for share, names in by_share.items())


def _by_subject(evidence: Evidence, describe: Callable[[SubjectRun], Words]) -> Iterator[Words]:
    """What is said of each subject, once where several have the same; their names, unless it is said of all."""
    by_text: dict[Words, list[Code]] = {}
    for run in evidence.runs:
        by_text.setdefault(describe(run), []).append(Code(evidence.label(run)))
    for text, names in by_text.items():
        if text:
            yield text if len(by_text) == 1 else words(among(names), ": ", text)


def _of_done(done: Done, evidence: Evidence) -> Answer:
    """Whether a check was done in each subject, whatever it came to."""
    if evidence.why_nothing_ran:
        return Answer(NOT_CHECKED, None, words(evidence.why_nothing_ran))
    missing = list(_by_subject(evidence, lambda run: _why_not_done(run, (done.check,))))
    if missing:
        return Answer(NO, False, joined(missing))
    if evidence.never_launched:
        return Answer(NOT_CHECKED, None, _unlaunched(evidence))
    return Answer(YES, True, joined(_by_subject(evidence, lambda run: _cases_of(run, done.check))))


def _cases_of(run: SubjectRun, check: str) -> Words:
    outcome = outcome_of(run, check)
    return words(outcome.case) if outcome is not None else ()


def _of_convention(convention: Convention, evidence: Evidence) -> Answer:
    if evidence.why_nothing_ran:
        return Answer(NOT_CHECKED, None, words(evidence.why_nothing_ran))
    verdicts = [verdict for run in evidence.runs for verdict in _verdicts(convention, run)]
    if not verdicts:
        return Answer(NOT_CHECKED, None, words("no result was compared with a reference's"))
    shares = _by_subject(evidence, lambda run: _share(_verdicts(convention, run)))
    return Answer(YES if all(verdicts) else NO, None, joined(shares))


def _verdicts(convention: Convention, run: SubjectRun) -> list[bool]:
    return [getattr(trial.closeness, convention.name) for trial in run.trials if trial.closeness is not None]


def _share(verdicts: Sequence[bool]) -> Words:
    return words(f"in {sum(verdicts)} of {counted(len(verdicts), 'trial')}")


def _of_value(value: Value, evidence: Evidence) -> Answer:
    if evidence.why_nothing_ran:
        return Answer("not covered", None, words(evidence.why_nothing_ran))
    coverage = [covered(value, run) for run in evidence.runs]
    is_covered = [one.is_covered for one in coverage]
    differs = any(is_covered) and not all(is_covered)
    because = joined(_by_subject(evidence, lambda run: _coverage_of(covered(value, run), differs)))
    return Answer("covered", True, because) if all(is_covered) else Answer("not covered", None, because)


def _coverage_of(coverage: Coverage, differs: bool) -> Words:
    return words("not covered, " if differs and not coverage.is_covered else "", coverage.because)


def _of_measured(asked: Measured, evidence: Evidence) -> Answer:
    if found := evidence.findings(asked.rules):
        because = among(words(f"{finding.code} at ", Code(place(finding))) for finding in found)
        return Answer(YES if asked.flag else NO, False, because)
    if evidence.why_nothing_measured:
        return Answer(NOT_CHECKED, None, words(evidence.why_nothing_measured))
    if off := [reason for reason in map(evidence.why_rule_did_not_run, asked.rules) if reason]:
        return Answer(NOT_CHECKED, None, joined(off))
    by_reason: dict[tuple[Status, str], list[Code]] = {}
    for subject in evidence.timed:
        for outcome in subject.outcomes:
            if outcome.check == asked.check:
                reason = ", ".join(filter(None, (outcome.case, outcome.reason)))
                by_reason.setdefault((outcome.status, reason), []).append(Code(subject.name))
    if not by_reason:
        return Answer(NOT_CHECKED, None, words("no subject asks for it"))
    because = joined(words(among(names), f": {reason}") for (_, reason), names in by_reason.items())
    if all(status is Status.PASS for status, _ in by_reason):
        return Answer(NO if asked.flag else YES, True, because)
    failed = any(status is Status.FAIL for status, _ in by_reason) and not asked.flag
    return Answer(NO, False, because) if failed else Answer(NOT_CHECKED, None, because)
