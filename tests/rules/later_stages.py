"""The stages behind the source on the fixtures and pages of their rules, all files of a kind in one run.

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
from tritonaudit.finding import Audit, Confidence, Finding, Stage
from tritonaudit.rule import Rule
from tritonaudit.target import Target

TARGETS = ("sm_90", "gfx942")
LATER = (Stage.COMPILE, Stage.RUN)
MOST_CASES = 8  # that a subject is run on: each dtype, each size that it names, the layouts, the first fills

_NEEDS = re.compile(r"^# needs: triton(.+)$", re.MULTILINE)
_BUDGET = re.compile(r"^# budget: (.+)$", re.MULTILINE)


def is_later(rule: type[Rule]) -> bool:
    return rule.stage() in LATER


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


def audit_of(path: Path, stage: Stage, among: Sequence[Path], *, pedantic: bool) -> Audit:
    """What the stage finds in one file; the others are looked at in the same run, since starting is slow."""
    budget = _budget(path)
    audit = _run(stage, tuple(file for file in among if _budget(file) == budget), budget)[path]
    shown = (f for f in audit.findings if pedantic or f.confidence is not Confidence.LOW)
    return replace(audit, findings=tuple(shown))


def _budget(path: Path) -> str | None:
    found = _BUDGET.search(path.read_text(encoding="utf-8"))
    return found[1] if found else None


@cache
def _run(stage: Stage, paths: tuple[Path, ...], budget: str | None) -> dict[Path, Audit]:
    """The pedantic audit of each file, which is given the name of a spec file in a folder of its own for that."""
    with tempfile.TemporaryDirectory() as folder:
        specs = {path: Path(folder, f"audit_{number}.py") for number, path in enumerate(paths)}
        for path, spec in specs.items():
            spec.write_bytes(path.read_bytes())
        audit, kernels = _compiled(Path(folder), budget) if stage is Stage.COMPILE else _ran(Path(folder))
        assert not audit.problems
        return {path: _of(audit, path, spec, kernels.count(str(spec))) for path, spec in specs.items()}


def _compiled(folder: Path, budget: str | None) -> tuple[Audit, list[str]]:
    """The audit, and the path of each kernel in it."""
    from tritonaudit.compile.audit import CompileRequest
    from tritonaudit.compile.budget import parse_budget
    from tritonaudit.compile.stage import compile_paths

    request = CompileRequest(TARGETS, parse_budget(budget) if budget else None)
    result = compile_paths([folder], Config(ROOT, pedantic=True), request)
    return result.audit, [kernel.path for kernel in result.kernels]


def _ran(folder: Path) -> tuple[Audit, list[str]]:
    """The audit, and the path of each kernel that was launched; the cases' number ends it, and no clock."""
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    request = RunRequest(seconds=60, jobs=2, device=Where.CPU, most_cases=MOST_CASES)
    result = run_paths([folder], Config(ROOT, pedantic=True), request)
    kernels = {(kernel.path, kernel.name) for run in result.runs for kernel in run.launched}
    return result.audit, [path for path, _ in kernels]


def _of(audit: Audit, path: Path, spec: Path, kernels: int) -> Audit:
    """What the audit says of the spec file, as if it said it of the path."""
    there, here = shown_path(spec), shown_path(path)
    return Audit(
        findings=tuple(_moved(finding, there, here) for finding in audit.findings if finding.path == there),
        outcomes=tuple(
            replace(outcome, subject=outcome.subject.replace(there, here))
            for outcome in audit.outcomes
            if outcome.subject.partition(":")[0] == there
        ),
        texts={here: audit.texts[there]} if there in audit.texts else {},
        files=1,
        kernels=kernels,
    )


def _moved(finding: Finding, there: str, here: str) -> Finding:
    witness = finding.witness
    if witness is not None and witness.command is not None:
        witness = replace(witness, command=witness.command.replace(there, here))
    return replace(finding, path=here, message=finding.message.replace(there, here), witness=witness)
