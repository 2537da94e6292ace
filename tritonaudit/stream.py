"""Audits of many files, each of which has its result as soon as it is ready: for generated kernels by the hundred.

Files with subjects go through the stages in groups. Timing, which needs the GPU to itself, is a lane of its own: while
one group is timed, the next one is read, compiled and run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tritonaudit.audit import PERFORMANCE, AuditRequest, FullAudit, audit_paths, time_runs, united, with_unmeasured
from tritonaudit.config import Config
from tritonaudit.execute.pool import cancelling
from tritonaudit.finding import Audit, Finding, Outcome, Problem, Stage
from tritonaudit.progress import SILENT, Progress
from tritonaudit.report.compiled import CompiledSection
from tritonaudit.report.measured import MeasuredSection
from tritonaudit.report.ran import RanSection
from tritonaudit.report.section import Section
from tritonaudit.shown import shown_path
from tritonaudit.source.discover import discover, project_root
from tritonaudit.subject.find import subject_files
from tritonaudit.subject.guessed import uncovered
from tritonaudit.suites.runs import Runs
from tritonaudit.suites.stage import Where, gpu_for, judge_runs

_LEAST_GROUP = 8


@dataclass(frozen=True)
class FileAudit:
    """The audit of one file. Its `digest` is of all that the audit depends on: while it is the same, so is the audit.

    One without subjects has nothing but its source read.
    """

    path: Path
    digest: str
    full: FullAudit


Known = Callable[[str, str], bool]
"""Whether the audit of a file, by its shown path and its digest, is known already."""
Hear = Callable[[Sequence[Problem]], None]
"""Learns what could not be found or read, and so has no audit."""


def audit_files(
    paths: Sequence[Path], config: Config, request: AuditRequest, known: Known, hear: Hear, progress: Progress = SILENT
) -> Iterator[FileAudit]:
    """The audit of every file below the paths that is not known, as they are ready. Raises KeyboardInterrupt, NoGpu."""
    found = discover(paths, config)
    hear(found.problems)
    digests = digests_of(found.sources, config, request)
    wanted = [path for path in found.sources if not known(shown_path(path), digests[path])]
    readable = [path for path in wanted if path not in found.notebooks]
    subjects = set(subject_files(readable))
    subjects |= set(uncovered(readable, subject_files(found.files)))
    others = [path for path in wanted if path not in subjects]
    if "source" in request.parts and others:
        read = audit_paths(others, config, replace(request, parts=frozenset(("source",))), progress)
        yield from _each(others, digests, read, config)
    yield from _in_lanes([path for path in wanted if path in subjects], digests, config, request, progress)


def digests_of(
    paths: Sequence[Path], config: Config, request: AuditRequest, where: str | None = None
) -> dict[Path, str]:
    """Of each of the files a digest of all that its audit depends on. Raises NoGpu.

    `where` stands for the GPU, where that is not this machine's.
    """
    asked = (sorted(request.parts), request.seconds, request.most_cases, request.cross_checks)
    gpu = gpu_for(Where(request.device)) if where is None else where
    governing = cache(lambda root: _governing(root, config))

    def digest(path: Path) -> str:
        return Runs(None, config, (*asked, gpu, config, governing(project_root(path)))).key(path, "")

    return {path: digest(path) for path in paths}


def _governing(root: Path, config: Config) -> list[str]:
    """The configurations of all files of a project, any of which a subject may launch kernels of."""
    return sorted({repr(config.of(path)) for path in discover((root,), replace(config, root=root)).files})


def _in_lanes(
    files: Sequence[Path], digests: Mapping[Path, str], config: Config, request: AuditRequest, progress: Progress
) -> Iterator[FileAudit]:
    """Group by group, timing one behind the other stages of the next."""
    size = max(_LEAST_GROUP, 2 * request.jobs)
    groups = [files[start : start + size] for start in range(0, len(files), size)]
    timed = replace(request, parts=request.parts & {PERFORMANCE})
    others = replace(request, parts=request.parts - {PERFORMANCE})
    pending: tuple[Sequence[Path], FullAudit, Future[FullAudit]] | None = None
    with cancelling() as cancel, ThreadPoolExecutor(1) as lane:
        try:
            for group in groups:
                done = _interruptible(audit_paths(group, config, others, progress))
                if not timed.parts:
                    yield from _each(group, digests, done, config)
                    continue
                if pending is not None:
                    yield from _joined(*pending, digests, config, request.parts)
                pending = group, done, lane.submit(_timed, group, done, config, timed)
            if pending is not None:
                yield from _joined(*pending, digests, config, request.parts)
        except BaseException:
            cancel()
            raise


def _timed(files: Sequence[Path], done: FullAudit, config: Config, request: AuditRequest) -> FullAudit:
    """The timing of files with which the other stages are done."""
    runs = [run for section in done.sections if isinstance(section, RanSection) for run in section.ran.runs]
    if runs and gpu_for(Where(request.device)):
        return time_runs(runs, config, request)
    return audit_paths(files, config, request)


def _joined(
    group: Sequence[Path],
    done: FullAudit,
    timing: Future[FullAudit],
    digests: Mapping[Path, str],
    config: Config,
    parts: frozenset[str],
) -> Iterator[FileAudit]:
    """Both lanes' audits of a group, file by file."""
    timed = _interruptible(timing.result())
    both = FullAudit(united((done.audit, timed.audit)), (*done.sections, *timed.sections), done.stages | timed.stages)
    yield from _each(group, digests, with_unmeasured(both, parts), config)


