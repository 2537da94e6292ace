"""The run stage, end to end: subjects are tried in workers, and what is seen becomes findings at their kernels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path

from tritonaudit.capture.task import IMPORT_SECONDS
from tritonaudit.config import Config
from tritonaudit.engine import KernelFacts, judge
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, cancelling, run_tasks
from tritonaudit.execute.processes import may_have_gpu
from tritonaudit.execute.starting import warm_up
from tritonaudit.finding import EVERY_KERNEL, Audit, Outcome, Problem, Status
from tritonaudit.progress import SILENT, Progress
from tritonaudit.results import notebooks_passed_over
from tritonaudit.rules import all_rules
from tritonaudit.shown import shown_path
from tritonaudit.source.discover import discover
from tritonaudit.subject.find import subject_files, unnoticed
from tritonaudit.subject.guessed import uncovered
from tritonaudit.subject.specs import spec_beside
from tritonaudit.suites.gather import INTERRUPTED, SubjectRun, gather
from tritonaudit.suites.journal import Begun, CoreTried, Entry, Expected, Journal
from tritonaudit.suites.running import Means, Runner, SubjectKey, memory, shown_subject
from tritonaudit.suites.runs import Runs
from tritonaudit.suites.subjects import subjects_of
from tritonaudit.suites.worker import gpu_name

SECONDS = 30.0
"""For a subject on the CPU, unless asked otherwise."""
CPU_ENGINE = "CPU engine"
_CHOOSING_A_GPU = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


class Where(Enum):
    """Where launches are executed; the value is what the command line calls it."""

    ANY = "auto"
    CPU = "cpu"
    GPU = "gpu"


class NoGpu(Exception):
    """A GPU is asked for, and there is none that torch can use."""


@dataclass(frozen=True)
class RunRequest:
    """How long each subject is tried for, in how many processes at once, and where journals are kept.

    With a `folder` an audit that was killed can be resumed: then trials that ended are not run again. `most_cases` of
    each subject's plan are tried at most, beside its core: a count ends it where a clock shall not. `cross_checks` has
    Triton's interpreter do a few cases, too, beside the CPU engine. The `seed` draws the cases that nobody can foresee;
    an audit that resumes one of another seed begins again if `seed_is_asked_for`.
    """

    seconds: float = SECONDS
    jobs: int = 1
    folder: Path | None = None
    resumes: bool = False
    device: Where = Where.ANY
    most_cases: int | None = None
    cross_checks: bool = False
    seed: int = 0
    seed_is_asked_for: bool = False


@dataclass(frozen=True)
class RunAudit:
    """An audit with the runs that it is about, and what executed the launches.

    One that was interrupted has what was done by then.
    """

    audit: Audit
    runs: tuple[SubjectRun, ...]
    device: str = CPU_ENGINE
    is_interrupted: bool = False


_OTHER_NAME = "its subjects are not run: only those of files named `audit_*.py` are"
_NO_SUBJECT = "none of the files holds a subject; "
Passed = Callable[[SubjectKey], None]
"""Learns of each subject as soon as its core has been tried, and is known to compute what it should."""


def run_paths(
    paths: Sequence[Path],
    config: Config,
    request: RunRequest,
    progress: Progress = SILENT,
    passed: Passed = lambda _: None,
) -> RunAudit:
    """Try every subject below the paths, until that is interrupted (KeyboardInterrupt). Raises NoGpu."""
    warm_up()
    all_rules()  # while the warm process imports what is tried with
    found = discover(paths, config)
    files = subject_files(found.files)
    guessed = uncovered(found.files, files)
    gpu, subjects, problems, stood_in = _gpu_and_subjects(files, request, progress)
    more, unloadable, absent = subjects_of(guessed, request.jobs, bool(gpu), progress) if guessed else ([], [], [])
    ran = run_subjects([*subjects, *more], config, request, gpu, progress, passed, frozenset(guessed))
    problems = [*found.problems, *problems, *ran.audit.problems]
    outcomes = (
        *(Outcome("run", one.path, Status.NOT_RUN, reason=one.message) for one in unloadable),
        *ran.audit.outcomes,
        *stood_in,
        *absent,
        *notebooks_passed_over(found.notebooks, "run"),
        *(Outcome("run", shown_path(path), Status.NOT_RUN, reason=_OTHER_NAME) for path in unnoticed(found.files)),
        *(_without_subject(found.files) if not files and not guessed else ()),
    )
    return replace(ran, audit=replace(ran.audit, problems=tuple(problems), outcomes=outcomes, files=len(found.files)))


def _without_subject(files: Sequence[Path]) -> Iterator[Outcome]:
    """That nothing is run, and where subjects of these files, which hold none, are or would be written."""
    beside = [spec for file in files if (spec := spec_beside(file)).is_file()]
    if files:
        hint = f"{shown_path(beside[0])} does" if beside else "`tritonaudit init` writes one"
        yield Outcome("run", EVERY_KERNEL, Status.NOT_RUN, reason=_NO_SUBJECT + hint)


def _gpu_and_subjects(
    files: Sequence[Path], request: RunRequest, progress: Progress
) -> tuple[str, list[SubjectKey], list[Problem], list[Outcome]]:
    """The GPU to run on, and the subjects of the files: where there may be one, they are looked for meanwhile.

    Raises NoGpu.
    """
    if request.device is Where.CPU or not may_have_gpu():
        gpu = gpu_for(request.device)
        return gpu, *subjects_of(files, request.jobs, bool(gpu), progress)
    with cancelling() as cancel, ThreadPoolExecutor(1) as thread:
        looking = thread.submit(gpu_for, request.device)
        try:
            found = subjects_of(files, request.jobs, True, progress)
            gpu = looking.result()
        except KeyboardInterrupt:
            cancel()
            raise
    if not gpu:  # there is a device, and torch cannot use it
        found = subjects_of(files, request.jobs, False, progress)
    return gpu, *found


def run_subjects(
    subjects: Sequence[SubjectKey],
    config: Config,
    request: RunRequest,
    gpu: str,
    progress: Progress = SILENT,
    passed: Passed = lambda _: None,
    guessed: frozenset[Path] = frozenset(),
) -> RunAudit:
    """Try these subjects on the GPU of that name, or on the CPU engine, until that is interrupted.

    Those of the files in `guessed` nobody has written: one that cannot be tried is no problem.
    """
    settings = (request.seconds, request.most_cases, gpu, request.cross_checks)
    seed = request.seed if request.seed_is_asked_for else None
    kept = Runs(request.folder, config, settings, request.resumes, seed)
    kept.tidy()
    watched = {key: kept.journal(*key, part="-memory") for key in subjects if key[0] not in guessed} if gpu else {}
    running = _Running({key: kept.journal(*key) for key in subjects}, watched, request, progress, passed)
    is_interrupted = not running.to_end()
    unrun = {key: killed for key, killed in running.lost.items() if key[0] in guessed}
    runs = tuple(running.gathered(key) for key in subjects if key not in unrun)
    audit = judge_runs(runs, config)
    return RunAudit(
        replace(
            audit,
            problems=(*running.problems(unrun), *audit.problems),
            outcomes=(
                *(outcome for run in runs for outcome in run.outcomes),
                *(
                    Outcome("run", shown_subject(key), Status.NOT_RUN, reason=killed.message)
                    for key, killed in unrun.items()
                ),
                *audit.outcomes,
            ),
            files=len({path for path, _ in subjects}),
            kernels=len({(kernel.path, kernel.name) for run in runs for kernel in run.launched}),
        ),
        runs,
        gpu or CPU_ENGINE,
        is_interrupted,
    )


def judge_runs(runs: Sequence[SubjectRun], config: Config) -> Audit:
    """The findings in what runs showed of kernels."""
    learnt: dict[Path, list[KernelFacts]] = {}
    for run in runs:
        for kernel in run.kernels:
            learnt.setdefault(Path(kernel.path), []).append(kernel)
    return judge(learnt, config)


def gpu_for(where: Where) -> str:
    """The name of the GPU to run on; empty for the CPU engine. Raises NoGpu."""
    if where is Where.CPU or (where is Where.ANY and not may_have_gpu()):
        return ""
    name = _visible_gpu(chosen_gpu())
    if isinstance(name, str) and name:
        return name
    if where is Where.GPU:
        raise NoGpu(f"looking for a GPU {name.message}" if isinstance(name, Killed) else "torch finds no GPU")
    return ""


def chosen_gpu() -> tuple[str | None, ...]:
    """What says which GPU is the first."""
    return tuple(map(os.environ.get, _CHOOSING_A_GPU))


@cache
def _visible_gpu(_: tuple[str | None, ...]) -> str | Killed:
    """The name of the GPU that torch finds: looked for once, as each stage asks for it."""
    limits = Limits(seconds=IMPORT_SECONDS, memory=memory(1))
    ((__, name),) = run_tasks(gpu_name, [None], workers=1, limits=limits)
    return name


class _Running:
    """Subjects with their journals, on their way to being runs."""

    def __init__(
        self,
        journals: dict[SubjectKey, Journal],
        watched: dict[SubjectKey, Journal],
        request: RunRequest,
        progress: Progress,
        passed: Passed,
    ) -> None:
        self._passed = passed
        self._journals = journals
        self._watched = watched
        self._progress = progress
        self._tried: Counter[SubjectKey] = Counter()
        self._seconds = request.seconds
        self._has_warned = False
        self._cross_checks = request.cross_checks
        means = Means(
            request.seconds, request.most_cases, request.jobs, bool(watched), request.cross_checks, request.seed
        )
        self._runner = Runner(means, journals, watched, self._show, self._finish)

    def to_end(self) -> bool:
        """Try them all; False where that is interrupted."""
        self._progress.stage("trying subjects", len(self._journals))
        try:
            for key, journal in self._journals.items():
                if journal.read().is_core_tried:  # in an audit that was killed
                    self._pass(key)
            self._runner.run()
        except KeyboardInterrupt:
            return False
        finally:
            for journal in (*self._journals.values(), *self._watched.values()):
                journal.close()
        return True

    def gathered(self, key: SubjectKey) -> SubjectRun:
        """The run of a subject, as far as it came."""
        lost = self._runner.lost.get(key)
        cut_short = f"its process {lost.message}" if lost else INTERRUPTED
        watched = self._watched[key].read() if self._watched else None
        record = self._journals[key].read()
        return gather(*key, record, cut_short, watched=watched, cross_checked=self._cross_checks)

    @property
    def lost(self) -> Mapping[SubjectKey, Killed]:
        """Subjects that could not be tried, each with the end of its worker."""
        return self._runner.lost

    def problems(self, but: Container[SubjectKey]) -> Iterator[Problem]:
        """Those of them that are problems, which some are not."""
        for (path, name), killed in self._runner.lost.items():
            if (path, name) in but:
                continue
            yield Problem(shown_path(path), f"the subject {name!r} was not tried: {killed.message}")

    def _show(self, key: SubjectKey, entry: Entry) -> None:
        if isinstance(entry, Expected) and entry.seconds > self._seconds and not self._has_warned:
            self._has_warned = True
            self._progress.note(shown_subject(key), _too_little(entry, self._seconds))
        if isinstance(entry, CoreTried):
            self._pass(key)
        if isinstance(entry, Begun):
            self._tried[key] += 1
            left = max(self._seconds - entry.spent, 0)
            detail = f"{_counted(self._tried[key])}, {left:.0f} s left: {entry.trial.check}, {entry.case.label}"
            self._progress.doing(shown_subject(key), detail)

    def _pass(self, key: SubjectKey) -> None:
        if self.gathered(key).is_known_to_compute:
            self._passed(key)

    def _finish(self, key: SubjectKey) -> None:
        run = self.gathered(key)
        seconds = self._journals[key].read().spent
        reported = f"{run.coverage.shown}, in {seconds:.1f} s: {run.verdict.value}"
        self._progress.done(shown_subject(key), reported)


def _too_little(core: Expected, seconds: float) -> str:
    return (
        f"a budget of {seconds:g} s is less than its core needs, about {core.seconds:.1f} s for {core.trials} trials:"
        " the core is tried anyway"
    )


def _counted(number: int, what: str = "call") -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
