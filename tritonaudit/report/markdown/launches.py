"""The launches of a command that was traced."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.evidence import Evidence
from tritonaudit.report.markdown.text import inline, prose, row, table
from tritonaudit.report.traced import LAUNCHED, launched, traced_summary


def launches(evidence: Evidence) -> Iterator[str]:
    """How many there were of each kernel, and what became of them; nothing where no command was traced."""
    traced = evidence.traced
    if traced is None:
        return
    yield prose(traced_summary(traced))
    yield ""
    yield from table(*LAUNCHED)
    yield from (row(*map(inline, cells)) for cells in launched(traced))
