"""A process that does jobs, several at once, with warm workers of its own: one for each GPU, or for a machine without.

It is told what is asked of all jobs, says whether it has a GPU, and then answers each job that it is given. It ends
when the other end of its connection does, and when an audit raises: the others in this process are stopped with it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import NoReturn

from tritonaudit.execute.blame import described
from tritonaudit.execute.starting import warm_up
from tritonaudit.execute.turns import turns_folder
from tritonaudit.farm.job import Answer, Asked, Job, done
from tritonaudit.measure.stage import MOST_AT_ONCE
from tritonaudit.suites.running import keep_judges, share_memory
from tritonaudit.suites.stage import NoGpu, Where, gpu_for

_TEMPORARY_BYTES = 1 << 20
"""As much as a worker's log may have."""
_SLOTS_BESIDE = 4
"""For each that is timed at once, or there is no room where every process holds what it may."""


@dataclass(frozen=True)
class Terms:
    """What an agent is told first: so many jobs at once, and how many may go on in the whole machine beside them."""

    asked: Asked
    slots: int
    in_machine: int


@dataclass(frozen=True)
class Hello:
    """What an agent says first: how many it times at once on its GPU, if it has one, or why it cannot work."""

    times: int = 0
    failure: str = ""


def prepared(terms: Terms) -> Hello:
    """Get this process ready for jobs."""
    share_memory(terms.in_machine)
    keep_judges(2 * terms.slots)  # those that go on, and as many for the references that come next
    warm_up()
    try:
        _write_temporary_file()
        return Hello(_timed_at_once(terms.slots) if gpu_for(Where(terms.asked.request.device)) else 0)
    except NoGpu as error:
        return Hello(failure=f"--device gpu: {error}")
    except OSError as error:
        return Hello(failure=f"no room for temporary files: {error.strerror} (TMPDIR chooses another folder)")


def _timed_at_once(slots: int) -> int:
    """How many subjects a GPU's agent times at once: each takes seconds to prepare, and the GPU to itself for one."""
    return max(1, min(slots // _SLOTS_BESIDE, MOST_AT_ONCE)) if turns_folder() is not None else 1


def _write_temporary_file() -> None:
    """Raise OSError where workers could not."""
    with tempfile.TemporaryFile() as file:
        file.write(bytes(_TEMPORARY_BYTES))


def answered(job: Job, terms: Terms, hello: Hello) -> Answer:
    """Do a job; where an audit raises, say so."""
    try:
        return done(job, terms.asked, times=bool(hello.times))
    except OSError as error:  # the machine's fault, which a traceback explains no better
        return Answer(job.number, failure=described(error))
    except BaseException as error:
        traceback.print_exc()
        return Answer(job.number, failure=described(error))


def serve(connection: Connection, leave: Callable[[], NoReturn]) -> NoReturn:
    """Do what the connection brings, until it ends; then leave."""
    sending = threading.Lock()

    def do(job: Job) -> None:
        answer = answered(job, terms, hello)
        try:
            with sending:
                connection.send(answer)
        except OSError:
            leave()
        if answer.failure:
            leave()

    try:
        terms: Terms = connection.recv()
        hello = prepared(terms)
        connection.send(hello)
        threads = ThreadPoolExecutor(terms.slots + hello.times)
        while True:
            threads.submit(do, connection.recv())
    except (EOFError, OSError):
        leave()


def main() -> NoReturn:
    """Serve the connection whose descriptor is the argument; what is left of this process's workers ends with it."""
    connection = Connection(int(sys.argv[1]))
    del sys.argv[1:]
    os.set_inheritable(connection.fileno(), False)
    serve(connection, _leave)


def _leave() -> NoReturn:
    os._exit(0)
