"""Runs a command that is traced, and makes one trace of what its processes wrote."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.trace.kinds import kind_of
from tritonaudit.trace.reading import NotATrace, Trace, read_blob, read_trace
from tritonaudit.trace.recorded import VERSION, Header, Recorded
from tritonaudit.trace.settings import Settings, to_environment
from tritonaudit.trace.writing import Writer


class CannotRun(Exception):
    """Why a command cannot be started."""


@dataclass(frozen=True)
class Request:
    """The command, where its trace goes, how many seconds a launch may take, and how many bytes of a tensor's memory
    are kept whole. Its standard output goes where ours does, unless that `is_taken` by the report."""

    command: tuple[str, ...]
    trace: Path
    seconds: float
    limit: int
    is_taken: bool = False


def run_traced(request: Request) -> int:
    """Run the command to its end and write its trace; its exit code, negative for a signal.

    Raises CannotRun, and OSError where the trace cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="tritonaudit-") as folder:
        settings = Settings(Path(folder), request.seconds, request.limit)
        code = _run(request, settings)
        _write(request, sorted(Path(folder).glob("*.part")), code)
    return code


def _run(request: Request, settings: Settings) -> int:
    try:
        process = subprocess.Popen(
            request.command, env=to_environment(settings), stdout=sys.stderr.fileno() if request.is_taken else None
        )
    except OSError as error:
        raise CannotRun(f"{request.command[0]}: {error.strerror or error}") from error
    while True:
        with contextlib.suppress(KeyboardInterrupt):  # the command gets it, too, and ends as it likes
            return process.wait()


def _write(request: Request, parts: Sequence[Path], code: int) -> None:
    """One trace of the processes', in which the first launch of each kind is kept."""
    traces = [read for part in parts if (read := _read(part)) is not None]
    writer = Writer(request.trace)
    target = traces[0].header.target if traces else ""
    versions = (traces[0].header.python, traces[0].header.torch, traces[0].header.triton) if traces else ("", "", "")
    writer.add(Header(VERSION, request.command, os.getcwd(), target, *versions, exit_code=code))
    known: dict[Hashable, int] = {}
    count = 0
    for trace in traces:
        for source in trace.sources:
            writer.add(replace(source, text=writer.blob(read_blob(trace, source.text))))
        numbers: dict[int, int] = {}
        for one in trace.recorded:
            kind = (kind_of(one.launch), None if one.instead_of is None else numbers.get(one.instead_of))
            if kind not in known:
                known[kind] = count
                _copy(trace, one, count, numbers, writer)
                count += 1
            numbers[one.number] = known[kind]
        for made in trace.made:
            writer.add(replace(made, recorded=None if made.recorded is None else numbers.get(made.recorded)))
        for unavailable in trace.unavailable:
            writer.add(unavailable)
        for unrecorded in trace.unrecorded:
            writer.add(unrecorded)
    writer.close()


def _read(part: Path) -> Trace | None:
    """What a process wrote; None of one that was ended before it had written anything."""
    try:
        return read_trace(part, is_whole=False)
    except NotATrace:
        return None


def _copy(trace: Trace, one: Recorded, number: int, numbers: dict[int, int], writer: Writer) -> None:
    def moved(digest: str) -> str:
        return writer.blob(read_blob(trace, digest)) if digest else ""

    storages = tuple(
        replace(held, contents=moved(held.contents), undefined=moved(held.undefined)) for held in one.storages
    )
    instead_of = None if one.instead_of is None else numbers.get(one.instead_of)
    writer.add(replace(one, number=number, ttir=moved(one.ttir), storages=storages, instead_of=instead_of))
