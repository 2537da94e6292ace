"""The work of subjects, counted without a GPU in worker processes that have a stand-in for one."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.capture.task import IMPORT_SECONDS, Unloadable, become_gpu, find_subjects, loaded, target
from tritonaudit.capture.time_limit import OutOfTime, time_limit
from tritonaudit.execute.blame import described
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import Problem
from tritonaudit.hardware.roofline import Work
from tritonaudit.measure.sizes import fits, timed_cases
from tritonaudit.shown import shown_path
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.running import memory

if TYPE_CHECKING:
    from tritonaudit.capture.standin import Host

DEFAULT_TARGET = "sm_90"
"""The GPU that wrappers see where the part is none that Triton compiles for by a name of ours."""

_CASE_SECONDS = 20.0
_LEAST_SECONDS = 0.1  # of a case whose subject's time is over: most references take less
_FILE_SECONDS = IMPORT_SECONDS + 300.0
_REAL_BYTES = 256 << 20  # of inputs with data, which two cores fill in a second


@dataclass(frozen=True)
class Counted:
    """The work of a subject of a file at a size."""

    path: Path
    subject: str
    size: str
    case: Case
    work: Work


def count_files(
    files: Sequence[Path], target: str, jobs: int, seconds: float = math.inf
) -> tuple[tuple[Counted, ...], tuple[Problem, ...]]:
    """The work of every subject of the files, on a stand-in for that target, and what could not be counted at all.

    Those of one subject are counted for so many seconds: of later sizes no more is known then than the subject gives.
    """
    counted: dict[Path, tuple[Counted, ...]] = {}
    problems: dict[Path, Problem] = {}
    limits = Limits(_FILE_SECONDS, memory(jobs))
    task = partial(count_file, seconds=seconds)
    for path, done in run_tasks(task, files, workers=jobs, limits=limits, prepare=become_gpu, arguments=(target,)):
        if isinstance(done, Killed):
            problems[path] = Problem(shown_path(path), f"counting the work of its subjects {done.message}")
        elif isinstance(done, Unloadable):
            problems[path] = Problem(shown_path(Path(done.path)), done.reason, done.line)
        else:
            counted[path] = done
    return (
        tuple(one for path in files for one in counted.get(path, ())),
        tuple(problems[path] for path in files if path in problems),
    )


def count_file(path: Path, seconds: float) -> tuple[Counted, ...] | Unloadable:
    """The work of the subjects of one file, in a process that has become a GPU."""
    found = find_subjects(path)
    if isinstance(found, Unloadable):
        return found
    subjects = loaded(path)
    counted: list[Counted] = []
    for name in found.subjects:
        deadline = time.monotonic() + seconds
        counted.extend(
            Counted(path, name, size, case, _work(subjects[name], case, deadline))
            for size, case in timed_cases(subjects[name])
        )
    return tuple(counted)


def _work(subject: Subject, case: Case, deadline: float) -> Work:
    """The work of a case, on tensors without data, or if they are not too large on tensors with data."""
    from tritonaudit.capture.standin import Host
    from tritonaudit.measure.work import uncounted

    try:
        return _on(Host.META, subject, case, deadline)
    except OutOfTime as error:
        return uncounted(subject, case, f"the reference {error}")
    except Exception as error:
        reason = f"on tensors without data the reference {described(error)}"
    if callable(subject.inputs) or not fits(subject, case, _REAL_BYTES):
        return uncounted(subject, case, reason)
    try:
        return _on(Host.CPU, subject, case, deadline)
    except OutOfTime as error:
        return uncounted(subject, case, f"the reference {error}")
    except Exception as error:
        return uncounted(subject, case, f"the reference {described(error)}")


def _on(host: Host, subject: Subject, case: Case, deadline: float) -> Work:
    from tritonaudit.capture.record import Recorder, recording
    from tritonaudit.capture.standin import tensors_on
    from tritonaudit.measure.work import counted

    recorder = Recorder(target(), case.label, configs=1, front_end=False)
    seconds = min(_CASE_SECONDS, max(_LEAST_SECONDS, deadline - time.monotonic()))
    with time_limit(seconds), tensors_on(host), recording(recorder):
        return counted(subject, case)
