"""The launches of a command that was traced."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.evidence import Evidence
from tritonaudit.report.html.document import Part
from tritonaudit.report.html.markup import element, prose
from tritonaudit.report.html.table import table
from tritonaudit.report.traced import LAUNCHED, launched, traced_summary


def launches(evidence: Evidence) -> Iterator[Part]:
    """How many there were of each kernel, and what became of them; nothing where no command was traced."""
    if evidence.traced is None:
        return
    heading = "Launches of the Command"
    summary = element("p", prose(traced_summary(evidence.traced)))
    yield Part("launches", heading, "Launches", [summary, table(heading, LAUNCHED, launched(evidence.traced))])
