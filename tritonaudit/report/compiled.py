"""What the compile stage shows besides its findings: a table for each kernel, and what changed since an earlier run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tritonaudit.compile.audit import CompileAudit
from tritonaudit.compile.compare import Change, Comparison, Difference
from tritonaudit.compile.phrases import counted, listed
from tritonaudit.compile.record import record
from tritonaudit.report.compiled_table import table
from tritonaudit.report.escape import visible
from tritonaudit.report.section import Line, Note
from tritonaudit.shown import shown_path

_INDENT = "  "


@dataclass(frozen=True)
class CompiledSection:
    """The kernels of a run, and its comparison with the report in the file `against`."""

    audit: CompileAudit
    against: str = ""
    comparison: Comparison | None = None
    key = "compiled"

    def lines(self) -> Iterator[Line]:
        for kernel in self.audit.kernels:
            yield from table(kernel, shown_path(Path(kernel.path)))
            yield ()
        yield from self.short_lines()
        if self.comparison is not None:
            yield ()

    def short_lines(self) -> Iterator[Line]:
        if self.comparison is not None:
            yield from _compared(self.against, self.comparison)

    def notes(self) -> Iterator[Note]:
        for difference in self.comparison.differences if self.comparison is not None else ():
            yield Note(difference.path, difference.line, f"changed since {self.against}", _reported(difference))

    def data(self) -> dict[str, Any]:
        comparison = None if self.comparison is None else _data(self.against, self.comparison)
        return {**record(self.audit), "comparison": comparison}


def _compared(file: str, comparison: Comparison) -> Iterator[Line]:
    found = counted(len(comparison.differences), "difference")
    alone = f", {comparison.unpaired} in one of the runs only" if comparison.unpaired else ""
    head = f"Compared with {visible(file)}: {found} in {counted(comparison.compared, 'variant')}{alone}."
    yield ((head, "bold"),)
    if comparison.triton_before != comparison.triton_now:
        versions = f"Triton {comparison.triton_before} compiled that, Triton {comparison.triton_now} this"
        yield ((f"{_INDENT}{visible(versions)}: differences may be theirs.", "yellow"),)
    for difference in comparison.differences:
        yield _difference(difference)


def _difference(difference: Difference) -> Line:
    where = f"{visible(difference.path)}:{difference.line}"
    style = "red" if difference.harm > 0 else "green" if difference.harm < 0 else ""
    return (
        (f"{_INDENT}{where} {visible(_what(difference))}: ", ""),
        (visible(_changes(difference)), style),
        (visible(_cases(difference)), "dim"),
    )


def _reported(difference: Difference) -> str:
    return f"{_what(difference)}: {_changes(difference)}{_cases(difference)}"


def _what(difference: Difference) -> str:
    return " ".join(filter(None, (difference.kernel, difference.target, difference.config)))


def _changes(difference: Difference) -> str:
    return ", ".join((*(one.shown for one in difference.settings), *(change.text for change in difference.changes)))


def _cases(difference: Difference) -> str:
    """` (n=64 and n=128)`, ` (5 cases)`; empty where there are none."""
    return f" ({_among(difference)})" if difference.cases else ""


def _among(difference: Difference) -> str:
    return listed(difference.cases) if len(difference.cases) <= 2 else counted(len(difference.cases), "case")


def _data(file: str, comparison: Comparison) -> dict[str, Any]:
    return {
        "file": file,
        "triton": comparison.triton_before,
        "compared": comparison.compared,
        "unpaired": comparison.unpaired,
        "differences": [
            {
                "path": difference.path,
                "line": difference.line,
                "kernel": difference.kernel,
                "target": difference.target,
                "config": difference.config,
                "cases": list(difference.cases),
                "changes": [_change(change) for change in difference.changes],
                "settings": [asdict(setting) for setting in difference.settings],
                "figures": [asdict(figure) for figure in difference.figures],
            }
            for difference in comparison.differences
        ],
    }


def _change(change: Change) -> dict[str, Any]:
    return {"text": change.text, "worse": change.harm > 0}
