"""The report of an audit for whoever decides on a merge, as one HTML file that needs neither network nor scripts."""

from __future__ import annotations

from collections.abc import Sequence

from tritonaudit.finding import Audit
from tritonaudit.report.about import About
from tritonaudit.report.evidence import CATEGORIES, evidence
from tritonaudit.report.header import header, kernel_names
from tritonaudit.report.html.cases import cases
from tritonaudit.report.html.checklists import checklists
from tritonaudit.report.html.closing import commands, recommendations
from tritonaudit.report.html.document import Part, document
from tritonaudit.report.html.error_maps import error_maps, why_no_map
from tritonaudit.report.html.findings import anchors, findings, rules
from tritonaudit.report.html.launches import launches
from tritonaudit.report.html.markup import Content, Markup, element, lines, prose
from tritonaudit.report.html.performance import not_measured, performance, roofline
from tritonaudit.report.html.summary import summary
from tritonaudit.report.html.verdict import verdict
from tritonaudit.report.section import Section
from tritonaudit.report.standing import standing_of
from tritonaudit.report.words import words


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """The report, of which every heading is there whatever was run."""
    found = evidence(audit, sections, about)
    standings = {category: standing_of(category, found) for category in CATEGORIES}
    where = anchors(found)
    unmeasured = prose(not_measured(found))
    parts = (
        Part("summary", "Summary", "Summary", list(summary(standings, found, where))),
        *launches(found),
        Part("findings", "Detailed Findings", "Findings", list(findings(found, where)), _NO_FINDINGS),
        Part(
            "errors",
            "Where Results Are Wrong",
            "Errors",
            list(error_maps(found)),
            prose(f"No map: {why_no_map(found)}."),
        ),
        Part(
            "performance",
            words("Performance Audit: ", kernel_names(found)),
            "Performance",
            list(performance(found)),
            unmeasured,
        ),
        Part("roofline", "Roofline", "Roofline", list(roofline(found)), unmeasured),
        Part("cases", "Every Case", "Cases", list(cases(found)), prose(found.why_nothing_ran or "No case was tried.")),
        Part("checklists", "Checklists", "Checklists", list(checklists(found))),
        Part("recommendations", "Recommendations", "Recommendations", list(recommendations(found)), "None."),
        Part("commands", "Test Commands", "Commands", list(commands(found))),
        Part("rules", "What the Rules Say", "Rules", list(rules(found)), "No rule found anything."),
    )
    about_it = element("dl", lines(*(_fact(name, text) for name, text in header(found).items())), class_="about")
    return document("Triton Kernel Audit Report", lines(verdict(standings, found), about_it), parts)


_NO_FINDINGS = "No findings. The summary says what was not run."


def _fact(name: str, text: Content) -> Markup:
    return element("div", element("dt", name), element("dd", text))
