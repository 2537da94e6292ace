"""The measure stage, end to end: subjects are measured, and what that shows becomes findings.

Several are prepared and verified at once; they are timed one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from tritonaudit.cache_folder import cache_folder
from tritonaudit.capture.task import IMPORT_SECONDS
from tritonaudit.compile.phrases import counted
from tritonaudit.config import Config
from tritonaudit.engine import KernelFacts, judge
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import Feed, Limits, run_tasks
from tritonaudit.execute.turns import turns_folder
from tritonaudit.finding import Audit, Problem, Status
from tritonaudit.hardware.parts import Part, known_parts, part_of_device
from tritonaudit.measure.counting import DEFAULT_TARGET, count_files
from tritonaudit.measure.facts import NO_ROOM, Gpu, MeasuredKernel, Profile, Row
from tritonaudit.measure.gather import MeasuredSubject, facts_of, held_against
from tritonaudit.measure.profiled import ProfiledKernel, profiled_kernels
from tritonaudit.measure.worker import (
    FIRST_CALL_SECONDS,
    Begun,
    Done,
    GpuTask,
    MeasureTask,
    ProfileTask,
    Word,
    become_gpu_user,
    measure,
)
from tritonaudit.progress import SILENT, Progress
from tritonaudit.shown import shown_path
from tritonaudit.source.discover import discover
from tritonaudit.subject.find import subject_files
from tritonaudit.suites.gather import INTERRUPTED
from tritonaudit.suites.running import SubjectKey, memory, shown_subject
from tritonaudit.suites.stage import Where, chosen_gpu, gpu_for
from tritonaudit.suites.subjects import subjects_of

_Task = GpuTask | MeasureTask | ProfileTask
NO_GPU = "there is no GPU"
NOT_RIGHT = "it is not timed, as it is not known to be right"
_COUNTED = 0.2  # of a subject's seconds, where it is not timed, goes into counting what its reference does
_SIZES = 30
"""More than a subject has: each may take the time of the first calls of its contenders."""
MOST_AT_ONCE = 6
"""Subjects that are prepared: more would not be timed sooner, and each needs memory of the GPU."""
_SPARE_CORES = 2
"""For the one that is timed, and for this process."""
_LEAST_MEMORY = 6 << 30
"""Of the machine, for a process that compiles and verifies."""


@dataclass(frozen=True)
class MeasureRequest:
    """How many seconds each subject is timed for, on which device, in how many processes.

    One that `is_brief` times subjects beside PyTorch only, at the named sizes of their first dtype.
    """

    seconds: float
    jobs: int = 1
    device: Where = Where.ANY
    is_brief: bool = False


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
        keys, problems, _ = subjects_of(files, request.jobs, True, progress)
        measured = _measured(keys, request, progress)
    else:
        problems, measured = [], _Found(reason=NO_GPU)
    if measured.gpu is None and not measured.is_interrupted:
        problems, measured = [], _listed(files, request, measured.reason)
    done = _judged_against(measured, parts, config)
    problems = [*found.problems, *problems, *done.audit.problems]
    return replace(done, audit=replace(done.audit, problems=tuple(problems), files=len(found.files)))


def measure_subjects(
    subjects: Sequence[SubjectKey], config: Config, request: MeasureRequest, progress: Progress = SILENT
) -> MeasureAudit:
    """Measure these subjects on the GPU, which has to be there, until that is interrupted. Raises PartFileError."""
    return _judged_against(_measured(subjects, request, progress), known_parts(config.hardware_file), config)


class Lane:
    """Measures subjects in a thread of its own, each as soon as it is added; what all need is made ready before."""

    def __init__(self, config: Config, request: MeasureRequest, progress: Progress) -> None:
        """Raises PartFileError."""
        self._config = config
        self._parts = known_parts(config.hardware_file)
        self._request = request
        self._measuring = _Measuring(request.seconds, progress, at_once(request.jobs))
        self._feed = Feed[_Task](self._measuring.beginning())

    def __enter__(self) -> Lane:
        self._thread = ThreadPoolExecutor(1)
        self._done = self._thread.submit(self._measuring.measure, self._feed)
        return self

    def __exit__(self, *_: object) -> None:
        self._feed.close()
        self._thread.shutdown()
        self._feed.__exit__()

    def add(self, key: SubjectKey) -> None:
        """Have it measured."""
        self._measuring.add(_task(key, self._request), self._feed)

    def measured(self, subjects: Sequence[SubjectKey]) -> MeasureAudit:
        """What measuring came to once it is done; those of the subjects that were not added are reported, too.

        Raises KeyboardInterrupt where that came before anything was known.
        """
        self._feed.close()
        found = _found(self._measuring, is_interrupted=not self._done.result())
        known = {(one.path, one.name): one for one in found.subjects}
        why = {task.key: found.reason for task in self._measuring.tasks}
        each = tuple(known.get(key) or MeasuredSubject(*key, (), reason=why.get(key, NOT_RIGHT)) for key in subjects)
        return _judged_against(replace(found, subjects=each), self._parts, self._config)


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
    if not keys:
        return _Found(reason="there is no subject")
    progress.stage("measuring subjects", len(keys))
    measuring = _Measuring(request.seconds, progress, at_once(request.jobs))
    with Feed[_Task](measuring.beginning()) as feed:
        for key in keys:
            measuring.add(_task(key, request), feed)
        feed.close()
        is_interrupted = not measuring.measure(feed)
    return _found(measuring, is_interrupted=is_interrupted)


def _task(key: SubjectKey, request: MeasureRequest) -> MeasureTask:
    return MeasureTask(*key, request.seconds, request.is_brief)


def _with_profile(task: MeasureTask) -> list[_Task]:
    return [task] if task.is_brief else [task, ProfileTask(*task.key)]


def _found(measuring: _Measuring, *, is_interrupted: bool) -> _Found:
    gpu = measuring.gpu
    if isinstance(gpu, Killed):
        return _Found(reason=f"measuring what the GPU can reach {gpu.message}", is_interrupted=is_interrupted)
    if gpu is None:
        raise KeyboardInterrupt  # before anything was known
    subjects = tuple(map(measuring.measured, measuring.tasks))
    return _Found(subjects, measuring.problems, gpu, is_interrupted=is_interrupted)


def _ceilings() -> GpuTask:
    return GpuTask(cache_folder("ceilings"))


def at_once(jobs: int) -> int:
    """How many subjects are prepared at once where so many processes may run: one where no turns can be kept."""
    most = max(1, min(jobs - _SPARE_CORES, MOST_AT_ONCE)) if turns_folder() is not None else 1
    return next((workers for workers in range(most, 1, -1) if memory(workers) >= _LEAST_MEMORY), 1)


def _listed(files: Sequence[Path], request: MeasureRequest, reason: str) -> _Found:
    """The rows that there would be, none of them measured, with the work of each."""
    try:
        counted, problems = count_files(files, DEFAULT_TARGET, request.jobs, request.seconds * _COUNTED)
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


_known_gpus: dict[tuple[str | None, ...], Gpu] = {}
"""What the GPU can reach that is chosen so: it is asked for once."""


@dataclass
class _Measuring:
    """Subjects on their way to being measured."""

    seconds: float
    progress: Progress
    workers: int = 1
    tasks: list[MeasureTask] = field(default_factory=list)
    gpu: Gpu | Killed | None = field(default_factory=lambda: _known_gpus.get(chosen_gpu()))
    _rows: dict[SubjectKey, list[Done]] = field(default_factory=dict)
    _under_way: dict[SubjectKey, Begun] = field(default_factory=dict)
    _profiles: dict[SubjectKey, list[Profile]] = field(default_factory=dict)
    _lost: dict[SubjectKey, Killed] = field(default_factory=dict)
    _unprofiled: dict[SubjectKey, Killed] = field(default_factory=dict)
    _finished: set[SubjectKey] = field(default_factory=set)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Subjects that died before anything was known of them."""
        return tuple(
            Problem(shown_path(path), f"the subject {name!r} was not measured: {killed.message}")
            for (path, name), killed in self._lost.items()
            if (path, name) not in self._rows and (path, name) not in self._under_way
        )

    def beginning(self) -> Sequence[_Task]:
        """What comes before all subjects."""
        return () if self.gpu is not None else (_ceilings(),)

    def add(self, task: MeasureTask, feed: Feed[_Task]) -> None:
        """Have it measured with what else the feed has, and profiled meanwhile."""
        self.tasks.append(task)
        for one in _with_profile(task):
            feed.add(one)

    def measure(self, feed: Feed[_Task]) -> bool:
        """Measure them all, behind what the feed has from the beginning; False where that is interrupted.

        What found no room beside others is measured again alone.
        """
        try:
            self._run(feed, self.workers)
            feed.wait_until_closed()
            if self.workers > 1:
                self._run(self._cramped(), 1)
        except KeyboardInterrupt:
            return False
        return True

    def _run(self, tasks: Sequence[_Task] | Feed[_Task], workers: int) -> None:
        """Do the tasks, as long as the GPU can be used."""
        seconds = IMPORT_SECONDS + _SIZES * FIRST_CALL_SECONDS + self.seconds
        for task, outcome in run_tasks(
            measure,
            tasks,
            workers=workers,
            limits=Limits(seconds, memory(workers)),
            prepare=become_gpu_user,
            arguments=lambda task: (not isinstance(task, ProfileTask),),
            hear=self._hear,
            hears=Word,
        ):
            if isinstance(task, ProfileTask):
                if isinstance(outcome, Killed):
                    self._unprofiled[task.key] = outcome
                continue
            if isinstance(task, MeasureTask):
                self._finish(task, outcome if isinstance(outcome, Killed) else None)
                continue
            self.gpu = outcome
            if isinstance(outcome, Killed):
                return
            if outcome is not None:
                _known_gpus[chosen_gpu()] = outcome

    def _finish(self, task: MeasureTask, killed: Killed | None) -> None:
        self._finished.add(task.key)
        if killed is not None:
            self._lost[task.key] = killed
        self.progress.done(shown_subject(task.key), counted(len(self._rows.get(task.key, ())), "size"))

    def _cramped(self) -> list[_Task]:
        """What had no room, as far as that is known; of the subjects nothing is known any more."""
        is_lost = isinstance(self.gpu, Killed)
        cramped = [task for task in self.tasks if is_lost or self._had_no_room(task.key)]
        for key in (task.key for task in cramped):
            for known in (self._rows, self._under_way, self._profiles, self._lost, self._unprofiled):
                known.pop(key, None)
            self._finished.discard(key)
        return [*([_ceilings()] if is_lost else ()), *(one for task in cramped for one in _with_profile(task))]

    def _had_no_room(self, key: SubjectKey) -> bool:
        """Whether the GPU's memory or the machine's did not suffice."""
        lost = self._lost.get(key)
        rows = [done.row for done in self._rows.get(key, ())]
        reasons = [reason for row in rows for reason in (row.reason, *(one.reason for one in row.timed))]
        return (lost is not None and lost.end is End.MEMORY) or any(NO_ROOM in reason for reason in reasons)

    def measured(self, task: MeasureTask) -> MeasuredSubject:
        """What measuring a subject came to, as far as it came."""
        done = self._rows.get(task.key, [])
        launched = tuple(dict.fromkeys(kernel for one in done for kernel in one.kernels))
        kernel = launched[0] if len(launched) == 1 else next((one.wrapper for one in done if one.wrapper), None)
        rows = tuple(one.row for one in done)
        lost, begun = self._lost.get(task.key), self._under_way.get(task.key)
        reason = f"its process {lost.message}" if lost else "" if task.key in self._finished else INTERRUPTED
        if lost is not None and begun is not None:
            status = Status.NOT_RUN if lost.end is End.TIMEOUT else Status.FAIL
            rows = (*rows, Row(begun.case, begun.size, status, reason))
        return MeasuredSubject(*task.key, rows, kernel, launched, tuple(self._profiled(task.key)), reason)

    def _profiled(self, key: SubjectKey) -> Iterator[Profile]:
        """What the profiler counted of a subject that was timed, or why it did not."""
        timed = next((done for done in self._rows.get(key, ()) if done.row.timed and done.kernels), None)
        if timed is None:
            return
        yield from self._profiles.get(key, ())
        if (killed := self._unprofiled.get(key)) is not None:
            yield Profile(timed.kernels[0], timed.row.case, reason=f"its process {killed.message}")

    def _hear(self, task: _Task, entry: Word) -> None:
        assert not isinstance(task, GpuTask)
        if isinstance(entry, Begun):
            self._under_way[task.key] = entry
            self.progress.doing(shown_subject(task.key), f"{entry.size} {entry.case.label}".strip())
        elif isinstance(entry, Profile):
            self._profiles.setdefault(task.key, []).append(entry)
        else:
            self._under_way.pop(task.key, None)
            self._rows.setdefault(task.key, []).append(entry)
