"""The run stage, end to end: subjects are tried in workers, and what is seen becomes findings at their kernels."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.capture.task import IMPORT_SECONDS, Unloadable, subject_names
from tritonaudit.config import Config
from tritonaudit.engine import KernelFacts, judge, shown_path
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import Audit, Problem
from tritonaudit.source.discover import discover
from tritonaudit.subject.find import subject_files
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.gather import SubjectRun, gather
from tritonaudit.suites.journal import Ended, Journal, Record
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.worker import CASE_SECONDS, SubjectTask, audit_subject, become_device, gpu_name

SECONDS = 30.0
"""For a subject on the CPU, unless asked otherwise."""
CPU_ENGINE = "CPU engine"
_GPU_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
"""Drivers' own files: where there are none there is no GPU, and no need to import torch to know."""
_MEMORY = 8 << 30
_MOST_DEATHS = 3
"""Of workers on one subject: after them the rest of it is not run."""
_BLAMED = {End.CRASH: Symptom.CRASH, End.EXIT: Symptom.CRASH, End.RAISED: Symptom.CRASH, End.TIMEOUT: Symptom.HANG}
"""What the end of a worker says of the case that it was trying; other ends say nothing of it."""


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

    `most_cases` of each subject are tried at most: a count ends it where a clock shall not.
    """

    seconds: float = SECONDS
    jobs: int = 1
    folder: Path | None = None
    resumes: bool = False
    device: Where = Where.ANY
    most_cases: int | None = None


@dataclass(frozen=True)
class RunAudit:
    """An audit with the runs that it is about, and what executed the launches."""

    audit: Audit
    runs: tuple[SubjectRun, ...]
    device: str = CPU_ENGINE


def run_paths(paths: Sequence[Path], config: Config, request: RunRequest) -> RunAudit:
    """Try every subject below the paths. Raises NoGpu."""
    gpu = _gpu(request.device)
    found = discover(paths, config)
    with tempfile.TemporaryDirectory(prefix="tritonaudit-") as scratch:
        folder = request.folder or Path(scratch)
        tasks, problems = _tasks(subject_files(found.files), folder, request, gpu)
        runs, lost = _run(tasks, request, gpu)
    learnt: dict[Path, list[KernelFacts]] = {}
    for run in runs:
        for kernel in run.kernels:
            learnt.setdefault(Path(kernel.path), []).append(kernel)
    audit = judge(learnt, config)
    return RunAudit(
        replace(
            audit,
            problems=(*found.problems, *problems, *lost, *audit.problems),
            outcomes=(*(outcome for run in runs for outcome in run.outcomes), *audit.outcomes),
            files=len(found.files),
            kernels=len({(kernel.path, kernel.name) for run in runs for kernel in run.launched}),
        ),
        tuple(runs),
        gpu or CPU_ENGINE,
    )


def _gpu(where: Where) -> str:
    """The name of the GPU to run on; empty for the CPU engine. Raises NoGpu."""
    if where is Where.CPU or (where is Where.ANY and not any(map(os.path.exists, _GPU_FILES))):
        return ""
    limits = Limits(seconds=IMPORT_SECONDS, memory=_MEMORY)
    ((_, name),) = run_tasks(gpu_name, [None], workers=1, limits=limits)
    found = "" if isinstance(name, Killed) else name
    if not found and where is Where.GPU:
        raise NoGpu(f"looking for a GPU {name.message}" if isinstance(name, Killed) else "torch finds no GPU")
    return found


def _tasks(
    files: Sequence[Path], folder: Path, request: RunRequest, gpu: str
) -> tuple[list[SubjectTask], list[Problem]]:
    """A task for each subject of the files; those whose subjects cannot be had are problems."""
    tasks: list[SubjectTask] = []
    problems: list[Problem] = []
    limits = Limits(seconds=IMPORT_SECONDS + 10, memory=_MEMORY)
    found = run_tasks(
        subject_names, files, workers=request.jobs, limits=limits, prepare=become_device, arguments=(bool(gpu),)
    )
    named = dict(found)
    for path in files:
        names = named[path]
        if isinstance(names, Killed):
            problems.append(Problem(shown_path(path), f"having its subjects {names.message}"))
        elif isinstance(names, Unloadable):
            problems.append(Problem(shown_path(Path(names.path)), names.reason, names.line))
        else:
            tasks += [
                SubjectTask(path, name, request.seconds, _journal(folder, path, name), request.most_cases)
                for name in names
            ]
    for task in tasks:
        if not request.resumes:
            Journal(task.journal).clear()
    return tasks, problems


def _journal(folder: Path, path: Path, subject: str) -> Path:
    digest = hashlib.sha256(f"{path.absolute()}\0{subject}".encode()).hexdigest()[:16]
    return folder / f"{digest}.journal"


def _run(tasks: Sequence[SubjectTask], request: RunRequest, gpu: str) -> tuple[list[SubjectRun], list[Problem]]:
    """Every subject, to its end; one whose worker dies goes on in another one behind the case that killed it."""
    limits = Limits(seconds=request.seconds + 3 * CASE_SECONDS, memory=_MEMORY)
    deaths: dict[SubjectTask, list[Killed]] = {task: [] for task in tasks}
    waiting = list(tasks)
    while waiting:
        again: list[SubjectTask] = []
        for task, outcome in run_tasks(
            audit_subject, waiting, workers=request.jobs, limits=limits, prepare=become_device, arguments=(bool(gpu),)
        ):
            if isinstance(outcome, Killed):
                deaths[task].append(outcome)
                if _blame(task, outcome) and len(deaths[task]) < _MOST_DEATHS:
                    again.append(task)
        waiting = again
    runs = [gather(task.path, task.subject, Journal(task.journal).read(), deaths[task]) for task in tasks]
    problems = [
        Problem(shown_path(task.path), f"the subject {task.subject!r} was not tried: {deaths[task][0].message}")
        for task, run in zip(tasks, runs, strict=True)
        if deaths[task] and not run.cases
    ]
    return runs, problems


def _blame(task: SubjectTask, killed: Killed) -> bool:
    """Note what killed a worker as what its trial came to; says whether another worker has more to try."""
    journal = Journal(task.journal)
    journal.mend()
    record = journal.read()
    begun = record.under_way
    if begun is None:
        return bool(record.ended) and record.stopped is None
    last = next((line.strip() for line in reversed(killed.log.splitlines()) if line.strip()), "")
    text = f"its process {killed.message}{f' ({last})' if last else ''}"
    symptom = _BLAMED.get(killed.end)
    if symptom is None:
        outcome = CaseOutcome(begun.case, frozenset(), unchecked=tuple((each, text) for each in Symptom))
    else:
        sighting = Sighting(symptom, _last_kernel(task, record), None, text)
        outcome = CaseOutcome(begun.case, frozenset((symptom,)), (sighting,))
    journal.add(Ended(begun.trial, outcome))
    return True


def _last_kernel(task: SubjectTask, record: Record) -> KernelRef:
    """The kernel that the subject launches last, where that is known from an earlier case."""
    kernels = [kernel for entry in record.ended for kernel in entry.outcome.kernels]
    return kernels[-1] if kernels else KernelRef(str(task.path), task.subject, 1)
