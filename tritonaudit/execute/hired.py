"""A worker as the pool that hired it sees it: what it is sent, what has come of it, and until when it is waited for."""

from __future__ import annotations

import fcntl
import os
import select
import selectors
import tempfile
import time

from tritonaudit.execute.descriptors import above_streams, open_pipe
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.messages import framed, marked, take_message
from tritonaudit.execute.starting import start_supervisor
from tritonaudit.execute.worker import Channel

_END_SECONDS = 10.0  # more than a supervisor needs
_TRANSFER_SECONDS = 5.0  # a reply that keeps coming is waited for
_MOST_TRANSFER_SECONDS = 300.0
_LOG_LINES = 100
_LOG_BYTES = 1 << 14
MAX_PATIENCE = 3600.0
"""Seconds for which nobody is waited for longer."""


def _open_log() -> int:
    """A file without a name, written at its end by all who share it."""
    descriptor, path = tempfile.mkstemp(prefix="tritonaudit-")
    os.unlink(path)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_APPEND)
    return above_streams(descriptor)


class Hired:
    """A worker, by way of its supervisor: it is sent messages, and replies, until `deadline`.

    All that it has done is of this `kin`; it is empty where that is not akin, and None of one that has done nothing.
    """

    def __init__(
        self, order: bytes, memory: int, start: float, selector: selectors.BaseSelector, *, is_fresh: bool
    ) -> None:
        self.order = order
        self.memory = memory
        self.ready = False
        self.kin: str | None = None
        self.seconds = start
        self.words = 0
        self.mark = ""
        self.deadline = 0.0
        self._last_deadline = 0.0
        self._last_seconds = 0.0
        self._selector: selectors.BaseSelector | None = None
        self._outgoing = memoryview(b"")
        self._incoming = bytearray()
        self._log = _open_log()
        requests, self._requests = open_pipe()
        self._replies, replies = open_pipe()
        stdin = above_streams(os.open(os.devnull, os.O_RDONLY))
        os.set_blocking(self._requests, False)
        try:
            channel = Channel(requests, replies, stdin, self._log)
            self._supervisor = start_supervisor(channel, memory, is_fresh=is_fresh)
        finally:
            for descriptor in (requests, replies, stdin):
                os.close(descriptor)
        self.join(selector)
        self.send(order, start)

    def send(self, message: bytes, seconds: float) -> None:
        """Send what is to be replied to within the seconds, from when it is sent whole; its log starts empty."""
        os.ftruncate(self._log, 0)
        self.seconds = seconds
        self.words = 0
        self.mark, request = marked(message)
        self._outgoing = memoryview(framed(request))
        self.send_more()

    def send_more(self) -> None:
        """Send as much as the pipe takes, and have the selector wait for it to take the rest."""
        try:
            self._outgoing = self._outgoing[os.write(self._requests, self._outgoing) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:  # it has died, which the pipe of its replies tells
            self._outgoing = memoryview(b"")
        self.deadline = self._last_deadline = time.monotonic() + self.seconds
        self._last_seconds = self.seconds
        assert self._selector is not None
        is_waiting = self._requests in self._selector.get_map()
        if self._outgoing and not is_waiting:
            self._selector.register(self._requests, selectors.EVENT_WRITE, self)
        elif is_waiting and not self._outgoing:
            self._selector.unregister(self._requests)

    def wait_for(self, seconds: float) -> None:
        """Its next word is to come within the seconds, its reply when it was to come before."""
        self.deadline, self.seconds = min(
            (time.monotonic() + seconds, seconds), (self._last_deadline, self._last_seconds)
        )

    def bear_with(self, waited: float, seconds: float) -> None:
        """Its reply may come so much later, for it waits that long; its next word is to come within the seconds."""
        self._last_deadline = min(self._last_deadline + waited, time.monotonic() + MAX_PATIENCE)
        self.wait_for(seconds)

    def receive(self) -> None:
        """Take what it has sent; EOFError once it has closed the pipe."""
        chunk = os.read(self._replies, 1 << 20)
        if not chunk:
            raise EOFError
        self._incoming += chunk
        soon = min(time.monotonic() + _TRANSFER_SECONDS, self._last_deadline + _MOST_TRANSFER_SECONDS)
        self.deadline = max(self.deadline, soon)

    def next_message(self) -> bytes | None:
        """The first message that has been received as a whole, if any."""
        return take_message(self._incoming)

    def killed(self, end: End, message: str) -> Killed:
        """The task as killed, with what its log says now."""
        size = os.fstat(self._log).st_size
        text = os.pread(self._log, _LOG_BYTES, max(size - _LOG_BYTES, 0)).decode(errors="replace")
        return Killed(end, message, "\n".join(text.splitlines()[-_LOG_LINES:]))

    def leave(self) -> None:
        """Be waited for by no pool any more."""
        for pipe in (self._requests, self._replies):
            if self._selector is not None and pipe in self._selector.get_map():
                self._selector.unregister(pipe)
        self._selector = None

    def join(self, selector: selectors.BaseSelector) -> None:
        """Be waited for by another pool."""
        self._selector = selector
        selector.register(self._replies, selectors.EVENT_READ, self)

    @property
    def is_silent(self) -> bool:
        """Whether it runs, and has said nothing that nobody has heard."""
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        return not self._incoming and not poll.poll(0)

    @property
    def has_ended(self) -> bool:
        """Whether its supervisor has."""
        return self._supervisor.ends_within(0)

    def do(self, kin: str) -> None:
        """Note what is done next; what is akin to nothing has an empty kin."""
        self.kin = kin if self.kin in (None, kin) else ""

    def ask_to_end(self) -> None:
        """Have the supervisor kill the worker, and all that it started."""
        self.leave()
        self._supervisor.ask_to_end()

    def end(self, grace: float) -> str | None:
        """End it, unless it does by itself within the grace: then, what the supervisor says of its end."""
        has_ended = self._supervisor.ends_within(grace)
        self.ask_to_end()
        self._wait()
        return self._supervisor.said if has_ended else None

    def close(self) -> None:
        """Wait for the end that it was warned of, and leave nothing open."""
        self._wait()
        self._supervisor.close()
        os.close(self._log)
        os.close(self._requests)
        os.close(self._replies)

    def _wait(self) -> None:
        if not self._supervisor.ends_within(_END_SECONDS):
            self._supervisor.kill()
