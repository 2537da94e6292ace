"""The summary: what each category came to, and what the audit could not do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tritonaudit.finding import Category
from tritonaudit.report.evidence import CATEGORIES, Evidence, KernelName
from tritonaudit.report.html.badge import badge
from tritonaudit.report.html.markup import Content, Markup, element, joined, lines, prose
from tritonaudit.report.html.table import table
from tritonaudit.report.html.verdict import CLASSES
from tritonaudit.report.shortfall import shortfall_lines
from tritonaudit.report.standing import Standing, Verdict, verdict_of_kernel
from tritonaudit.report.words import Code

_MOST_KERNELS = 500


def summary(
    standings: Mapping[Category, Standing], evidence: Evidence, anchors: Mapping[KernelName, str]
) -> Iterator[Markup]:
    """Tables of the categories and of the kernels, each of which leads to its findings."""
    rows = [(category.title, _badge(one.verdict), one.issues) for category, one in standings.items()]
    yield table("What each category came to", ("Category", "Status", "Issues"), rows, class_="stacked")
    if len(evidence.kernels) > 1:
        heads = ("Kernel", "Findings", *(category.title for category in CATEGORIES))
        yield table("What it came to for each kernel", heads, _kernels(evidence, anchors), class_="standings")
        if further := evidence.kernels[_MOST_KERNELS:]:
            yield element("p", f"{len(further)} further kernels are left out here; their findings are below.")
    if missed := shortfall_lines(evidence.audit):
        yield element("h3", "Not done")
        yield element("ul", lines(*(element("li", prose(line)) for line in missed)))


def _kernels(evidence: Evidence, anchors: Mapping[KernelName, str]) -> Iterator[tuple[Content, ...]]:
    for kernel in evidence.kernels[:_MOST_KERNELS]:
        name = joined(Code(kernel.name), " ", element("small", kernel.path))
        verdicts = (verdict_of_kernel(category, kernel, evidence) for category in CATEGORIES)
        yield _leading(name, kernel, anchors), _found(kernel, evidence), *map(_badge, verdicts)


def _leading(name: Markup, kernel: KernelName, anchors: Mapping[KernelName, str]) -> Markup:
    """The name, which leads to the kernel's findings where there are any."""
    return element("a", name, href=f"#{anchors[kernel]}") if kernel in anchors else name


def _found(kernel: KernelName, evidence: Evidence) -> str:
    return str(len(evidence.findings_by_kernel.get(kernel, ())) or "none")


def _badge(verdict: Verdict) -> Markup:
    return badge(verdict.shown, CLASSES[verdict])
