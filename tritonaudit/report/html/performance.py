"""The performance audit and the roofline, in tables and in pictures."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.compiled import CompiledSection
from tritonaudit.report.evidence import Evidence
from tritonaudit.report.html.markup import Markup, element, joined, lines, prose
from tritonaudit.report.html.roofline_plot import roofline_plot
from tritonaudit.report.html.table import table
from tritonaudit.report.html.timing_plots import timing_plots
from tritonaudit.report.timings import (
    HOW,
    NOT_RUN,
    Table,
    counters_of,
    details_of,
    doubts_of,
    found_of_performance,
    roof_of,
    times_of,
)
from tritonaudit.report.words import Code, Words


def performance(evidence: Evidence) -> Iterator[Markup]:
    """What was timed, and what the compiler made of the launches; nothing where neither was done."""
    if not evidence.why_nothing_measured:
        yield element("p", HOW)
        yield from _timed(evidence)
    elif evidence.compiled is not None and evidence.compiled.kernels:
        yield element("p", prose(not_measured(evidence)))
    if found := found_of_performance(evidence):
        yield element("p", found)
    yield from _compiled(evidence)


def not_measured(evidence: Evidence) -> str:
    """Why there are no figures."""
    return f"{NOT_RUN}: {evidence.why_nothing_measured}."


def _timed(evidence: Evidence) -> Iterator[Markup]:
    for subject in evidence.timed:
        yield element("h3", Code(subject.name))
        yield _shown(f"Times of {subject.name}", times_of(subject))
        yield from _list(doubts_of(subject))
        yield from timing_plots(subject.name, subject.rows)
        yield from _folded(f"How {subject.name} was timed", details_of(subject))
        yield from _folded(f"What the profiler counted of {subject.name}", counters_of(subject))


def roofline(evidence: Evidence) -> Iterator[Markup]:
    """The roofs and how near them each subject comes; nothing where nothing was measured."""
    for subject in () if evidence.why_nothing_measured else evidence.timed:
        yield element("h3", Code(subject.name))
        roof = roof_of(subject)
        if roof.figures is None:
            yield element("p", prose(roof.reason))
        else:
            yield from roofline_plot(subject.name, subject.rows)
            yield _shown(f"Figures of {subject.name}, {roof.size}", roof.figures)


def _shown(caption: str, shown: Table) -> Markup:
    return table(caption, shown.heads, shown.rows)


def _folded(title: str, shown: Table) -> Iterator[Markup]:
    if shown.rows:
        yield element("details", element("summary", title), _shown(title, shown))


def _list(items: Iterator[Words]) -> Iterator[Markup]:
    if shown := [element("li", item) for item in items]:
        yield element("ul", lines(*shown))


def _compiled(evidence: Evidence) -> Iterator[Markup]:
    """What the compiler made of the launches, as the terminal shows it."""
    if evidence.compiled is None or not evidence.compiled.kernels:
        return
    rows = ["".join(text for text, _ in line) for line in CompiledSection(evidence.compiled).lines()][:-1]
    yield element("h3", f"What the compiler (Triton {evidence.compiled.triton}) made of the launches, without a GPU")
    yield element("pre", element("code", joined(*rows, by="\n")), tabindex="0", class_="compiled")
