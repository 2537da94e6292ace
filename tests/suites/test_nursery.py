"""Processes apart come of a process that was forked early, and are their worker's own children."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.checkout import ROOT

WORKER = """\
import os, socket
from tritonaudit.suites.apart.nursery import Nursery

prepared = []

def prepare():
    prepared.append(os.getpid())

def work(connection, *given):
    connection.sendall(repr((os.getpid(), os.getppid(), prepared, given, later)).encode())
    connection.recv(1)
    os._exit(7)

later = "before"
nursery = Nursery.of(work, prepare)
later = "after"
for number in range(2):
    ours, theirs = socket.socketpair()
    process = nursery.forked(theirs, "path", number)
    theirs.close()
    told = eval(ours.recv(4096).decode())
    assert told == (process, os.getpid(), [nursery.process], ("path", number), "before"), told
    ours.sendall(b".")
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
print("as told", flush=True)
ours, theirs = socket.socketpair()
nursery.forked(theirs, "path", 2)
told = eval(ours.recv(4096).decode())
print(nursery.process, told[0])
"""


def test_each_is_a_child_of_its_worker_and_ends_with_it() -> None:
    done = subprocess.run([sys.executable, "-c", WORKER], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("as told\n"), done.stderr
    nursery, last = done.stdout.split()[2:]
    for process in (nursery, last):
        assert not is_running(int(process))


def is_running(process: int) -> bool:
    """Whether it is, after a moment."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True
