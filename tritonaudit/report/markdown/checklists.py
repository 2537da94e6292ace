"""The checklists with their answers, what else was checked, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.answers import answer, further_checks
from tritonaudit.report.checklists import CHECKLISTS, Checklist
from tritonaudit.report.evidence import Evidence
from tritonaudit.report.markdown.text import code, inline, prose, row, table


def checklists(evidence: Evidence) -> Iterator[str]:
    yield "No finding is no proof: a rule that cannot tell is silent, and suppressed findings are not counted."
    for asked in CHECKLISTS:
        yield ""
        yield f"### {asked.title}"
        yield ""
        yield from _answers(asked, evidence)
    if checks := list(further_checks(evidence)):
        yield ""
        yield "### Further checks"
        yield ""
        yield from table("Check", "Came to", "Because")
        yield from (row(prose(one.check), one.status.value, inline(one.because)) for one in checks)
    for run in evidence.runs:
        if run.left_out:
            yield ""
            yield f"Left out of {code(run.name)}:"
            yield ""
            yield from (f"* {prose(what)}: {prose(why)}" for what, why in run.left_out)


def _answers(asked: Checklist, evidence: Evidence) -> Iterator[str]:
    yield from table("Item", "Answer", "Because")
    for entry in asked.entries:
        found = answer(entry, evidence)
        yield row(prose(entry.text), found.shown, inline(found.because))