def _interruptible(full: FullAudit) -> FullAudit:
    if full.is_interrupted:
        raise KeyboardInterrupt
    return full


# -- one file by itself ------------------------------------------------------------------------------------------------


def try_file(path: Path, config: Config, request: AuditRequest) -> FullAudit:
    """The audit of one file, subjects and kernels that they launch. Raises KeyboardInterrupt, NoGpu."""
    return _of_file(path, _interruptible(audit_paths((path,), config, request)), config)


def is_to_be_timed(full: FullAudit) -> bool:
    """Whether the file has a subject that is known to be right."""
    sections = [section for section in full.sections if isinstance(section, RanSection)]
    return any(run.is_known_to_compute for section in sections for run in section.ran.runs)


def time_file(path: Path, done: FullAudit, config: Config, request: AuditRequest) -> FullAudit:
    """The same with the timing of what is right. Raises KeyboardInterrupt."""
    timed = _interruptible(_timed((path,), done, config, replace(request, parts=request.parts & {PERFORMANCE})))
    both = FullAudit(united((done.audit, timed.audit)), (*done.sections, *timed.sections), done.stages | timed.stages)
    return _of_file(path, both, config)


# -- of one file ---------------------------------------------------------------------------------------------------


def _each(files: Sequence[Path], digests: Mapping[Path, str], full: FullAudit, config: Config) -> Iterator[FileAudit]:
    for path in files:
        yield FileAudit(path, digests[path], _of_file(path, full, config))


def _of_file(path: Path, full: FullAudit, config: Config) -> FullAudit:
    """What the audit of several files says of one: of itself, its subjects, and the kernels that these launch."""
    sections = [section for section in full.sections if isinstance(section, RanSection)]
    runs = [run for section in sections for run in section.ran.runs if run.path == path]
    launched = {(shown_path(Path(kernel.path)), kernel.name) for run in runs for kernel in run.launched if kernel.path}
    places = {shown_path(path), *(place for place, _ in launched)}
    seen = {(one.code, one.path, one.span, one.message) for one in judge_runs(runs, config).findings}

    def is_own(finding: Finding) -> bool:
        if finding.stage is Stage.RUN:
            return (finding.code, finding.path, finding.span, finding.message) in seen
        return finding.path == shown_path(path) or (finding.path, finding.kernel) in launched

    audit = full.audit
    own = Audit(
        findings=tuple(filter(is_own, audit.findings)),
        problems=tuple(one for one in audit.problems if one.path in places or not one.in_file),
        outcomes=tuple(one for one in audit.outcomes if _is_of(one, shown_path(path))),
        texts={name: text for name, text in audit.texts.items() if name in places},
        files=1,
    )
    return FullAudit(own, tuple(_section_of(path, places, section) for section in full.sections), full.stages)


def _is_of(outcome: Outcome, path: str) -> bool:
    """Whether an outcome is of the file, after which a subject or a line may stand."""
    return outcome.subject == path or outcome.subject.startswith(f"{path}:")


def _section_of(path: Path, places: set[str], section: Section) -> Section:
    match section:
        case CompiledSection():
            kernels = tuple(one for one in section.audit.kernels if shown_path(Path(one.path)) in places)
            return replace(section, audit=replace(section.audit, kernels=kernels))
        case RanSection():
            runs = tuple(run for run in section.ran.runs if run.path == path)
            return RanSection(replace(section.ran, runs=runs))
        case MeasuredSection():
            subjects = tuple(one for one in section.measured.subjects if one.path == path)
            return MeasuredSection(replace(section.measured, subjects=subjects))
    return section
