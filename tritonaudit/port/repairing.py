"""Has a command of the user rewrite a variant, and keeps what it writes in bounds: of time, length and form."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from tritonaudit.execute.processes import descendants
from tritonaudit.finding import Audit
from tritonaudit.port.folders import Operation
from tritonaudit.port.validating import Verdict
from tritonaudit.report.json import as_data
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Unparsable, parse

MOST_ATTEMPTS = 3
SECONDS = 120.0
"""For one attempt, unless asked otherwise."""

_MOST_BYTES = 1 << 20
_MOST_SAID = 2000
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Repairer:
    """The command, split into its words, and the seconds that it has for an attempt."""

    command: tuple[str, ...]
    seconds: float = SECONDS


@dataclass(frozen=True)
class Answer:
    """What the command wrote; `failure` says why that is no new variant, `said` is the end of its standard error."""

    written: bytes
    failure: str = ""
    said: str = ""


def request_for(
    operation: Operation, file: str, attempt: int, source: str, verdict: Verdict, previous: str = ""
) -> dict[str, Any]:
    """What the command is told: the file that failed, its source, and its findings as an audit's JSON has them.

    `previous` says why the attempt before came to no file that could be tried.
    """
    reported = as_data(Audit(verdict.findings, verdict.problems))
    return {
        "file": file,
        "op": operation.name,
        "attempt": attempt,
        "source": source,
        "reasons": list(verdict.reasons),
        "previous": previous,
        "findings": reported["findings"],
        "errors": reported["errors"],
    }


def repaired(repairer: Repairer, request: dict[str, Any]) -> Answer:
    """What the command makes of the request, which must be Python; all of its processes have ended by then."""
    answer = _asked(repairer, json.dumps(request).encode())
    return answer if answer.failure else Answer(answer.written, _rubbish(answer.written), answer.said)


def _rubbish(written: bytes) -> str:
    """Why this is no Python file; empty where it is one."""
    if not written.strip():
        return "it wrote nothing"
    try:
        parse(decode(written))
    except (Undecodable, Unparsable) as error:
        return f"what it wrote is not Python: {error.message}{f' (line {error.line})' if error.line else ''}"
    return ""


def _asked(repairer: Repairer, text: bytes) -> Answer:
    with tempfile.TemporaryFile() as request:
        request.write(text)
        request.seek(0)
        try:
            process = subprocess.Popen(
                repairer.command,
                stdin=request,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return Answer(b"", f"it could not be started: {error.strerror or error}")
    output = _Output(process)
    try:
        failure = output.read(time.monotonic() + repairer.seconds)
    finally:
        _end(process)
        output.close()
    failure = failure.format(seconds=repairer.seconds) or _ended(process.returncode)
    return Answer(bytes(output.written), failure, output.said.decode("utf-8", "replace"))


class _Output:
    """What a process writes, as far as it may: of its standard output the beginning, of its standard error the end."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._streams: tuple[IO[bytes], IO[bytes]] = (process.stdout, process.stderr)
        self.written = bytearray()
        self.said = b""

    def read(self, deadline: float) -> str:
        """Read until both streams or the process end; why it has to be ended before that, else nothing."""
        with selectors.DefaultSelector() as selector:
            for stream in self._streams:
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(_POLL_SECONDS)
                for key, _ in ready:
                    if not self._take(key.fd):
                        selector.unregister(key.fileobj)
                if len(self.written) > _MOST_BYTES:
                    del self.written[_MOST_BYTES:]
                    return f"it wrote more than {_MOST_BYTES >> 20} MiB"
                if time.monotonic() > deadline:
                    return "it took longer than {seconds:g} s"
                if not ready and _has_ended(self._process):
                    return ""  # a process that it left behind holds the streams
            while not _has_ended(self._process):
                if time.monotonic() > deadline:
                    return "it took longer than {seconds:g} s"
                time.sleep(_POLL_SECONDS)
        return ""

    def close(self) -> None:
        for stream in self._streams:
            stream.close()

    def _take(self, descriptor: int) -> bool:
        """Take what has come; False at the end of the stream."""
        data = os.read(descriptor, 1 << 16)
        if descriptor == self._streams[0].fileno():
            self.written += data
        else:
            self.said = (self.said + data)[-_MOST_SAID:]
        return bool(data)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has, without its number becoming free for another process."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with its group and what it started, while its number is still its own."""
    started: Sequence[int] = descendants(process.pid)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for other in started:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(other, signal.SIGKILL)
    process.wait()


def _ended(code: int) -> str:
    if code == 0:
        return ""
    if code > 0:
        return f"it exited with code {code}"
    try:
        return f"it was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was killed by signal {-code}"
