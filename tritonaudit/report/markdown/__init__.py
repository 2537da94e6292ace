"""The report of an audit for whoever decides on a merge, in Markdown.

One report for one run, however many kernels it is about: a merge is decided once, and the worst finding comes first
whichever kernel has it. Each finding names its kernel, a second table of the summary has a row for each kernel, and
where the answers of a checklist differ between subjects they name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version

from tritonaudit import __version__
from tritonaudit.compile.installed import triton_version
from tritonaudit.finding import Audit
from tritonaudit.report.about import About
from tritonaudit.report.checklists import CHECKLISTS
from tritonaudit.report.markdown.answers import checklist, further_checks
from tritonaudit.report.markdown.commands import commands
from tritonaudit.report.markdown.details import details
from tritonaudit.report.markdown.evidence import Evidence, evidence
from tritonaudit.report.markdown.performance import performance, roofline
from tritonaudit.report.markdown.recommendations import recommendations
from tritonaudit.report.markdown.summary import summary
from tritonaudit.report.markdown.text import among, code, prose
from tritonaudit.report.section import Section

_MOST_NAMED = 3


def render(audit: Audit, *, color: bool, sections: Sequence[Section], about: About) -> str:
    """The report, of which every heading is there whatever was run."""
    return "".join(f"{line}\n" for line in _lines(evidence(audit, sections, about)))


def _lines(found: Evidence) -> Iterator[str]:
    yield "# Triton Kernel Audit Report"
    yield ""
    yield _header(found)
    parts: tuple[tuple[str, Callable[[Evidence], Iterator[str]]], ...] = (
        ("Summary", summary),
        ("Detailed Findings", details),
        (f"Performance Audit: {_kernels(found)}", performance),
        ("Roofline", roofline),
        ("Checklists", _checklists),
        ("Recommendations", recommendations),
        ("Test Commands", commands),
    )
    for heading, part in parts:
        yield ""
        yield f"## {heading}"
        yield ""
        yield from part(found)


def _header(found: Evidence) -> str:
    files = among((code(kernel.path) for kernel in found.kernels), _MOST_NAMED) or "none"
    parts = {"Kernel": _kernels(found), "File": files, "Date": found.about.date, "Auditor": _auditor(found)}
    return "   ".join(f"**{name}**: {text}" for name, text in parts.items())


def _kernels(found: Evidence) -> str:
    names = among((code(kernel.name) for kernel in found.kernels), _MOST_NAMED)
    return names or f"none named ({found.audit.kernels} read)"


def _auditor(found: Evidence) -> str:
    device = found.ran.device if found.ran is not None else "nothing was run"
    parts = (f"Triton {triton_version() or 'not installed'}", f"PyTorch {torch_version()}", device)
    return prose(f"tritonaudit {__version__} ({', '.join(parts)})")


def torch_version() -> str:
    """The version of the PyTorch that is installed, learnt without importing it."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return "not installed"


def _checklists(found: Evidence) -> Iterator[str]:
    yield "No finding is no proof: a rule that cannot tell is silent, and suppressed findings are not counted."
    for asked in CHECKLISTS:
        yield ""
        yield f"### {asked.title}"
        yield ""
        yield from checklist(asked, found)
    if rows := list(further_checks(found)):
        yield ""
        yield "### Further checks"
        yield ""
        yield from rows
    for run in found.runs:
        if run.left_out:
            yield ""
            yield f"Left out of {code(run.name)}:"
            yield ""
            yield from (f"* {prose(what)}: {prose(why)}" for what, why in run.left_out)
