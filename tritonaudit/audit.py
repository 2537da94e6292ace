"""The whole audit: each stage's findings and outcomes in one, a defect that two stages see only once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.finding import Audit
from tritonaudit.report.section import Section

RUN_PARTS = frozenset(("correctness", "memory", "stability"))


@dataclass(frozen=True)
class AuditRequest:
    """Which parts to do, how many seconds to try each subject for, in how many processes."""

    parts: frozenset[str]
    seconds: float
    jobs: int
    device: str = "auto"


@dataclass(frozen=True)
class FullAudit:
    """The audit, and what its stages show besides findings."""

    audit: Audit
    sections: tuple[Section, ...]


def audit_paths(paths: Sequence[Path], config: Config, request: AuditRequest) -> FullAudit:
    """Audit the files and folders in all the parts that are asked for."""
    audits: list[Audit] = []
    sections: list[Section] = []
    if "source" in request.parts:
        audits.append(check(paths, config, jobs=request.jobs))
    if "compile" in request.parts:
        from tritonaudit.compile.audit import CompileRequest
        from tritonaudit.compile.stage import compile_paths
        from tritonaudit.report.compiled import CompiledSection

        compiled = compile_paths(paths, config, CompileRequest(jobs=request.jobs))
        audits.append(compiled.audit)
        sections.append(CompiledSection(compiled))
    if request.parts & RUN_PARTS:
        from tritonaudit.report.ran import RanSection
        from tritonaudit.suites.stage import RunRequest, Where, run_paths

        ran = run_paths(paths, config, RunRequest(request.seconds, request.jobs, device=Where(request.device)))
        audits.append(ran.audit)
        sections.append(RanSection(ran))
    return FullAudit(_united(audits), tuple(sections))


def _united(audits: Sequence[Audit]) -> Audit:
    """One audit of several of the same files; what two of them say of one place in the same words is said once."""
    findings = {(f.code, f.path, f.span, f.message): f for audit in audits for f in audit.findings}
    problems = dict.fromkeys(problem for audit in audits for problem in audit.problems)
    return Audit(
        findings=tuple(sorted(findings.values(), key=lambda finding: finding.sort_key)),
        problems=tuple(problems),
        outcomes=tuple(outcome for audit in audits for outcome in audit.outcomes),
        texts={path: text for audit in audits for path, text in audit.texts.items()},
        files=max((audit.files for audit in audits), default=0),
        kernels=max((audit.kernels for audit in audits), default=0),
    )
