"""The whole audit: each stage's findings and outcomes in one, a defect that two stages see only once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.cache_folder import cache_folder
from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.execute.starting import warm_up
from tritonaudit.file_cache import open_cache
from tritonaudit.finding import Audit, Finding, Outcome, Related, Stage, Status
from tritonaudit.progress import SILENT, Progress
from tritonaudit.report.section import Section

RUN_PARTS = frozenset(("correctness", "memory", "stability", "integrity"))
PERFORMANCE = "performance"
_ALWAYS_RUN = RUN_PARTS | {PERFORMANCE}
"""Parts that need workers, whatever is known from earlier audits."""


@dataclass(frozen=True)
class AuditRequest:
    """Which parts to do, how many seconds to try each subject for, in how many processes, on what.

    One that `resumes` does not try again what an audit that was killed had tried. `most_cases` of each subject are
    tried at most. One that `cross_checks` has Triton's interpreter do a few cases, too, which needs the CPU engine.
    """

    parts: frozenset[str]
    seconds: float
    jobs: int
    device: str = "auto"
    resumes: bool = False
    most_cases: int | None = None
    cross_checks: bool = False


@dataclass(frozen=True)
class FullAudit:
    """The audit, what its stages show besides findings, and those that were done.

    One that was interrupted has what was done by then.
    """

    audit: Audit
    sections: tuple[Section, ...]
    stages: frozenset[Stage]
    is_interrupted: bool = False


def audit_paths(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress = SILENT) -> FullAudit:
    """Audit the files and folders in all the parts that are asked for, until that is interrupted."""
    if request.parts & _ALWAYS_RUN:
        warm_up()
    audits: list[Audit] = []
    sections: list[Section] = []
    done: set[Stage] = set()
    is_interrupted = False
    for stage, run in _stages(request):
        if not is_interrupted:
            try:
                audit, section, is_interrupted = run(paths, config, request, progress)
            except KeyboardInterrupt:
                is_interrupted = True
            else:
                audits.append(audit)
                sections.extend(section)
                done.add(stage)
                continue
        audits.append(Audit(outcomes=(Outcome(stage.name.lower(), "all files", Status.NOT_RUN, reason="interrupted"),)))
    return FullAudit(united(audits), tuple(sections), frozenset(done), is_interrupted)


_Done = tuple[Audit, tuple[Section, ...], bool]
_StageOf = Callable[[Sequence[Path], Config, AuditRequest, Progress], _Done]
"""What does a stage: its audit, what it shows besides findings, and whether it was interrupted."""


def _stages(request: AuditRequest) -> list[tuple[Stage, _StageOf]]:
    named: list[tuple[str, Stage, _StageOf]] = [("source", Stage.SOURCE, _source), ("compile", Stage.COMPILE, _compile)]
    chosen = [(stage, run) for name, stage, run in named if name in request.parts]
    chosen += [(Stage.RUN, _run)] if request.parts & RUN_PARTS else []
    return [*chosen, *([(Stage.MEASURE, _measure)] if PERFORMANCE in request.parts else [])]


def _source(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    progress.stage("reading the source", 0)
    return check(paths, config, jobs=request.jobs, cache=open_cache(config)), (), False


def _compile(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    from tritonaudit.compile.audit import CompileRequest
    from tritonaudit.compile.stage import compile_paths
    from tritonaudit.report.compiled import CompiledSection

    compiled = compile_paths(paths, config, CompileRequest(jobs=request.jobs), progress)
    return compiled.audit, (CompiledSection(compiled),), False


def _run(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    from tritonaudit.report.ran import RanSection
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    run_request = RunRequest(
        request.seconds,
        request.jobs,
        cache_folder("runs"),
        request.resumes,
        device=Where(request.device),
        most_cases=request.most_cases,
        cross_checks=request.cross_checks,
    )
    ran = run_paths(paths, config, run_request, progress)
    return ran.audit, (RanSection(ran),), ran.is_interrupted


def _measure(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    from tritonaudit.measure.stage import MeasureRequest, measure_paths
    from tritonaudit.report.measured import MeasuredSection
    from tritonaudit.suites.stage import Where

    measured = measure_paths(
        paths, config, MeasureRequest(request.seconds, request.jobs, Where(request.device)), progress
    )
    return measured.audit, (MeasuredSection(measured),), measured.is_interrupted


def _told_once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Of several that have one cause the first, with the others beside it."""
    left = list(findings)
    while left:
        first = left.pop(0)
        same = [other for other in left if _is_same(first, other)]
        left = [other for other in left if other not in same]
        yield replace(first, related=(*first.related, *map(_beside, same))) if same else first


def _beside(other: Finding) -> Related:
    return Related(other.path, other.span, f"{other.code} {other.name} tells the same: {other.message}")


def _is_same(one: Finding, other: Finding) -> bool:
    """Whether two stages see one defect in the same lines."""
    if one.cause is None or (one.cause, one.path, one.kernel) != (other.cause, other.path, other.kernel):
        return False
    is_apart = one.span.end_line < other.span.line or other.span.end_line < one.span.line
    return one.stage is not other.stage and not is_apart


def united(audits: Sequence[Audit]) -> Audit:
    """One audit of several of the same files; a defect that two of them see is told once."""
    findings = {(f.code, f.path, f.span, f.message): f for audit in audits for f in audit.findings}
    told = sorted(findings.values(), key=lambda finding: list(Stage).index(finding.stage), reverse=True)
    problems = dict.fromkeys(problem for audit in audits for problem in audit.problems)
    return Audit(
        findings=tuple(sorted(_told_once(told), key=lambda finding: finding.sort_key)),
        problems=tuple(problems),
        outcomes=tuple(outcome for audit in audits for outcome in audit.outcomes),
        texts={path: text for audit in audits for path, text in audit.texts.items()},
        files=max((audit.files for audit in audits), default=0),
        kernels=max((audit.kernels for audit in audits), default=0),
    )
