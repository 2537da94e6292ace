"""The performance audit and the roofline: until something is measured, what is not known, and what compiling told."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Category
from tritonaudit.report.evidence import Evidence, place
from tritonaudit.report.markdown.text import fenced, inline, prose, row, table
from tritonaudit.report.words import Code, among, words

_NOT_RUN = "NOT RUN: no launch was timed, for there is no measure stage yet"


def performance(evidence: Evidence) -> Iterator[str]:
    yield from table("Size", "Triton (ms)", "PyTorch (ms)", "torch.compile (ms)", "Speedup", "HW Efficiency")
    yield row("NOT RUN", *["➖"] * 5)
    yield ""
    yield f"{_NOT_RUN}."
    findings = [finding for finding in evidence.audit.findings if finding.category is Category.PERFORMANCE]
    if findings:
        named = among((words(f"{finding.code} at ", Code(place(finding))) for finding in findings), most=10)
        yield ""
        yield f"What was found without measuring is among the detailed findings: {inline(named)}."
    if evidence.compiled is not None and evidence.compiled.kernels:
        from tritonaudit.report.compiled import CompiledSection

        lines = ["".join(text for text, _ in line) for line in CompiledSection(evidence.compiled).lines()]
        yield ""
        yield f"What the compiler ({prose(f'Triton {evidence.compiled.triton}')}) made of the launches, without a GPU:"
        yield ""
        yield from fenced(lines[:-1], "text")


def roofline(evidence: Evidence) -> Iterator[str]:
    yield from table("Figure", "Value", "Source")
    for figure in (
        "FLOPs",
        "Bytes",
        "Arithmetic intensity",
        "Ridge point",
        "Bound",
        "Target (90 % of the roof)",
        "Reached",
    ):
        yield row(figure, "UNKNOWN", "none: nothing was measured")
    yield ""
    yield f"{_NOT_RUN}."
