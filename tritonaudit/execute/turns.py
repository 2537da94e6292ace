"""Turns on the GPU, which processes of a user take: many share it, or one has it to itself, to time something.

Two files stand for it, and the system lets go of them when a process ends, however it does. Whoever shares the GPU
holds `room` with the others; whoever wants it to itself waits until nobody does. Meanwhile it keeps hold of `gate`,
which each of those who share has to pass: so a stream of them keeps nobody waiting for ever, and those who time follow
one another without the others coming in between.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from tritonaudit.cache_folder import cache_folder
from tritonaudit.execute.worker import announce_waiting

_PAUSE = 0.01
"""Seconds between two attempts: the system's own waiting could not be reported."""
_AHEAD, _LEAST_AHEAD = 5.0, 1.0
"""Seconds of waiting that are announced to the pool beforehand, so that it never counts them as the task's."""
_ANNOUNCED = 60.0
"""Seconds for which the pool believes that a process waits that says no more."""


@cache
def turns_folder() -> Path | None:
    """Where the files are: a folder that is only this user's; None where there can be none, and no turns are kept."""
    for path in (Path(tempfile.gettempdir()) / f"tritonaudit-{os.getuid()}", cache_folder("turns")):
        with suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022:
                return path
    return None


def _device() -> str:
    """What names the GPU of this process, which is the first that it may see."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").partition(",")[0]
    return "".join(filter(str.isalnum, first)) or "0"


class Turns:
    """This process's turns. `waited` is for how many seconds it has waited for them until now.

    Waiting is not a task's own time: the pool learns of it, and gives the task as much more.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.waited = 0.0
        self._folder = folder or turns_folder()
        self._held: tuple[int, int] | None = None
        self._process = 0

    @contextmanager
    def shared(self, seconds: float) -> Iterator[None]:
        """Use the GPU beside others meanwhile. Where this had to wait, the pool hears more within the seconds."""
        self._take(_enter, seconds)
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def exclusive(self, seconds: float) -> Iterator[None]:
        """Have the GPU to itself meanwhile. A shared turn around it is given up for so long, and taken again."""
        is_within = self._held is not None
        self._leave()
        try:
            self._take(_clear, seconds)
            yield
        finally:
            self._leave()
            if is_within:
                self._take(_enter, seconds)

    @contextmanager
    def given_up(self, seconds: float) -> Iterator[None]:
        """Meanwhile leave the GPU to a process that this one waits for, and that takes turns itself; then share it."""
        self._leave()
        try:
            yield
        finally:
            self._take(_enter, seconds)

    def _take(self, attempt: Callable[[int, int], bool], seconds: float) -> None:
        if self._folder is None:
            return
        files = self._open(self._folder)
        began = time.monotonic()
        waited = reported = 0.0
        try:
            while not attempt(*files):
                if reported < waited + _LEAST_AHEAD:
                    announce_waiting(waited + _AHEAD - reported, _ANNOUNCED)
                    reported = waited + _AHEAD
                time.sleep(_PAUSE)
                waited = time.monotonic() - began
        except BaseException:
            self._leave()
            raise
        if reported:
            self.waited += waited
            announce_waiting(waited - reported, seconds)

    def _open(self, folder: Path) -> tuple[int, int]:
        """The files, opened again for each turn, so that none is shared with a process that was forked before."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        gate, room = (os.open(folder / f"gpu-{_device()}-{name}", flags, 0o600) for name in ("gate", "room"))
        self._held, self._process = (gate, room), os.getpid()
        return gate, room

    def _leave(self) -> None:
        """Let go of the turn, if there is one; a process that the task forked holds none of its own."""
        held, self._held = self._held, None
        for descriptor in reversed(held or ()):
            with suppress(OSError):  # the user's code may have closed it
                if os.getpid() == self._process:
                    fcntl.flock(descriptor, fcntl.LOCK_UN)
                os.close(descriptor)


def _enter(gate: int, room: int) -> bool:
    """Share the room, past the gate."""
    if not _locked(gate, fcntl.LOCK_EX):
        return False
    try:
        return _locked(room, fcntl.LOCK_SH)
    finally:
        fcntl.flock(gate, fcntl.LOCK_UN)


def _clear(gate: int, room: int) -> bool:
    """Have the room alone, and the gate shut from the first attempt on."""
    return _locked(gate, fcntl.LOCK_SH) and _locked(room, fcntl.LOCK_EX)


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
