"""The findings kernel by kernel, the worst first, which a script lets readers group and filter otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tritonaudit.compile.phrases import counted
from tritonaudit.finding import Finding
from tritonaudit.report.evidence import LEVELS, Evidence, KernelName, by_impact, level
from tritonaudit.report.html.finding import in_full, in_short
from tritonaudit.report.html.markup import Markup, element, joined, lines
from tritonaudit.report.html.rule_page import rule_page
from tritonaudit.report.sources import Sources
from tritonaudit.report.words import Code

_ALL, _EACH, _LEAST = 4_000_000, 400, 550_000
"""Characters of the page for all findings, for each that is shown in short, and at least for those shown in full."""
_KEYS = ("Kernel", "Rule", "Severity", "Stage")
"""What findings can be grouped by and filtered by."""


def anchors(evidence: Evidence) -> dict[KernelName, str]:
    """Where the findings of each kernel stand: the kernel with the worst comes first."""
    worst = sorted(evidence.findings_by_kernel.items(), key=lambda item: min(map(_rank, item[1])))
    return {kernel: f"kernel-{number}" for number, (kernel, _) in enumerate(worst, 1)}


def findings(evidence: Evidence, anchors: Mapping[KernelName, str]) -> Iterator[Markup]:
    """A group for each kernel; where scripts do not run nothing can be filtered, and all is there."""
    if not anchors:
        return
    written = _written(evidence)
    total = len(evidence.audit.findings)
    if total > 1:
        yield _controls(total)
    if short := sum(not is_full for _, is_full in written.values()):
        yield element("p", f"Of {total} findings the {short} least severe are shown in short.")
    groups = (_group(kernel, anchor, evidence, written) for kernel, anchor in anchors.items())
    yield element("div", lines(*groups), id="finding-list", class_="many" if total > _MANY else None)


def rules(evidence: Evidence) -> Iterator[Markup]:
    """The page of each rule that found something."""
    names = {finding.code: finding.name for finding in evidence.audit.findings}
    for code in sorted(names):
        page = rule_page(code)
        if page is not None:
            summary = element("summary", element("h3", joined(Code(code), " ", names[code])))
            yield element("details", summary, page, id=f"rule-{code}", class_="page")


_MANY = 200
"""Findings from which on a browser lays out only those in sight."""


def _rank(finding: Finding) -> tuple[int, int]:
    return LEVELS.index(level(finding)), finding.confidence.rank


def _written(evidence: Evidence) -> dict[int, tuple[Markup, bool]]:
    """Each finding by its identity as an object, and whether it is there in full: the worst are, as far as they fit."""
    sources = Sources(evidence.audit.texts)
    written: dict[int, tuple[Markup, bool]] = {}
    left = max(_ALL - _EACH * len(evidence.audit.findings), _LEAST)
    for finding in by_impact(evidence.audit.findings):
        is_full = left > 0
        written[id(finding)] = (in_full(finding, sources) if is_full else in_short(finding), is_full)
        left -= len(written[id(finding)][0].source)
    return written


def _group(kernel: KernelName, anchor: str, evidence: Evidence, written: Mapping[int, tuple[Markup, bool]]) -> Markup:
    found = by_impact(evidence.findings_by_kernel[kernel])
    name = joined(Code(kernel.name), " ") if kernel.name else ""
    heading = element("h3", name, element("small", kernel.path))
    return element("div", lines(heading, *(written[id(one)][0] for one in found)), id=anchor, class_="group")


def _controls(total: int) -> Markup:
    """Fields that the script fills and shows."""
    text = element("label", "Text ", element("input", type="search", id="finding-text", autocomplete="off"))
    filters = [_select(name, element("option", "any", value="")) for name in _KEYS]
    grouping = _select("Group by", *(element("option", name.lower(), value=name.lower()) for name in _KEYS))
    shown = element("output", f"{counted(total, 'finding')}", id="finding-count")
    reset = element("button", "Show all", type="reset")
    return element(
        "form", lines(grouping, *filters, text, reset, shown), id="finding-controls", class_="controls", hidden=True
    )


def _select(name: str, *options: Markup) -> Markup:
    id_ = f"finding-{name.lower().replace(' ', '-')}"
    return element("label", f"{name} ", element("select", *options, id=id_, autocomplete="off"))
