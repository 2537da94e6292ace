"""The checklists with their answers, what else was checked, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tritonaudit.report.answers import Answer, answer, further_checks
from tritonaudit.report.checklists import CHECKLISTS, Checklist
from tritonaudit.report.evidence import Evidence
from tritonaudit.report.html.badge import badge, badge_of_status
from tritonaudit.report.html.markup import Content, Markup, element, joined, lines, prose
from tritonaudit.report.html.table import table
from tritonaudit.report.words import Code

_CLASSES = {True: "pass", False: "fail", None: "none"}


def checklists(evidence: Evidence) -> Iterator[Markup]:
    yield element(
        "p", "No finding is no proof: a rule that cannot tell is silent, and suppressed findings are not counted."
    )
    for asked in CHECKLISTS:
        yield _checklist(asked, evidence)
    if checks := list(further_checks(evidence)):
        rows = ((one.check, badge_of_status(one.status), one.because) for one in checks)
        yield _folding(
            "Further checks", "", table("Further checks", ("Check", "Came to", "Because"), rows, class_="stacked")
        )
    for run in evidence.runs:
        if run.left_out:
            left_out = (element("li", prose(f"{what}: {why}")) for what, why in run.left_out)
            yield element("h3", "Left out of ", Code(evidence.label(run)))
            yield element("ul", lines(*left_out))


def _checklist(asked: Checklist, evidence: Evidence) -> Markup:
    answers = [answer(entry, evidence) for entry in asked.entries]
    rows = (
        (prose(entry.text), badge(found.shown, _CLASSES[found.is_good]), found.because)
        for entry, found in zip(asked.entries, answers, strict=True)
    )
    shown = table(asked.title, ("Item", "Answer", "Because"), rows, class_="stacked")
    is_open = any(found.is_good is not None for found in answers)
    return _folding(asked.title, _counts(answers), shown, is_open=is_open)


def _counts(answers: Sequence[Answer]) -> Markup:
    """How many of the answers are good ones, bad ones, or neither, and why where it is the same of all."""
    counts = Counter(found.is_good for found in answers)
    reported = ((True, "in order"), (False, "not in order"), (None, "open"))
    shown = ", ".join(f"{counts[is_good]} {word}" for is_good, word in reported if counts[is_good])
    reasons = {found.because for found in answers}
    return joined(shown, *((": ", reasons.pop()) if len(reasons) == 1 else ()))


def _folding(title: str, counts: Content, content: Markup, *, is_open: bool = True) -> Markup:
    head = joined(element("h3", title), " ", element("small", counts)) if counts else element("h3", title)
    return element("details", element("summary", head), content, open=is_open)
