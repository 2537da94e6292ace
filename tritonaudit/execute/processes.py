"""What the operating system tells of processes, and does for them; where it cannot (macOS), nothing or less."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import resource
import signal as signals
import sys
import time
from collections.abc import Collection, Iterator
from typing import NoReturn

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SCAN_SHARE = 0.005  # of the time goes into looking for child processes
_TIMES = slice(14 - 3, 18 - 3)  # of /proc/PID/stat: a process's own clock ticks, and of those that it has waited for
_MAX_PAUSE = 2.0  # seconds between two such looks, however long they take

# Of <linux/prctl.h>, and of every <stdio.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_IONBF = 2

# Of glibc's <malloc.h>, with the most bytes that are taken from the heap, and that it keeps free at its end.
_M_MMAP_THRESHOLD, _FROM_HEAP = -3, 32 << 20
_M_TRIM_THRESHOLD, _KEPT_FREE = -1, 128 << 20


def may_have_gpu() -> bool:
    """Whether a GPU's driver is there: without one there is no need to import torch to know."""
    return any(map(os.path.exists, ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")))


def die_with_parent(signal: int) -> None:
    """Have this process get the signal when the thread that started it ends (Linux)."""
    _prctl(_PR_SET_PDEATHSIG, signal)


def end_alike(code: int) -> NoReturn:
    """End as another process has: with its exit code, or by the signal of a negative one."""
    if code >= 0:
        os._exit(code)
    faulthandler.disable()
    with contextlib.suppress(OSError, ValueError):
        faulthandler.unregister(signals.SIGXCPU)
    with contextlib.suppress(OSError, ValueError):  # that of SIGKILL cannot be
        signals.signal(-code, signals.SIG_DFL)
    os.kill(os.getpid(), -code)
    os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def be_killed_first() -> None:
    """Have the kernel choose this process and its children, should the machine run out of memory (Linux)."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def unbuffer_c_stdout() -> None:
    """Have C's `stdout` written at once, so that a crash loses nothing and a task's text is in its own log."""
    libc = ctypes.CDLL(None)
    name = "__stdoutp" if sys.platform == "darwin" else "stdout"
    with contextlib.suppress(ValueError):
        libc.setvbuf(ctypes.c_void_p.in_dll(libc, name), None, _IONBF, ctypes.c_size_t(0))


def keep_freed_memory() -> None:
    """Have this process use what it frees again, rather than ask for new pages for each large tensor (glibc)."""
    with contextlib.suppress(AttributeError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(_M_MMAP_THRESHOLD, _FROM_HEAP)
        set_option(_M_TRIM_THRESHOLD, _KEPT_FREE)


def has_children(but: Collection[int] = ()) -> bool:
    """Whether this process has children that run, other than these; those that ended are reaped."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return not but or not set(descendants(os.getpid())) <= set(but)


def descendants(process: int) -> list[int]:
    """The children of a process, theirs, and so on (Linux)."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit() and (parent := _parent(name)) is not None:
            children.setdefault(parent, []).append(int(name))
    found = [process]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found[1:]


def seconds_of_children() -> float:
    """For which the processes that this one has started have computed, those that still run too (Linux)."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = sum(sum(map(int, _fields(child)[_TIMES])) for child in _children())
    return ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def resident(process: int) -> int:
    """The bytes of memory that a process holds, 0 when that is unknown (macOS)."""
    try:
        with open(f"/proc/{process}/statm") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def threads() -> int:
    """How many threads this process has, those that are not Python's too (Linux)."""
    return len(os.listdir("/proc/self/task"))


def open_files() -> list[str]:
    """The paths of the files that this process has open, other words for pipes and the like (Linux)."""
    paths: list[str] = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing itself
            paths.append(os.readlink(f"/proc/self/fd/{name}"))
    return paths


class MemoryWatch:
    """Tells when a process and its descendants hold more than `limit` bytes of memory (Linux).

    Of these the process, which is a child of this one, was forked with `inherited` bytes that it shares with others:
    they do not count, nor do they for those that it forks. `children` is how many descendants there were when last it
    looked.
    """

    def __init__(self, process: int, limit: int, inherited: int = 0) -> None:
        self._process = process
        self._limit = limit
        self._inherited = inherited
        self._next_scan = 0.0
        self._suspected = False
        self.children = 0

    def is_exceeded(self) -> bool:
        """To be asked again and again: looking for descendants is dear, and not done each time."""
        if resident(self._process) > self._limit + self._inherited:
            return True
        if time.monotonic() < self._next_scan:
            return False
        began = time.process_time()
        # A process that is just being started shares its parent's memory, so that one look alone proves nothing.
        suspected, self._suspected = self._suspected, self._family_exceeds()
        if not self._suspected:
            pause = (time.process_time() - began) / _SCAN_SHARE
            self._next_scan = time.monotonic() + min(pause, _MAX_PAUSE)
        return suspected and self._suspected

    def _family_exceeds(self) -> bool:
        children = descendants(self._process)
        self.children = len(children)
        family = [self._process, *children] if children else []
        return sum(map(resident, family)) > self._limit and sum(map(self._held, family)) > self._limit

    def _held(self, process: int) -> int:
        """The bytes that it holds, without its part in what is inherited: that of this process, which has little else.

        A program that it has started since shares nothing with it, as its stack tells, which is elsewhere.
        """
        is_forked = self._inherited and _stack(process) == _stack(os.getpid())
        return _proportional(process) - (_proportional(os.getpid()) if is_forked else 0)


def _proportional(process: int) -> int:
    """The bytes that a process holds, where those which several hold count in part, so that a sum has them once."""
    try:
        with open(f"/proc/{process}/smaps_rollup") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return resident(process)


def _children() -> Iterator[str]:
    for thread in os.listdir("/proc/self/task") if os.path.isdir("/proc/self/task") else ():
        with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/children") as file:
            yield from file.read().split()


def _parent(process: str) -> int | None:
    return _stat(process, 4)


def _stack(process: int) -> int | None:
    """The address at which the stack of a program begins."""
    return _stat(str(process), 28)


def _stat(process: str, field: int) -> int | None:
    """A field of /proc/PID/stat, of those behind the name, by its number in proc(5)."""
    fields = _fields(process)
    return int(fields[field - 3]) if fields else None


def _fields(process: str) -> list[bytes]:
    """Those of /proc/PID/stat behind the name, of which the first is the third in proc(5); none of what has ended."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), *(ctypes.c_ulong(0) for _ in range(3)))
