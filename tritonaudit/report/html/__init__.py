"""The report of an audit for whoever decides on a merge, as one HTML file that needs neither network nor scripts."""

from __future__ import annotations

from collections.abc import Sequence

from tritonaudit.finding import Audit
from tritonaudit.report.about import About
from tritonaudit.report.evidence import evidence
from tritonaudit.report.header import header, kernel_names
from tritonaudit.report.html.cases import cases
from tritonaudit.report.html.checklists import checklists
from tritonaudit.report.html.closing import commands, recommendations
from tritonaudit.report.html.document import Part, document
from tritonaudit.report.html.error_maps import error_maps
from tritonaudit.report.html.findings import findings
from tritonaudit.report.html.markup import Content, Markup, element, lines
from tritonaudit.report.html.performance import performance, roofline
from tritonaudit.report.html.summary import summary
from tritonaudit.report.section import Section
from tritonaudit.report.words import words


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """The report, of which every heading is there whatever was run."""
    found = evidence(audit, sections, about)
    parts = (
        Part("summary", "Summary", "Summary", list(summary(found))),
        Part("findings", "Detailed Findings", "Findings", list(findings(found))),
        Part("errors", "Where Results Are Wrong", "Errors", list(error_maps(found))),
        Part("performance", words("Performance Audit: ", kernel_names(found)), "Performance", list(performance(found))),
        Part("roofline", "Roofline", "Roofline", list(roofline(found))),
        Part("cases", "Every Case", "Cases", list(cases(found))),
        Part("checklists", "Checklists", "Checklists", list(checklists(found))),
        Part("recommendations", "Recommendations", "Recommendations", list(recommendations(found))),
        Part("commands", "Test Commands", "Commands", list(commands(found))),
    )
    about_it = (_fact(name, text) for name, text in header(found).items())
    return document("Triton Kernel Audit Report", element("dl", lines(*about_it), class_="about"), parts)


def _fact(name: str, text: Content) -> Markup:
    return element("div", element("dt", name), element("dd", text))
