"""Where a GPU is, the process of which those apart are forked: one that has used the GPU cannot be forked any more.

A worker makes it before it touches the GPU itself. It waits until it is asked for a process, and ends with its worker.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from tritonaudit.execute.descriptors import close_all_but
from tritonaudit.execute.processes import adopt_orphans, die_with_parent
from tritonaudit.suites.apart.sending import receive, send

_PAUSE = 0.0005


@dataclass(frozen=True)
class Nursery:
    """Forks processes for this one, each of which does `work` with a connection and what it is given, and ends."""

    connection: socket.socket
    process: int

    @classmethod
    def of(cls, work: Callable[..., NoReturn], prepare: Callable[[], None]) -> Nursery:
        """A new one, that prepares itself meanwhile; to be made while this process may still be forked."""
        adopt_orphans()
        ours, theirs = socket.socketpair()
        process = os.fork()
        if not process:
            try:
                _serve(theirs, work, prepare)
            finally:
                os._exit(1)
        theirs.close()
        return cls(ours, process)

    def forked(self, connection: socket.socket, *given: Any) -> int:
        """The number of a process that has the connection; it is a child of this one. Raises OSError."""
        send(self.connection, pickle.dumps(given), os.dup(connection.fileno()))
        answer = receive(self.connection)
        if answer is None:
            raise OSError("the process that forks others has ended")
        return int(answer[0])


def _serve(connection: socket.socket, work: Callable[..., NoReturn], prepare: Callable[[], None]) -> None:
    """Fork a process for each request until there are no more."""
    from tritonaudit.execute import worker

    die_with_parent(signal.SIGKILL)
    worker.forget_serving()
    close_all_but({0, 1, 2, connection.fileno()})
    prepare()
    while (asked := receive(connection)) is not None:
        message, file = asked
        assert file is not None
        between = os.fork()
        if not between:
            _fork_on(connection, socket.socket(fileno=file), work, pickle.loads(message))
        os.close(file)
        os.waitpid(between, 0)


def _fork_on(connection: socket.socket, theirs: socket.socket, work: Callable[..., NoReturn], given: Any) -> NoReturn:
    """From the process between, which ends at once, so that the worker becomes the parent of the one that it forks."""
    between = os.getpid()
    try:
        if not os.fork():
            while os.getppid() == between:
                time.sleep(_PAUSE)
            send(connection, str(os.getpid()).encode())
            connection.close()
            work(theirs, *given)
    finally:
        os._exit(0)
