"""The whole audit: each stage's findings and outcomes in one, a defect that two stages see only once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.cache_folder import cache_folder
from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.execute.pool import cancelling
from tritonaudit.execute.starting import warm_up
from tritonaudit.file_cache import open_cache
from tritonaudit.finding import ALL_FILES, Audit, Finding, Outcome, Related, Stage, Status
from tritonaudit.progress import SILENT, Progress
from tritonaudit.report.section import Section

if TYPE_CHECKING:
    from tritonaudit.measure.stage import Lane, MeasureRequest
    from tritonaudit.suites.gather import SubjectRun
    from tritonaudit.suites.running import SubjectKey
    from tritonaudit.suites.stage import RunRequest

RUN_PARTS = frozenset(("correctness", "memory", "stability", "integrity"))
PERFORMANCE = "performance"
_LEAST_JOBS_BESIDE = 2
"""With fewer processes compiling comes before trying."""
_LEAST_JOBS_OF_BOTH = 4
"""With fewer processes timing follows trying."""
_NICENESS = 5
"""Of compiling beside trying, which is awaited for longer: a third of a core that both want."""
_ALWAYS_RUN = RUN_PARTS | {PERFORMANCE}
"""Parts that need workers, whatever is known from earlier audits."""


@dataclass(frozen=True)
class AuditRequest:
    """Which parts to do, how many seconds to try each subject for, in how many processes, on what.

    One that `resumes` does not try again what an audit that was killed had tried. `most_cases` of each subject are
    tried at most. One that `cross_checks` has Triton's interpreter do a few cases, too, which needs the CPU engine. The
    `seed` draws the cases that nobody can foresee; where the `seed_is_asked_for`, what others drew does not count.
    """

    parts: frozenset[str]
    seconds: float
    jobs: int
    device: str = "auto"
    resumes: bool = False
    most_cases: int | None = None
    cross_checks: bool = False
    seed: int = 0
    seed_is_asked_for: bool = False


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
    with cancelling() as cancel, ThreadPoolExecutor(1, initializer=_give_way) as thread:
        try:
            return _audited(paths, config, request, progress, thread, cancel)
        except BaseException:
            cancel()
            raise


def _give_way() -> None:
    """Have this thread, and the workers that it starts, compute where others need not."""
    if sys.platform == "linux":  # elsewhere it would be the whole process
        with suppress(OSError):
            os.nice(_NICENESS)


def _audited(
    paths: Sequence[Path],
    config: Config,
    request: AuditRequest,
    progress: Progress,
    thread: ThreadPoolExecutor,
    cancel: Callable[[], None],
) -> FullAudit:
    """The stages one after the other, but for compiling, which goes on in the thread where there are processes enough.

    Until then the GPU would stand idle.
    """
    results: list[tuple[tuple[Stage, ...], Future[_Done]]] = []
    is_interrupted = False
    for stages, run in _stages(request):
        result: Future[_Done] = Future()
        if stages == (Stage.COMPILE,) and _tries_beside(request):
            result = thread.submit(run, paths, config, request, progress.beside())
        elif not is_interrupted:
            try:
                result.set_result(run(paths, config, request, progress))
                is_interrupted = result.result()[2]
            except KeyboardInterrupt as error:
                result.set_exception(error)
                is_interrupted = True
        else:
            result.set_exception(KeyboardInterrupt())
        results.append((stages, result))
    if is_interrupted:
        cancel()
    return _full(results, cancel)


def _tries_beside(request: AuditRequest) -> bool:
    return request.jobs >= _LEAST_JOBS_BESIDE and bool(request.parts & _ALWAYS_RUN)


def _full(results: Sequence[tuple[tuple[Stage, ...], Future[_Done]]], cancel: Callable[[], None]) -> FullAudit:
    """All stages in one; those that were interrupted before they had anything have not run."""
    audits: list[Audit] = []
    sections: list[Section] = []
    done: set[Stage] = set()
    is_interrupted = False
    for stages, result in results:
        try:
            audit, section, is_stopped = result.result()
        except KeyboardInterrupt:
            cancel()
            audits.extend(map(_not_run, stages))
            is_interrupted = True
        else:
            audits.append(audit)
            sections.extend(section)
            done.update(stages)
            is_interrupted |= is_stopped
    return FullAudit(united(audits), tuple(sections), frozenset(done), is_interrupted)


def _not_run(stage: Stage) -> Audit:
    return Audit(outcomes=(Outcome(stage.name.lower(), ALL_FILES, Status.NOT_RUN, reason="interrupted"),))


_Done = tuple[Audit, tuple[Section, ...], bool]
_StagesOf = Callable[[Sequence[Path], Config, AuditRequest, Progress], _Done]
"""What does stages: their audit, what they show besides findings, and whether they were interrupted."""


def _stages(request: AuditRequest) -> list[tuple[tuple[Stage, ...], _StagesOf]]:
    named: list[tuple[str, Stage, _StagesOf]] = [
        ("source", Stage.SOURCE, _source),
        ("compile", Stage.COMPILE, _compile),
    ]
    chosen = [((stage,), run) for name, stage, run in named if name in request.parts]
    tries, measures = bool(request.parts & RUN_PARTS), PERFORMANCE in request.parts
    if tries and measures:
        return [*chosen, ((Stage.RUN, Stage.MEASURE), _run_and_measure)]
    return [*chosen, *([((Stage.RUN,), _run)] if tries else []), *([((Stage.MEASURE,), _measure)] if measures else [])]


def _source(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    return check(paths, config, jobs=request.jobs, cache=open_cache(config), progress=progress), (), False


def _compile(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    from tritonaudit.compile.audit import CompileRequest
    from tritonaudit.compile.stage import compile_paths
    from tritonaudit.report.compiled import CompiledSection

    compiled = compile_paths(paths, config, CompileRequest(jobs=request.jobs, seconds=request.seconds), progress)
    return compiled.audit, (CompiledSection(compiled),), False


def _run(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    from tritonaudit.report.parts import asked_for
    from tritonaudit.report.ran import RanSection
    from tritonaudit.suites.stage import run_paths

    ran = asked_for(run_paths(paths, config, _run_request(request), progress), request.parts)
    return ran.audit, (RanSection(ran),), ran.is_interrupted


def _measure(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    from tritonaudit.measure.stage import measure_paths
    from tritonaudit.report.measured import MeasuredSection

    measured = measure_paths(paths, config, _measure_request(request), progress)
    return measured.audit, (MeasuredSection(measured),), measured.is_interrupted


def with_unmeasured(full: FullAudit, parts: frozenset[str]) -> FullAudit:
    """The audit of these parts, incomplete where it was to measure subjects that nothing runs, and there is no GPU."""
    from tritonaudit.report.measured import MeasuredSection
    from tritonaudit.suites.running import shown_subject

    if PERFORMANCE not in parts or parts & RUN_PARTS:
        return full
    found = [section.measured for section in full.sections if isinstance(section, MeasuredSection)]
    missing = [
        Outcome(PERFORMANCE, shown_subject((one.path, one.name)), Status.INCOMPLETE, "performance NOT RUN", each.reason)
        for each in found
        for one in (each.subjects if each.reason else ())
    ]
    return replace(full, audit=replace(full.audit, outcomes=(*full.audit.outcomes, *missing)))


def _run_and_measure(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    """Both stages; on a GPU what passes its core is timed while the rest is tried, and what fails is not timed."""
    from tritonaudit.suites.stage import Where, gpu_for

    if gpu_for(Where(request.device)):
        return _run_beside_measuring(paths, config, request, progress)
    done = _run(paths, config, request, progress)
    if done[2]:
        return _together(done, (_not_run(Stage.MEASURE), (), True))
    return _together(done, _measure(paths, config, request, progress))


def _run_beside_measuring(paths: Sequence[Path], config: Config, request: AuditRequest, progress: Progress) -> _Done:
    from tritonaudit.measure.stage import Lane, at_once
    from tritonaudit.report.parts import asked_for
    from tritonaudit.report.ran import RanSection
    from tritonaudit.suites.stage import run_paths

    lane = Lane(config, _measure_request(request), progress.beside())
    spared = at_once(request.jobs) if request.jobs >= _LEAST_JOBS_OF_BOTH else 0
    held: list[SubjectKey] = []
    with cancelling() as cancel, lane:
        try:
            trying = _run_request(replace(request, jobs=request.jobs - spared))
            ran = run_paths(paths, config, trying, progress, lane.add if spared else held.append)
            for key in held:
                lane.add(key)
            if ran.is_interrupted:
                cancel()
            timed = _of_lane(lane, ran.runs)
        except BaseException:
            cancel()
            raise
    shown = asked_for(ran, request.parts)
    return _together((shown.audit, (RanSection(shown),), ran.is_interrupted), timed)


def time_runs(runs: Sequence[SubjectRun], config: Config, request: AuditRequest) -> FullAudit:
    """The measure stage, on a GPU that is there, for subjects that have been tried, and are right."""
    from tritonaudit.measure.stage import Lane

    with Lane(config, _measure_request(request), SILENT) as lane:
        for run in runs:
            if run.is_known_to_compute:
                lane.add((run.path, run.name))
        audit, sections, is_interrupted = _of_lane(lane, runs)
    return FullAudit(audit, sections, frozenset((Stage.MEASURE,)), is_interrupted)


def _of_lane(lane: Lane, runs: Sequence[SubjectRun]) -> _Done:
    from tritonaudit.report.measured import MeasuredSection

    try:
        measured = lane.measured([(run.path, run.name) for run in runs])
    except KeyboardInterrupt:
        return _not_run(Stage.MEASURE), (), True
    return measured.audit, (MeasuredSection(measured),), measured.is_interrupted


def _run_request(request: AuditRequest) -> RunRequest:
    from tritonaudit.suites.stage import RunRequest, Where

    return RunRequest(
        request.seconds,
        request.jobs,
        cache_folder("runs"),
        request.resumes,
        device=Where(request.device),
        most_cases=request.most_cases,
        cross_checks=request.cross_checks,
        seed=request.seed,
        seed_is_asked_for=request.seed_is_asked_for,
    )


def _measure_request(request: AuditRequest) -> MeasureRequest:
    from tritonaudit.measure.stage import MeasureRequest
    from tritonaudit.suites.stage import Where

    return MeasureRequest(request.seconds, request.jobs, Where(request.device))


def _together(one: _Done, other: _Done) -> _Done:
    return united((one[0], other[0])), (*one[1], *other[1]), one[2] or other[2]


def _reported_once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Of several that have one cause the first, with the others beside it."""
    left = list(findings)
    while left:
        first = left.pop(0)
        same = [other for other in left if _is_same(first, other)]
        left = [other for other in left if other not in same]
        yield replace(first, related=(*first.related, *map(_beside, same))) if same else first


