"""The compile stage on the fixtures and pages of its rules, all files of a kind in one run.

Two comments in a file say what it takes: `# needs: triton>=3.6`, and `# budget: registers<=8`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.engine import shown_path
from tritonaudit.finding import Audit, Confidence, Stage
from tritonaudit.rule import Rule
from tritonaudit.target import Target

TARGETS = ("sm_90", "gfx942")

_NEEDS = re.compile(r"^# needs: triton(.+)$", re.MULTILINE)
_BUDGET = re.compile(r"^# budget: (.+)$", re.MULTILINE)


def is_compiled(rule: type[Rule]) -> bool:
    return rule.stage() is Stage.COMPILE


def skip_where_it_cannot_run(text: str) -> None:
    """Skip the test, and say why, where what compiles is missing or is not what the file needs."""
    for module in ("torch", "triton"):
        pytest.importorskip(module, reason=f"{module} compiles the kernels")
    needed = _NEEDS.search(text)
    if needed and triton() not in Target.parse(needed[1]).versions:
        pytest.skip(f"it needs Triton {needed[1]}")


def triton() -> tuple[int, int]:
    """The installed release of Triton."""
    major, minor, *_ = version("triton").split(".")
    return int(major), int(minor)


def audit_of(path: Path, among: Sequence[Path], *, pedantic: bool) -> Audit:
    """What the compile stage finds in one file; the others are compiled in the same run, since starting is slow."""
    budget = _budget(path)
    audit = _run(tuple(file for file in among if _budget(file) == budget), budget)[path]
    shown = (f for f in audit.findings if pedantic or f.confidence is not Confidence.LOW)
    return replace(audit, findings=tuple(shown))


def _budget(path: Path) -> str | None:
    found = _BUDGET.search(path.read_text(encoding="utf-8"))
    return found[1] if found else None


@cache
def _run(paths: tuple[Path, ...], budget: str | None) -> dict[Path, Audit]:
    """The pedantic audit of each file, which is given the name of a spec file in a folder of its own for that."""
    from tritonaudit.compile.audit import CompileRequest
    from tritonaudit.compile.budget import parse_budget
    from tritonaudit.compile.stage import compile_paths

    with tempfile.TemporaryDirectory() as folder:
        specs = {path: Path(folder, f"audit_{number}.py") for number, path in enumerate(paths)}
        for path, spec in specs.items():
            spec.write_bytes(path.read_bytes())
        request = CompileRequest(TARGETS, parse_budget(budget) if budget else None)
        result = compile_paths([Path(folder)], Config(ROOT, pedantic=True), request)
        assert not result.audit.problems
        kernels = [kernel.path for kernel in result.kernels]
        return {path: _of(result.audit, path, spec, kernels.count(str(spec))) for path, spec in specs.items()}


def _of(audit: Audit, path: Path, spec: Path, kernels: int) -> Audit:
    """What the audit says of the spec file, as if it said it of the path."""
    there, here = shown_path(spec), shown_path(path)
    return Audit(
        findings=tuple(replace(finding, path=here) for finding in audit.findings if finding.path == there),
        outcomes=tuple(
            replace(outcome, subject=outcome.subject.replace(there, here))
            for outcome in audit.outcomes
            if outcome.subject.partition(":")[0] == there
        ),
        texts={here: audit.texts[there]} if there in audit.texts else {},
        files=1,
        kernels=kernels,
    )
