"""The subjects of files, as worker processes find them that are like those in which they will be tried."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tritonaudit.absent.outcomes import stand_ins_said
from tritonaudit.capture.task import IMPORT_SECONDS, Found, Unloadable, find_subjects
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.execute.turns import Turns
from tritonaudit.finding import Outcome, Problem
from tritonaudit.progress import Progress
from tritonaudit.shown import shown_path
from tritonaudit.suites.running import SubjectKey, memory
from tritonaudit.suites.worker import become_device


def subjects_of(
    files: Sequence[Path], jobs: int, on_gpu: bool, progress: Progress
) -> tuple[list[SubjectKey], list[Problem], list[Outcome]]:
    """The subjects of the files, and what was stood in for; files whose subjects cannot be had are problems."""
    subjects: list[SubjectKey] = []
    problems: list[Problem] = []
    stood_in: list[tuple[Path, tuple[str, ...]]] = []
    limits = Limits(IMPORT_SECONDS + 10, memory(jobs))
    progress.stage("looking for subjects", len(files))
    if on_gpu:
        found = run_tasks(found_in_turn, files, workers=jobs, limits=limits)
    else:
        found = run_tasks(find_subjects, files, workers=jobs, limits=limits, prepare=become_device, arguments=(False,))
    named = dict(found)
    for path in files:
        names = named[path]
        if isinstance(names, Killed):
            problems.append(Problem(shown_path(path), f"having its subjects {names.message}"))
        elif isinstance(names, Unloadable):
            problems.append(Problem(shown_path(Path(names.path)), names.reason, names.line))
        else:
            subjects += [(path, name) for name in names.subjects]
            stood_in.append((path, names.stood_in))
    return subjects, problems, stand_ins_said(stood_in)


def found_in_turn(path: Path) -> Found | Unloadable:
    """The subjects of a file, which may use the GPU as it is run: only then is it brought up, and others' turns heeded.

    Bringing it up takes a second or more, and few files need it before they are called.
    """
    with Turns().shared(IMPORT_SECONDS):
        return find_subjects(path)