def _beside(other: Finding) -> Related:
    return Related(other.path, other.span, f"{other.code} {other.name} reports the same: {other.message}")


def _is_same(one: Finding, other: Finding) -> bool:
    """Whether two stages see one defect in the same lines."""
    if one.cause is None or (one.cause, one.path, one.kernel) != (other.cause, other.path, other.kernel):
        return False
    is_apart = one.span.end_line < other.span.line or other.span.end_line < one.span.line
    return one.stage is not other.stage and not is_apart


def united(audits: Sequence[Audit]) -> Audit:
    """One audit of several of the same files; a defect that two of them see is reported once."""
    findings = {(f.code, f.path, f.span, f.message): f for audit in audits for f in audit.findings}
    reported = sorted(findings.values(), key=lambda finding: list(Stage).index(finding.stage), reverse=True)
    problems = dict.fromkeys(problem for audit in audits for problem in audit.problems)
    return Audit(
        findings=tuple(sorted(_reported_once(reported), key=lambda finding: finding.sort_key)),
        problems=tuple(problems),
        outcomes=tuple(outcome for audit in audits for outcome in audit.outcomes),
        texts={path: text for audit in audits for path, text in audit.texts.items()},
        files=max((audit.files for audit in audits), default=0),
        kernels=max((audit.kernels for audit in audits), default=0),
        unread=max((audit.unread for audit in audits), default=0),
    )
