"""A table of every case that was tried, which a script lets readers sort and filter."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tritonaudit.compile.phrases import counted, listed
from tritonaudit.finding import Status
from tritonaudit.report.evidence import Evidence
from tritonaudit.report.html.badge import badge_of_status
from tritonaudit.report.html.markup import Content, Markup, element, joined, lines, prose
from tritonaudit.report.html.table import scrolling
from tritonaudit.subject.model import Case
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import CaseOutcome

_HEADS = (
    *("Subject", "Case", "Dtype", "Layout", "Fill", "Status"),
    *("Error / budget", "1e-5", "1e-3", "Seconds", "Looked for", "Seen"),
)
_NUMBERS = ("Error / budget", "Seconds")
_WORDS = ("Subject", "Case", "Layout", "Fill", "Seen")


def cases(evidence: Evidence) -> Iterator[Markup]:
    """A table of every case that was tried; nothing can be filtered where scripts do not run."""
    trials = [(evidence.label(run), trial) for run in evidence.runs for trial in run.trials]
    if not trials:
        return
    statuses = [status for status in Status if any(_status(trial) is status for _, trial in trials)]
    yield _controls(statuses, len(trials))
    head = element("tr", *(element("th", head, scope="col", class_=_class(head)) for head in _HEADS))
    body = lines(*(_row(subject, trial) for subject, trial in trials))
    caption = element("caption", f"{counted(len(trials), 'trial')}: each a case that was called, or called again")
    whole = element("table", caption, element("thead", head), element("tbody", body), id="case-table")
    yield scrolling("Every case", whole)


def _controls(statuses: list[Status], trials: int) -> Markup:
    text = element("label", "Show rows with ", element("input", type="search", id="case-text", autocomplete="off"))
    options = [element("option", "any", value="")]
    options += [element("option", status.value, value=status.value) for status in statuses]
    status = element("label", "Status ", element("select", *options, id="case-status", autocomplete="off"))
    shown = element("output", f"{trials} of {trials}", id="case-count", for_="case-text case-status")
    return element(
        "form", joined(text, status, shown, by="\n"), id="case-controls", class_="controls", role="search", hidden=True
    )


def _row(subject: str, trial: CaseOutcome) -> Markup:
    case, close = trial.case, trial.closeness
    sizes = ", ".join(f"{name}={size}" for name, size in case.sizes.items()) or "no sizes"
    seed = f", seed={case.seed}" if case.seed else ""
    gradient = "" if case.gradient is Case().gradient else f", {case.gradient.value} gradient"
    far = f", far apart along {case.far}" if case.far else ""
    parameters = ", other parameters" if case.parameters else ""
    status = _status(trial)
    cells: tuple[Content, ...] = (
        *(
            f"{sizes}{parameters}{seed}",
            case.dtype,
            f"{case.layout.value}{gradient}{far}",
            case.fill,
            badge_of_status(status),
        ),
        *((_number(close.ratio), _yes_or_no(close.strict), _yes_or_no(close.loose)) if close else ("", "", "")),
        *(f"{trial.seconds:.2f}", _looked_for(trial), prose(_seen(trial))),
    )
    classes = map(_class, _HEADS[1:])
    named = (element("td", cell, class_=class_) for cell, class_ in zip(cells, classes, strict=True))
    first = element("th", subject, scope="row", class_=_class(_HEADS[0]))
    return element("tr", first, *named, data_status=status.value)


def _class(head: str) -> str | None:
    return "number" if head in _NUMBERS else "words" if head in _WORDS else None


def _status(trial: CaseOutcome) -> Status:
    """What the case came to by what was seen in it."""
    if any(one.is_certain and one.symptom is not Symptom.WEAK_REFERENCE for one in trial.sightings):
        return Status.FAIL
    if trial.sightings:
        is_weak = all(sighting.symptom is Symptom.WEAK_REFERENCE for sighting in trial.sightings)
        return Status.INCONCLUSIVE if is_weak else Status.WARN
    return Status.PASS if trial.checked else Status.NOT_RUN


def _number(number: float) -> str:
    return f"{number:.3g}" if math.isfinite(number) else str(number)


def _yes_or_no(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _looked_for(trial: CaseOutcome) -> str:
    names = [symptom.value for symptom in Symptom if symptom in trial.checked]
    return names[0] if len(names) == 1 else f"{len(names)} symptoms"


def _seen(trial: CaseOutcome) -> str:
    """What was seen, or, where nothing could be, why."""
    if trial.sightings:
        return "; ".join(dict.fromkeys(f"{one.symptom.value}: {one.text}" for one in trial.sightings))
    if not trial.checked and trial.unchecked:
        return listed(reason for _, reason in trial.unchecked)
    return ""
