"""What anyone can rerun to see a finding happen: a script of a few lines."""

from __future__ import annotations

from pathlib import Path

from tritonaudit.finding import Witness
from tritonaudit.shown import shown_path
from tritonaudit.subject.model import Case, Layout


def witness_of(path: Path, subject: str, case: Case) -> Witness:
    """The witness of what a subject does in a case."""
    return Witness(f"{case.label}", _command(path, subject, case))


def _command(path: Path, subject: str, case: Case) -> str:
    code = f"import tritonaudit as t; t.reproduce({shown_path(path)!r}, {subject!r}, {written(case)})"
    return f'python -c "{code}"'


def written(case: Case) -> str:
    """The case as Python writes it, with `t` for tritonaudit: what it does not say is as usual."""
    parts = [repr(dict(case.sizes))]
    plain = Case()
    if case.dtype != plain.dtype:
        parts.append(f"dtype={case.dtype!r}")
    if case.layout is not plain.layout:
        parts.append(f"layout=t.Layout.{Layout(case.layout).name}")
    if case.gradient is not plain.gradient:
        parts.append(f"gradient=t.Layout.{Layout(case.gradient).name}")
    if case.far != plain.far:
        parts.append(f"far={case.far!r}")
    if case.fill != plain.fill:
        parts.append(f"fill={case.fill!r}")
    if case.parameters != plain.parameters:
        parts.append(f"parameters={case.parameters!r}")
    if case.seed != plain.seed:
        parts.append(f"seed={case.seed}")
    return f"t.Case({', '.join(parts)})"
