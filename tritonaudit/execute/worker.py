"""A worker process: one task after the other, each with a log of its own, until it is killed."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from io import FileIO, TextIOWrapper
from typing import Any

from tritonaudit.data import NotData, encode
from tritonaudit.execute.blame import described, exit_described
from tritonaudit.execute.killed import End
from tritonaudit.execute.messages import Message, Note, Reply, Waited, packed, read_message, split, write_message
from tritonaudit.execute.processes import descendants, has_children, resident


@dataclass(frozen=True)
class Channel:
    """A worker's descriptors: the pipe of its requests, that of its replies, its empty stdin, and its log."""

    requests: int
    replies: int
    stdin: int
    log: int


def serve(channel: Channel, memory: int) -> None:
    """Prepare, then answer requests until there are no more.

    The first request is `(work, prepare, arguments)`, each other an item for `work`, all pickled; results are data.
    `memory` is the limit of this process in bytes.
    """
    global _serving
    worker = _serving = _Worker(channel, memory)
    order = read_message(channel.requests)
    if order is None or not worker.get_ready(order):
        return
    while (item := read_message(channel.requests)) is not None:
        worker.answer(item)


def is_worker() -> bool:
    """Whether this process is a worker, or a task forked it."""
    return _serving is not None


def forget_serving() -> None:
    """In a process that a task has forked: be no worker any more, and have nothing to say to the pool."""
    global _serving
    _serving = None


def send_note(content: Any, seconds: float) -> None:
    """From within a task, have the pool hear this at once; it kills the task if nothing more comes within the seconds.

    The task's log starts over then. What the task forked does not get past here.
    """
    if _serving is not None:
        _serving.send_note(content, seconds)


def be_last() -> None:
    """From within a task, have it be this worker's last: what it brings into the process must not meet the next one."""
    if _serving is not None:
        _serving.is_last = True


def announce_waiting(waited: float, seconds: float) -> None:
    """From within a task, have the pool know that it waits for its turn: so many seconds more it may take in all.

    Negative ones take back what was announced too many. It kills the task if nothing more comes within the seconds.
    """
    if _serving is not None:
        _serving.announce_waiting(waited, seconds)


class _Worker:
    def __init__(self, channel: Channel, memory: int) -> None:
        self._channel = channel
        self._memory = memory
        self._process = os.getpid()
        self._identity = _identity(channel)
        self._work: Callable[[Any], Any]
        self._threads = 0
        self._memory_at_rest = 0
        self._kept: list[int] = []
        self.is_last = False

    def get_ready(self, order: bytes) -> bool:
        mark, order = split(order)
        reply = self._attempt(lambda: self._prepare(*pickle.loads(order)))
        self._threads = threading.active_count()
        self._memory_at_rest = resident(self._process)
        self._kept = descendants(self._process)
        self._send(replace(reply, answers=mark))
        return reply.end is None

    def _prepare(
        self, work: Callable[[Any], Any], prepare: Callable[..., None] | None, arguments: tuple[Any, ...]
    ) -> None:
        self._work = work
        if prepare is not None:
            prepare(*arguments)

    def answer(self, item: bytes) -> None:
        mark, item = split(item)
        reply = self._attempt(lambda: self._work(pickle.loads(item)))
        self._send(replace(reply, spent=reply.end is not None or self._is_spent(), answers=mark))

    def send_note(self, content: Any, seconds: float) -> None:
        self._leave_if_forked()
        self._send(Note(encode(content), seconds))

    def announce_waiting(self, waited: float, seconds: float) -> None:
        self._leave_if_forked()
        self._send(Waited(waited, seconds))

    def _attempt(self, task: Callable[[], Any]) -> Reply:
        self._open_streams()
        try:
            result = task()
        except SystemExit as error:
            reply = Reply(end=End.EXIT, message=exit_described(error))
        except BaseException as error:
            end = End.MEMORY if isinstance(error, MemoryError) else End.RAISED
            reply = Reply(end=end, message=described(error))
        else:
            reply = _encoded(result)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._leave_if_forked()
        return reply

    def _leave_if_forked(self) -> None:
        """End a child that the task forked, and that came back as if it were us."""
        if os.getpid() != self._process:
            os._exit(0)

    def _open_streams(self) -> None:
        """Make the standard streams what they were, whatever the last task did to them."""
        for descriptor, source in enumerate((self._channel.stdin, self._channel.log, self._channel.log)):
            os.dup2(source, descriptor)
        sys.stdout, sys.stderr = _unbuffered(1), _unbuffered(2)

    def _is_spent(self) -> bool:
        """Whether the task was to be the last, or left processes, threads or much memory behind."""
        spare = (self._memory - self._memory_at_rest) // 2
        return (
            self.is_last
            or has_children(self._kept)
            or threading.active_count() > self._threads
            or resident(self._process) > self._memory_at_rest + spare
        )

    def _send(self, message: Message) -> None:
        """Send the message; a worker whose descriptors the task has closed dies as one that writes to a closed pipe."""
        with contextlib.suppress(OSError):
            if _identity(self._channel) == self._identity:
                if isinstance(message, Note):
                    os.ftruncate(self._channel.log, 0)  # here, for by the time that it is heard there may be more
                write_message(self._channel.replies, packed(message))
                return
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(self._process, signal.SIGPIPE)


_serving: _Worker | None = None


def _identity(channel: Channel) -> list[tuple[int, int]]:
    """What the descriptors stand for: their numbers could be a file of the user's by now."""
    found = [os.fstat(descriptor) for descriptor in astuple(channel)]
    return [(file.st_dev, file.st_ino) for file in found]


def _unbuffered(descriptor: int) -> TextIOWrapper:
    raw: Any = FileIO(descriptor, "w", closefd=False)
    return TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)


def _encoded(result: Any) -> Reply:
    try:
        return Reply(encode(result))
    except NotData as error:
        return Reply(end=End.RAISED, message=f"gave a result that is not data: {error}")
