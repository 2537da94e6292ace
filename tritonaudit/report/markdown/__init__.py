"""The report of an audit for whoever decides on a merge, in Markdown.

One report for one run, however many kernels it is about: a merge is decided once, and the worst finding comes first
whichever kernel has it. Each finding names its kernel, a second table of the summary has a row for each kernel, and
where the answers of a checklist differ between subjects they name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tritonaudit.finding import Audit
from tritonaudit.report.about import About
from tritonaudit.report.evidence import Evidence, evidence
from tritonaudit.report.header import header, kernel_names
from tritonaudit.report.markdown.checklists import checklists
from tritonaudit.report.markdown.commands import commands
from tritonaudit.report.markdown.details import details
from tritonaudit.report.markdown.launches import launches
from tritonaudit.report.markdown.performance import performance, roofline
from tritonaudit.report.markdown.recommendations import recommendations
from tritonaudit.report.markdown.summary import summary
from tritonaudit.report.markdown.text import inline
from tritonaudit.report.section import Section


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """The report, of which every heading is there whatever was run."""
    return "".join(f"{line}\n" for line in _lines(evidence(audit, sections, about)))


def _lines(found: Evidence) -> Iterator[str]:
    yield "# Triton Kernel Audit Report"
    yield ""
    yield "   ".join(f"**{name}**: {inline(text)}" for name, text in header(found).items())
    parts: tuple[tuple[str, Callable[[Evidence], Iterator[str]]], ...] = (
        ("Summary", summary),
        *((("Launches of the Command", launches),) if found.traced is not None else ()),
        ("Detailed Findings", details),
        (f"Performance Audit: {inline(kernel_names(found))}", performance),
        ("Roofline", roofline),
        ("Checklists", checklists),
        ("Recommendations", recommendations),
        ("Test Commands", commands),
    )
    for heading, part in parts:
        yield ""
        yield f"## {heading}"
        yield ""
        yield from part(found)
