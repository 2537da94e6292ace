"""What a place is given to do, and what it answers."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.audit import PERFORMANCE, AuditRequest, FullAudit
from tritonaudit.config import Config
from tritonaudit.report.jsonl import line_of, written
from tritonaudit.stream import is_to_be_timed, time_file, try_file


@dataclass(frozen=True)
class Asked:
    """What is asked of all subjects alike."""

    config: Config
    request: AuditRequest


@dataclass(frozen=True)
class Job:
    """A file to be tried; with `tried`, what that came to, it is timed. The path is shown as it is in its line."""

    number: int
    path: str
    digest: str
    tried: bytes = b""


@dataclass(frozen=True)
class Answer:
    """A line as it is written, with its verdict; or what the file came to until it is timed; or why it failed."""

    number: int
    line: str = ""
    verdict: str = ""
    tried: bytes = b""
    failure: str = ""


def done(job: Job, asked: Asked, *, times: bool) -> Answer:
    """Do the job where there is a GPU that `times`, or none. Raises KeyboardInterrupt, NoGpu."""
    path, request = Path(job.path).absolute(), asked.request
    if job.tried:
        before: FullAudit = pickle.loads(job.tried)
        return _answer(job, time_file(path, before, asked.config, request), asked.config)
    parts = request.parts - {PERFORMANCE} if times else request.parts
    full = try_file(path, asked.config, replace(request, parts=parts))
    if times and PERFORMANCE in request.parts and is_to_be_timed(full):
        return Answer(job.number, tried=pickle.dumps(full))
    return _answer(job, full, asked.config)


def _answer(job: Job, full: FullAudit, config: Config) -> Answer:
    line = line_of(job.path, job.digest, full.audit, full.sections, config)
    return Answer(job.number, written(line), line["verdict"])
