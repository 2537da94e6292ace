"""The summary of a farm as a page of its own, in the frame of the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from tritonaudit.farm.summary import Counted, Summary
from tritonaudit.report.html.document import Part, document
from tritonaudit.report.html.markup import Content, Markup, element
from tritonaudit.report.html.table import table
from tritonaudit.report.words import Code


def page(summary: Summary) -> str:
    """The whole file. Its links lead to the results, with the number of the line in their text."""
    parts = (
        Part("verdicts", "Verdicts", "Verdicts", _verdicts(summary), "The file has no lines."),
        Part("failures", "What failed", "Failures", _kinds(summary, summary.failures), "Nothing failed."),
        Part("cheats", "What tries to look right", "Cheats", _kinds(summary, summary.cheats), "Nothing was seen."),
        Part("speed", "Speed", "Speed", _speed(summary), "Nothing was timed."),
        Part("files", "Files that do not pass", "Files", _entries(summary), "All pass."),
    )
    header = element("p", f"{summary.verdicts.total()} files, of ", Code(summary.source))
    return document("Triton kernels of a farm", header, parts)


def _link(summary: Summary, number: int) -> Markup:
    return element("a", f"line {number}", href=quote(Path(summary.source).name))


def _verdicts(summary: Summary) -> Sequence[Markup]:
    rows = [(verdict, str(number)) for verdict, number in summary.verdicts.most_common()]
    return (table("How many files have each verdict", ("Verdict", "Files"), rows),) if rows else ()


def _kinds(summary: Summary, kinds: Sequence[Counted]) -> Sequence[Markup]:
    rows: list[Sequence[Content]] = [
        (Code(kind.code), kind.name, str(kind.files), _link(summary, kind.line)) for kind in kinds
    ]
    return (table("How many files have it", ("Rule", "Name", "Files", "First"), rows),) if rows else ()


def _speed(summary: Summary) -> Sequence[Markup]:
    if summary.typical_speed is None:
        return ()
    rows: list[Sequence[Content]] = [
        (
            Code(one.path),
            one.size,
            f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})",
            "" if one.efficiency is None else f"{one.efficiency:.0%}",
            _link(summary, one.line),
        )
        for one in summary.slowest
    ]
    mean = (
        f"{summary.typical_speed:.2f} times as fast as PyTorch, on the geometric mean of {len(summary.speeds)} sizes."
    )
    heads = ("File", "Size", "Speed-up over PyTorch (95 %)", "Of the roof", "Line")
    return element("p", mean), table("The slowest", heads, rows)


def _entries(summary: Summary) -> Sequence[Markup]:
    rows: list[Sequence[Content]] = [
        (Code(one.path), one.verdict, one.why, _link(summary, one.line)) for one in summary.entries
    ]
    return (table(f"All {len(rows)} of them", ("File", "Verdict", "Why", "Line"), rows),) if rows else ()
