"""Runs the GPU's side in processes: one that hangs or breaks the GPU's context is ended, and goes on behind that."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bench.corpus import ROOT

_POLL = 0.5


@dataclass(frozen=True)
class Job:
    """A share of a source: of its tests, scripts or subjects those whose number is `shard` modulo `shards`.

    Launches are written to the folder `output`. `most` bounds how many cases of a test function are run.
    """

    source: str
    kind: str
    folder: str
    output: str
    shard: int = 0
    shards: int = 1
    most: int = 16

    @property
    def progress(self) -> Path:
        """Where the process says what it begins and ends, one line each."""
        return Path(self.output, f"{self.source}_{self.shard}.progress")

    @property
    def log(self) -> Path:
        return self.progress.with_suffix(".log")


@dataclass(frozen=True)
class Ran:
    """What a source came to: how many tests, scripts or cases were begun, and which launches were not recorded."""

    source: str
    begun: int
    broken: tuple[str, ...]
    left_out: Counter[str]
    failure: str = ""


def split(job: Job, shards: int) -> list[Job]:
    """A job in parts."""
    return [replace(job, shard=shard, shards=shards) for shard in range(shards)]


def run_jobs(jobs: Sequence[Job], workers: int, ends: float, idle: float) -> list[Ran]:
    """Run them all until a time of `time.monotonic`; `idle` seconds without progress end a process."""
    with ThreadPoolExecutor(workers) as threads:
        return list(threads.map(partial(_run, ends=ends, idle=idle), jobs))


def begun(progress: Path) -> list[str]:
    """What was begun, as `note` noted it."""
    return [line["begin"] for line in _lines(progress) if "begin" in line]


def note(progress: Path, **facts: object) -> None:
    """Add a line to a job's progress."""
    with progress.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(facts) + "\n")


def _run(job: Job, ends: float, idle: float) -> Ran:
    job.progress.touch()
    failure = ""
    code: int | None = None
    while code != 0 and not failure:
        before = len(begun(job.progress))
        code = _once(job, ends, idle)
        if code != 0 and time.monotonic() > ends:
            failure = "the time was over"
        elif code != 0 and len(begun(job.progress)) == before:
            failure = f"it ends with {code}: {_last_line(job.log)}"
    lines = _lines(job.progress)
    units = [line["begin"] for line in lines if "begin" in line]
    ended = {line["end"] for line in lines if "end" in line}
    left_out: Counter[str] = Counter()
    for line in lines:
        left_out.update(line.get("left_out", {}))
    broken = tuple(unit for unit in units if unit not in ended)
    return Ran(job.source, len(units), broken, left_out, failure)


def _once(job: Job, ends: float, idle: float) -> int | None:
    """The exit code of one process for what is left of the job, None where it was ended."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with job.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.fidelity.host", json.dumps(asdict(job))],
            cwd=job.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        started = time.time()
        while (code := process.poll()) is None:
            time.sleep(_POLL)
            quiet = time.time() - max(started, job.progress.stat().st_mtime)
            if time.monotonic() > ends or quiet > idle:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return None
        return code


def _lines(progress: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in progress.read_text(encoding="utf-8").splitlines()]


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
