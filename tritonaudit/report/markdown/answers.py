"""How the checklists are answered: by findings, by what checks came to, and by the cases that were tried.

`not checked` is the answer wherever a part of what an item asks was not done; what was done and found nothing does not
make up for it. A finding answers all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.compile.phrases import counted
from tritonaudit.finding import Status
from tritonaudit.report.checklists import Checklist, Convention, Done, Entry, Item, Value
from tritonaudit.report.markdown.coverage import covered
from tritonaudit.report.markdown.evidence import Evidence, codes_of, outcome_of, place
from tritonaudit.report.markdown.text import among, code, prose, row, table
from tritonaudit.suites.gather import SubjectRun

YES, NO, NOT_CHECKED = "yes", "no", "not checked"
_SEEN = (Status.FAIL, Status.WARN)


@dataclass(frozen=True)
class Answer:
    """The word of an answer, whether it is a good one (None: neither), and what it rests on, in Markdown."""

    word: str
    is_good: bool | None
    because: str

    @property
    def shown(self) -> str:
        mark = {True: "✅", False: "❌", None: "➖"}[self.is_good]
        return f"{mark} {self.word}"


def checklist(asked: Checklist, evidence: Evidence) -> Iterator[str]:
    """The answers to a checklist as a table."""
    yield from table("Item", "Answer", "Because")
    for entry in asked.entries:
        found = answer(entry, evidence)
        yield row(prose(entry.text), found.shown, found.because)


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


def further_checks(asked: Sequence[Checklist], evidence: Evidence) -> Iterator[str]:
    """What the checks of the run stage came to that no entry of the checklists asks for, as a table."""
    bound = {check for each in asked for entry in each.entries if isinstance(entry, Item) for check in entry.checks}
    outcomes = [outcome for run in evidence.runs for outcome in run.outcomes if outcome.check not in bound]
    if outcomes:
        yield from table("Check", "Subject", "Came to", "Because")
    for outcome in outcomes:
        because = ", ".join(filter(None, (outcome.case, outcome.reason)))
        yield row(prose(outcome.check), prose(outcome.subject), outcome.status.value, prose(because))


def _of_item(item: Item, evidence: Evidence) -> Answer:
    if item.unanswered:
        return Answer(NOT_CHECKED, None, prose(item.unanswered))
    if seen := list(_seen(item, evidence)):
        return Answer(YES if item.flag else NO, False, among(seen))
    missing = list(_missing(item, evidence))
    silent = list(_silent(item, evidence))
    if missing:
        return Answer(NOT_CHECKED, None, "; ".join([*missing, *silent]))
    return Answer(NO if item.flag else YES, True, "; ".join(silent))


def _seen(item: Item, evidence: Evidence) -> Iterator[str]:
    """Findings, and checks that failed though no finding says so."""
    reported = {code for check in item.checks for code in codes_of(check)}
    findings = evidence.findings({*item.rules, *reported})
    yield from (f"{finding.code} at {code(place(finding))}" for finding in findings)
    told = {check for check in item.checks if evidence.findings(codes_of(check))}
    for check in item.checks:
        for run in evidence.runs if check not in told else ():
            outcome = outcome_of(run, check)
            if outcome is not None and outcome.status in _SEEN:
                yield f"{prose(check)} in {code(run.name)}: {prose(outcome.reason)}"


def _missing(item: Item, evidence: Evidence) -> Iterator[str]:
    """What an answer would need and was not done."""
    yield from (prose(reason) for reason in map(evidence.why_rule_did_not_run, item.rules) if reason)
    if not item.checks:
        return
    if evidence.why_nothing_ran:
        yield prose(evidence.why_nothing_ran)
        return
    for check in item.checks:
        yield from _told(evidence.runs, lambda run, check=check: _why_not_done(run, check))  # type: ignore[misc]
    if evidence.never_launched:
        yield f"no subject launches {among(code(kernel.name) for kernel in evidence.never_launched)}"


def _why_not_done(run: SubjectRun, check: str) -> str:
    """Empty where the check of the subject came to a verdict."""
    outcome = outcome_of(run, check)
    if outcome is None:
        return f"{prose(check)} was not tried"
    if outcome.status in (Status.NOT_RUN, Status.INCONCLUSIVE):
        return f"{prose(check)} is {outcome.status.value}: {prose(outcome.reason)}"
    return ""


def _silent(item: Item, evidence: Evidence) -> Iterator[str]:
    """What was done and found nothing."""
    if codes := [code for code in item.rules if not evidence.why_rule_did_not_run(code)]:
        yield f"no finding of {' and '.join(codes)}"
    for check in item.checks:
        yield from _told(evidence.runs, lambda run, check=check: _passed(run, check))  # type: ignore[misc]


def _passed(run: SubjectRun, check: str) -> str:
    outcome = outcome_of(run, check)
    if outcome is None or outcome.status is not Status.PASS:
        return ""
    also = f" ({prose(outcome.reason)})" if outcome.reason else ""
    return f"not seen: {prose(check)}, in {outcome.case}{also}"


def _told(runs: tuple[SubjectRun, ...], tell: Callable[[SubjectRun], str]) -> Iterator[str]:
    """What is told of each subject, once where it is the same of several; their names, unless it is told of all."""
    by_text: dict[str, list[str]] = {}
    for run in runs:
        by_text.setdefault(tell(run), []).append(run.name)
    for text, names in by_text.items():
        if text:
            yield text if len(by_text) == 1 else f"{among(map(code, names))}: {text}"


def _of_done(done: Done, evidence: Evidence) -> Answer:
    """Whether a check was done in each subject, whatever it came to."""
    if evidence.why_nothing_ran:
        return Answer(NOT_CHECKED, None, prose(evidence.why_nothing_ran))
    missing = list(_told(evidence.runs, lambda run: _why_not_done(run, done.check)))
    if missing:
        return Answer(NO, False, "; ".join(missing))
    if evidence.never_launched:
        names = among(code(kernel.name) for kernel in evidence.never_launched)
        return Answer(NOT_CHECKED, None, f"no subject launches {names}")
    return Answer(YES, True, "; ".join(_told(evidence.runs, lambda run: _cases_of(run, done.check))))


def _cases_of(run: SubjectRun, check: str) -> str:
    outcome = outcome_of(run, check)
    return outcome.case if outcome is not None else ""


def _of_convention(convention: Convention, evidence: Evidence) -> Answer:
    if evidence.why_nothing_ran:
        return Answer(NOT_CHECKED, None, prose(evidence.why_nothing_ran))
    counts = [
        (run, [getattr(trial.closeness, convention.name) for trial in run.trials if trial.closeness])
        for run in evidence.runs
    ]
    if not any(verdicts for _, verdicts in counts):
        return Answer(NOT_CHECKED, None, "no result was compared with a reference's")
    shares = {run.name: f"in {sum(verdicts)} of {counted(len(verdicts), 'trial')}" for run, verdicts in counts}
    word = YES if all(all(verdicts) for _, verdicts in counts) else NO
    return Answer(word, None, "; ".join(_told(evidence.runs, lambda run: shares[run.name])))


def _of_value(value: Value, evidence: Evidence) -> Answer:
    if evidence.why_nothing_ran:
        return Answer("not covered", None, prose(evidence.why_nothing_ran))
    coverage = {run.name: covered(value, run) for run in evidence.runs}
    everywhere = all(one.is_covered for one in coverage.values())
    because = "; ".join(_told(evidence.runs, lambda run: prose(coverage[run.name].because)))
    return Answer("covered" if everywhere else "not covered", True if everywhere else None, because)
