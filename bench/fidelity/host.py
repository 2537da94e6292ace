"""The GPU's side: a process that runs tests, scripts or subjects and records what they launch.

    python -m bench.fidelity.host JOB

The job is a `bench.fidelity.jobs.Job` as JSON. What an earlier process of the same job has begun is left out.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.faults.run import import_file
from bench.fidelity.hook import POISONED, Hook
from bench.fidelity.jobs import Job, begun, note


def main(job: Job) -> int:
    """Do what is left of a job."""
    hook = Hook(Path(job.output), job.source)
    hook.install()
    torch.manual_seed(0)
    units = Units(job, hook)
    if job.kind == "tests":
        return _run_tests(job, units)
    for name, call in _scripts(job) if job.kind == "scripts" else _subjects(job):
        units.run(name, call)
    return 0


class Units:
    """What a job runs one after the other; each is run once, whatever becomes of it."""

    def __init__(self, job: Job, hook: Hook) -> None:
        self._job = job
        self._hook = hook
        self._begun = set(begun(job.progress))

    def is_left(self, name: str) -> bool:
        """Whether it has not been begun."""
        return name not in self._begun

    @contextlib.contextmanager
    def one(self, name: str) -> Iterator[None]:
        """What lasts as long as one of them. A GPU that no longer answers ends the process."""
        self._begun.add(name)
        self._hook.unit = name
        note(self._job.progress, begin=name)
        yield
        try:
            self._hook.synchronize()
        except RuntimeError:
            os._exit(POISONED)
        note(self._job.progress, end=name, left_out=self._hook.left_out)
        self._hook.left_out.clear()

    def run(self, name: str, call: Callable[[], Any]) -> None:
        """Run one; that it fails is its own affair."""
        if self.is_left(name):
            with self.one(name), contextlib.suppress(Exception, SystemExit), contextlib.redirect_stdout(io.StringIO()):
                call()


# -- tests -----------------------------------------------------------------------------------------------------------


class _Plugin:
    """Selects tests, and says which of them is running."""

    def __init__(self, job: Job, units: Units) -> None:
        self._job = job
        self._units = units

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """A share of the test functions in any order, and of each some cases, evenly spread."""
        functions: dict[str, list[pytest.Item]] = {}
        for item in items:
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
        groups = list(functions.values())
        random.Random(0).shuffle(groups)  # where the time does not suffice, it has been for some of each file
        share = groups[self._job.shard :: self._job.shards]
        items[:] = [
            item for cases in share for item in spread(cases, self._job.most) if self._units.is_left(item.nodeid)
        ]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with self._units.one(item.nodeid):
            return (yield)


def spread(cases: list[Any], most: int) -> list[Any]:
    """At most so many of them, evenly spread from the first to the last."""
    if len(cases) <= most:
        return cases
    step = (len(cases) - 1) / max(most - 1, 1)
    return [cases[round(step * place)] for place in range(most)]


def _run_tests(job: Job, units: Units) -> int:
    folder = Path(job.folder)
    sys.path[:0] = [str(one) for one in (folder, folder / "src") if one.is_dir()]
    options = ["-q", "--tb=line", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={folder}"]
    code = pytest.main([*options, "--continue-on-collection-errors", str(folder)], plugins=[_Plugin(job, units)])
    return 0 if code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED) else 3


# -- scripts and subjects --------------------------------------------------------------------------------------------


def _scripts(job: Job) -> Iterator[tuple[str, Callable[[], Any]]]:
    for path in sorted(Path(job.folder).glob("*.py"))[job.shard :: job.shards]:
        yield path.name, partial(import_file, path)


def _subjects(job: Job) -> Iterator[tuple[str, Callable[[], Any]]]:
    from tritonaudit.subject.inputs import run_subject
    from tritonaudit.subject.load import load_subjects
    from tritonaudit.subject.sweep import compile_cases

    for path in _subject_files(Path(job.folder))[job.shard :: job.shards]:
        for subject in load_subjects(path):
            for case in compile_cases(subject):
                name = f"{path.name} {subject.name} {case.label}"
                yield name, partial(run_subject, subject, case)


def _subject_files(folder: Path) -> list[Path]:
    """The files of this checkout that hold subjects."""
    found = [*folder.rglob("audit_*.py"), folder / "bench" / "agreement" / "subjects.py"]
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


if __name__ == "__main__":
    sys.exit(main(Job(**json.loads(sys.argv[1]))))
