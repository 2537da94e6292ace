"""Whether variants are right: what an audit of their files comes to, variant by variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tritonaudit.audit import RUN_PARTS, AuditRequest, audit_paths
from tritonaudit.capture.launch import KernelRef
from tritonaudit.config import Config
from tritonaudit.finding import Audit, Finding, Problem, Severity, Status
from tritonaudit.port.folders import Operation
from tritonaudit.progress import SILENT, Progress
from tritonaudit.report.ran import RanSection
from tritonaudit.shown import shown_path
from tritonaudit.subject.find import SubjectKind, kind_of
from tritonaudit.suites.coverage import Coverage, shown_missing
from tritonaudit.suites.facts import CORE, Symptom
from tritonaudit.suites.gather import SubjectRun

PARTS = frozenset(("source", *RUN_PARTS))
"""Of an audit: those that tell whether a variant is right."""


@dataclass(frozen=True)
class Verdict:
    """What an audit of a variant came to.

    It is right where all of its core was tried, and no check of it failed; where not all was tried and nothing failed,
    it `is_incomplete`. `reasons` say why it is not right, `doubts` what else was seen. `launched` are its kernels,
    `device` is where it was run, `coverage` says how much was tried.
    """

    is_right: bool
    reasons: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    launched: tuple[KernelRef, ...] = ()
    subject: str = ""
    device: str = ""
    is_incomplete: bool = False

    @property
    def is_loaded(self) -> bool:
        """Whether there was anything to be tried."""
        return bool(self.subject)


def validated(
    operations: Sequence[Operation], config: Config, request: AuditRequest, progress: Progress = SILENT
) -> dict[Path, Verdict]:
    """What each file of the operations came to, tried as every audit tries it. Raises KeyboardInterrupt, and NoGpu."""
    files = [(operation, path) for operation in operations for path in operation.files]
    verdicts = {
        path: _unusable(operation, path) for operation, path in files if kind_of(path) is not SubjectKind.VARIANT
    }
    tried = [path for _, path in files if path not in verdicts]
    if tried:
        result = audit_paths(tried, config, request, progress)
        if result.is_interrupted:
            raise KeyboardInterrupt
        ran = next(section.ran for section in result.sections if isinstance(section, RanSection))
        runs = {shown_path(run.path): run for run in ran.runs}
        for operation, path in files:
            if path not in verdicts:
                run, audit = runs.get(shown_path(path)), _without_others(operation, operations, result.audit)
                verdicts[path] = _unloaded(path, tried, audit) if run is None else _judged(run, audit, ran.device)
    return verdicts


def _without_others(operation: Operation, operations: Sequence[Operation], audit: Audit) -> Audit:
    """The audit without the problems of what lies in the folders of other operations."""
    others = {shown_path(other.folder) for other in operations} - {shown_path(operation.folder)}
    own = (problem for problem in audit.problems if Path(problem.path).parent.as_posix() not in others)
    return replace(audit, problems=tuple(own))


def _unusable(operation: Operation, path: Path) -> Verdict:
    reason = f"no function `{operation.wrapper}` is defined in it"
    return Verdict(False, (reason,), problems=(Problem(shown_path(path), reason),))


def _unloaded(path: Path, tried: Sequence[Path], audit: Audit) -> Verdict:
    """A file that no subject could be had of: what is said of it, or of what is no variant and it may import."""
    names = {shown_path(other) for other in tried}
    own = [problem for problem in audit.problems if problem.path == shown_path(path)]
    problems = tuple(own or (problem for problem in audit.problems if problem.path not in names))
    reasons = tuple(dict.fromkeys(map(_placed, problems))) or ("it has no subject",)
    findings = tuple(finding for finding in audit.findings if finding.path == shown_path(path))
    return Verdict(False, reasons, findings=findings, problems=problems)


def _judged(run: SubjectRun, audit: Audit, device: str) -> Verdict:
    places = {shown_path(run.path), *(shown_path(Path(kernel.path)) for kernel in run.launched if kernel.path)}
    findings = tuple(finding for finding in audit.findings if finding.path in places)
    problems = tuple(problem for problem in audit.problems if problem.path in places)
    doubts = [f"{one.check}: {one.reason}" for one in run.outcomes if one.status is Status.WARN]
    failures = tuple(dict.fromkeys((*_failures(run), *map(_placed, problems))))
    reasons = failures
    if reasons:  # what alone proves nothing may be why
        reasons = tuple(dict.fromkeys((*reasons, *doubts)))
    elif not run.coverage.is_complete:
        reasons = (f"not everything that has to be tried was tried: {shown_missing(run.coverage.missing)}",)
    serious = (f"{one.code} {one.name}: {one.message}" for one in findings if _is_serious(one))
    return Verdict(
        not reasons,
        reasons,
        tuple(dict.fromkeys((*doubts, *serious))),
        run.coverage,
        findings,
        problems,
        run.launched,
        run.name,
        device,
        is_incomplete=bool(reasons) and not failures,
    )


def _failures(run: SubjectRun) -> Iterator[str]:
    for one in run.outcomes:
        if one.check != CORE and one.status in (Status.FAIL, Status.INCONCLUSIVE):
            yield f"{one.check}: {one.reason}"
    compared = next((one for one in run.outcomes if one.check == Symptom.WRONG_RESULT.value), None)
    if compared is None or compared.status is Status.NOT_RUN:
        why = compared.reason if compared and compared.reason else "no case of it was tried"
        yield f"it was not compared with a reference: {why}"


def _is_serious(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR


def _placed(problem: Problem) -> str:
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return f"{place}: {problem.message}"
