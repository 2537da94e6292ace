"""The measure stage, end to end: subjects are measured one after the other, and what that shows becomes findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tritonaudit.cache_folder import cache_folder
from tritonaudit.capture.task import IMPORT_SECONDS
from tritonaudit.compile.phrases import counted
from tritonaudit.config import Config
from tritonaudit.engine import KernelFacts, judge, shown_path
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import Audit, Problem, Status
from tritonaudit.hardware.parts import Part, known_parts, part_of_device
from tritonaudit.measure.counting import DEFAULT_TARGET, count_files
from tritonaudit.measure.facts import Gpu, MeasuredKernel, Profile, Row
from tritonaudit.measure.gather import MeasuredSubject, facts_of, held_against
from tritonaudit.measure.profiled import ProfiledKernel, profiled_kernels
from tritonaudit.measure.worker import (
    FIRST_CALL_SECONDS,
    PROFILED,
    Begun,
    Done,
    MeasureTask,
    become_gpu_user,
    gpu_of_this_process,
    measure_subject,
)
from tritonaudit.progress import SILENT, Progress
from tritonaudit.source.discover import discover
from tritonaudit.subject.find import subject_files
from tritonaudit.suites.gather import INTERRUPTED
from tritonaudit.suites.running import SubjectKey, memory, shown_subject
from tritonaudit.suites.stage import Where, gpu_for
from tritonaudit.suites.subjects import subjects_of

NO_GPU = "there is no GPU"
_CEILING_SECONDS = 120.0
_SIZES = 30
"""More than a subject has: each may take the time of the first calls of its contenders."""


@dataclass(frozen=True)
class MeasureRequest:
    """How many seconds each subject is timed for, on which device; `jobs` processes look for subjects."""

    seconds: float
    jobs: int = 1
    device: Where = Where.ANY


@dataclass(frozen=True)
class MeasureAudit:
    """An audit with the subjects that were measured, and the GPU; without one `reason` says why nothing was.

    One that was interrupted has what was done by then.
    """

    audit: Audit
    subjects: tuple[MeasuredSubject, ...]
    gpu: Gpu | None = None
    reason: str = ""
    is_interrupted: bool = False


def measure_paths(
    paths: Sequence[Path], config: Config, request: MeasureRequest, progress: Progress = SILENT
) -> MeasureAudit:
    """Measure every subject below the paths, until that is interrupted (KeyboardInterrupt).

    Raises NoGpu, and PartFileError where the configuration's file of parts cannot be used.
    """
    parts = known_parts(config.hardware_file)
    name = gpu_for(request.device)
    found = discover(paths, config)
    files = subject_files(found.files)
    if name:
        keys, problems = subjects_of(files, request.jobs, True, progress)
        measured = _measured(keys, request, progress)
    else:
        problems, measured = [], _Found(reason=NO_GPU)
    if measured.gpu is None and not measured.is_interrupted:
        problems, measured = [], _listed(files, request.jobs, measured.reason)
    done = _judged_against(measured, parts, config)
    problems = [*found.problems, *problems, *done.audit.problems]
    return replace(done, audit=replace(done.audit, problems=tuple(problems), files=len(found.files)))


def measure_subjects(
    subjects: Sequence[SubjectKey], config: Config, request: MeasureRequest, progress: Progress = SILENT
) -> MeasureAudit:
    """Measure these subjects on the GPU, which has to be there, until that is interrupted. Raises PartFileError."""
    return _judged_against(_measured(subjects, request, progress), known_parts(config.hardware_file), config)


def _judged_against(measured: _Found, parts: Mapping[str, Part], config: Config) -> MeasureAudit:
    """What measuring came to, its rows held against the roofs, with findings."""
    subjects, gpu = measured.subjects, measured.gpu
    if gpu is not None:
        part = part_of_device(gpu.name, parts)
        subjects = tuple(replace(one, rows=tuple(held_against(row, gpu, part) for row in one.rows)) for one in subjects)
    audit = _judged(subjects, gpu, config)
    return MeasureAudit(
        replace(
            audit,
            problems=(*measured.problems, *audit.problems),
            outcomes=(*(outcome for one in subjects for outcome in one.outcomes), *audit.outcomes),
            files=len({one.path for one in subjects}),
            kernels=len({(kernel.path, kernel.name) for one in subjects for kernel in one.launched}),
        ),
        subjects,
        gpu,
        measured.reason,
        measured.is_interrupted,
    )


@dataclass(frozen=True)
class _Found:
    """What measuring, or listing what would be measured, came to."""

    subjects: tuple[MeasuredSubject, ...] = ()
    problems: tuple[Problem, ...] = ()
    gpu: Gpu | None = None
    reason: str = ""
    is_interrupted: bool = False


def _measured(keys: Sequence[SubjectKey], request: MeasureRequest, progress: Progress) -> _Found:
    tasks = [MeasureTask(*key, request.seconds, cache_folder("ceilings")) for key in keys]
    measuring = _Measuring(tasks, progress)
    gpu, reason = measuring.gpu()
    if gpu is None:
        return _Found(reason=reason)
    is_interrupted = not measuring.measure()
    subjects = tuple(map(measuring.measured, tasks))
    return _Found(subjects, tuple(measuring.problems), gpu, is_interrupted=is_interrupted)


def _listed(files: Sequence[Path], jobs: int, reason: str) -> _Found:
    """The rows that there would be, none of them measured, with the work of each."""
    try:
        counted, problems = count_files(files, DEFAULT_TARGET, jobs)
    except KeyboardInterrupt:
        return _Found(reason=reason, is_interrupted=True)
    rows: dict[SubjectKey, list[Row]] = {}
    for one in counted:
        row = Row(one.case, one.size, Status.NOT_RUN, reason, work=one.work)
        rows.setdefault((one.path, one.subject), []).append(row)
    subjects = tuple(MeasuredSubject(*key, tuple(listed), reason=reason) for key, listed in rows.items())
    return _Found(subjects, problems, reason=reason)


def _judged(subjects: Sequence[MeasuredSubject], gpu: Gpu | None, config: Config) -> Audit:
    learnt: dict[Path, list[KernelFacts]] = {}
    if gpu is not None:
        for subject in subjects:
            measured = facts_of(subject, gpu)
            facts: list[MeasuredKernel | ProfiledKernel] = [] if measured is None else [measured]
            for one in (*facts, *profiled_kernels(subject, gpu)):
                learnt.setdefault(Path(one.path), []).append(one)
    return judge(learnt, config)


@dataclass
class _Measuring:
    """Subjects on their way to being measured."""

    tasks: Sequence[MeasureTask]
    progress: Progress
    problems: list[Problem] = field(default_factory=list)
    _rows: dict[SubjectKey, list[Done]] = field(default_factory=dict)
    _under_way: dict[SubjectKey, Begun] = field(default_factory=dict)
    _profiles: dict[SubjectKey, list[Profile]] = field(default_factory=dict)
    _lost: dict[SubjectKey, str] = field(default_factory=dict)
    _late: set[SubjectKey] = field(default_factory=set)
    _finished: set[SubjectKey] = field(default_factory=set)

    def gpu(self) -> tuple[Gpu | None, str]:
        """The GPU with what it is measured to reach, or why that is not known."""
        if not self.tasks:
            return None, "there is no subject"
        self.progress.stage("measuring what the GPU can reach", 0)
        ((_, gpu),) = run_tasks(
            gpu_of_this_process, [self.tasks[0].folder], workers=1, limits=Limits(_CEILING_SECONDS, memory(1))
        )
        return (None, f"measuring what the GPU can reach {gpu.message}") if isinstance(gpu, Killed) else (gpu, "")

    def measure(self) -> bool:
        """Measure them one at a time, for two at once would disturb each other; False where that is interrupted."""
        self.progress.stage("measuring subjects", len(self.tasks))
        seconds = IMPORT_SECONDS + _SIZES * FIRST_CALL_SECONDS + max(task.seconds for task in self.tasks)
        try:
            for task, outcome in run_tasks(
                measure_subject,
                self.tasks,
                workers=1,
                limits=Limits(seconds, memory(1)),
                prepare=become_gpu_user,
                hear=self._hear,
            ):
                self._finished.add(task.key)
                if isinstance(outcome, Killed):
                    self._lose(task, outcome)
                self.progress.done(shown_subject(task.key), counted(len(self._rows.get(task.key, ())), "size"))
        except KeyboardInterrupt:
            return False
        return True

    def measured(self, task: MeasureTask) -> MeasuredSubject:
        """What measuring a subject came to, as far as it came."""
        done = self._rows.get(task.key, [])
        profiles = tuple(self._profiles.get(task.key, ()))
        launched = tuple(dict.fromkeys(kernel for one in done for kernel in one.kernels))
        kernel = launched[0] if len(launched) == 1 else next((one.wrapper for one in done if one.wrapper), None)
        rows = tuple(one.row for one in done)
        reason = self._lost.get(task.key, "" if task.key in self._finished else INTERRUPTED)
        begun = self._under_way.get(task.key)
        if task.key in self._lost and begun is not None and begun.size != PROFILED:
            status = Status.NOT_RUN if task.key in self._late else Status.FAIL
            rows = (*rows, Row(begun.case, begun.size, status, reason))
        return MeasuredSubject(*task.key, rows, kernel, launched, profiles, reason)

    def _hear(self, task: MeasureTask, entry: Begun | Done | Profile) -> None:
        if isinstance(entry, Begun):
            self._under_way[task.key] = entry
            self.progress.doing(shown_subject(task.key), f"{entry.size} {entry.case.label}".strip())
        elif isinstance(entry, Profile):
            self._profiles.setdefault(task.key, []).append(entry)
        else:
            self._under_way.pop(task.key, None)
            self._rows.setdefault(task.key, []).append(entry)

    def _lose(self, task: MeasureTask, killed: Killed) -> None:
        self._lost[task.key] = f"its process {killed.message}"
        if killed.end is End.TIMEOUT:
            self._late.add(task.key)
        if task.key not in self._rows and task.key not in self._under_way:
            path, name = task.key
            self.problems.append(Problem(shown_path(path), f"the subject {name!r} was not measured: {killed.message}"))
