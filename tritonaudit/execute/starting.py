"""Starts supervisors: has the warm process of this command fork them, or starts a new Python for each.

The warm process is this process's own: one that was forked from it gets another. It is replaced when what it has read
as it was started, such as an environment variable of torch's, is another now.
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import astuple, dataclass, field

from tritonaudit.execute.descriptors import above_streams, open_pipe
from tritonaudit.execute.limits import without_secrets
from tritonaudit.execute.messages import framed
from tritonaudit.execute.supervisor import ASKED_TO_END
from tritonaudit.execute.worker import Channel, is_worker
from tritonaudit.execute.zygote import NUMBER_BYTES, READY, UNFIT, Request

# The child looks for modules where we do, and nowhere before: its working directory is the user's.
_START = "import sys; sys.path[:] = sys.argv[{count}:]; from tritonaudit.execute.{module} import main; main()"
_READY_SECONDS = 60.0
_ANSWER_SECONDS = 60.0  # one that is late would share what it was given with whoever is asked next
_MOST_FAILURES = 2
_READ_AT_START = (
    "AMD_", "CUBLAS", "CUDA", "CUDNN", "GOMP_", "GPU_", "HIP", "HSA_", "KMP_", "LANG", "LC_", "LD_", "MKL", "NCCL",
    "NPY_", "NUMEXPR_", "NVIDIA", "OMP", "OPENBLAS", "PYTHON", "PYTORCH", "ROCM", "ROCR", "TORCH", "TRITON_",
)  # fmt: skip
"""Beginnings of the variables that Python, torch, Triton and what they load read once."""


class Supervisor:
    """A supervisor as it is seen by who asked for it."""

    def __init__(self, number: int, stdin: int, said: int, process: subprocess.Popen[bytes] | None = None) -> None:
        self._number = number
        self._stdin: int | None = stdin
        self._pipe = said
        self._process = process
        self._text = b""

    @property
    def said(self) -> str:
        """What it said of its worker's end; where it could not, its own exit code or minus the signal."""
        if not self._text and self._process is not None:
            return str(self._process.wait())
        return self._text.decode() or ASKED_TO_END

    def ask_to_end(self) -> None:
        """Have it kill its worker, and all that the worker started."""
        if self._stdin is not None:
            os.close(self._stdin)
            self._stdin = None

    def ends_within(self, seconds: float) -> bool:
        """Wait for its end; False where it has not ended by then."""
        until = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        while poll.poll(max(0.0, until - time.monotonic()) * 1000):
            chunk = os.read(self._pipe, 1 << 10)
            if not chunk:
                return True
            self._text += chunk
        return False

    def kill(self) -> None:
        """Kill it, which has not ended; what its worker started may stay behind."""
        with suppress(ProcessLookupError):
            os.kill(self._number, 9)

    def close(self) -> None:
        """Leave nothing open, nor a process to be waited for."""
        os.close(self._pipe)
        if self._process is not None:
            self._process.wait()


def start_supervisor(channel: Channel, memory: int, *, is_fresh: bool) -> Supervisor:
    """Start a supervisor with these descriptors, whose worker may hold so much memory; a fresh one in a new Python."""
    stdin, asking = open_pipe()
    hearing, said = open_pipe()
    try:
        if not is_fresh and (number := _forked(memory, (stdin, said, *astuple(channel)))):
            return Supervisor(number, asking, hearing)
        process = _started(channel, memory, stdin, said)
        return Supervisor(process.pid, asking, hearing, process)
    except BaseException:
        os.close(asking)
        os.close(hearing)
        raise
    finally:
        os.close(stdin)
        os.close(said)


def warm_up() -> None:
    """Have the warm process begin to import, so that it is done with that when the first worker is needed."""
    if _can_warm() and _lock.acquire(blocking=False):
        try:
            _current(_key())
        finally:
            _lock.release()


def variables_read_at_start() -> list[tuple[str, str]]:
    """The environment variables that a worker heeds as it is when Python, torch and Triton are loaded."""
    return sorted(item for item in os.environ.items() if item[0].startswith(_READ_AT_START))


def _started(channel: Channel, memory: int, stdin: int, said: int) -> subprocess.Popen[bytes]:
    descriptors = astuple(channel)
    arguments = [*map(str, descriptors), str(memory)]
    return subprocess.Popen(
        [sys.executable, "-c", _START.format(count=1 + len(arguments), module="supervisor"), *arguments, *_paths()],
        stdin=stdin,
        stdout=said,
        stderr=channel.log,
        pass_fds=descriptors,
        env=without_secrets(os.environ),
        start_new_session=True,
    )


def _paths() -> tuple[str, ...]:
    return tuple(path or os.getcwd() for path in sys.path if isinstance(path, str))


# -- the warm process --------------------------------------------------------------------------------------------------

_Key = tuple[object, ...]
"""What a process has read when it was started, and what it finds its modules by."""


def _can_warm() -> bool:
    """Whether this process may have one: a task's workers would outlive it, and only Linux forks what has threads."""
    return sys.platform == "linux" and not is_worker()


def _key() -> _Key:
    return sys.executable, _paths(), tuple(variables_read_at_start())


class _Unfit(Exception):
    """A process with these modules cannot be forked, or is never done with importing them."""


@dataclass
class _Warm:
    """A warm process, which answers one request at a time."""

    key: _Key
    connection: socket.socket
    process: subprocess.Popen[bytes]
    is_ready: bool = False

    def fork(self, request: Request, descriptors: tuple[int, ...]) -> int:
        """The process of a supervisor; 0 where there can be no more. Raises OSError where it is of no use any more."""
        if not self.is_ready:
            self._wait()
        self.connection.settimeout(_ANSWER_SECONDS)
        socket.send_fds(self.connection, [b"."], descriptors)
        self.connection.sendall(framed(pickle.dumps(request)))
        answer = b""
        while len(answer) < NUMBER_BYTES:
            chunk = self.connection.recv(NUMBER_BYTES - len(answer))
            if not chunk:
                raise OSError("it has ended")
            answer += chunk
        return int.from_bytes(answer, "big")

    def _wait(self) -> None:
        """Wait until it has imported what it is to import."""
        self.connection.settimeout(_READY_SECONDS)
        try:
            said = self.connection.recv(1)
        except TimeoutError as error:
            raise _Unfit from error
        if said == UNFIT:
            raise _Unfit
        if said != READY:
            raise OSError("it has ended")
        self.is_ready = True

    def kill(self) -> None:
        """End it, and with it the supervisors that it has forked."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


@dataclass
class _State:
    """The warm process of this process, those before it whose supervisors have not ended, and what did not work."""

    warm: _Warm | None = None
    retired: list[_Warm] = field(default_factory=list)
    failures: Counter[_Key] = field(default_factory=Counter)

    def end(self) -> None:
        for one in (*self.retired, *([self.warm] if self.warm is not None else [])):
            one.kill()
        self.warm, self.retired = None, []

    def forget(self) -> None:
        """Leave what was another process's to that: this one was forked from it."""
        for one in (*self.retired, *([self.warm] if self.warm is not None else [])):
            one.connection.close()
            one.process.returncode = 0


_state = _State()
_lock = threading.Lock()


def _after_fork() -> None:
    global _state, _lock
    _state.forget()
    _state, _lock = _State(), threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(lambda: _state.end())


def _forked(memory: int, descriptors: tuple[int, ...]) -> int:
    """The process of a supervisor that the warm process has forked; 0 where there is none that can."""
    if not _can_warm():
        return 0
    key = _key()
    folder = above_streams(os.open(".", os.O_PATH))
    try:
        with _lock:
            request = Request(memory, without_secrets(os.environ), _paths(), os.getpriority(os.PRIO_PROCESS, 0))
            while (warm := _current(key)) is not None:
                try:
                    number = warm.fork(request, (*descriptors, folder))
                    _state.failures[key] = 0
                    return number
                except (OSError, _Unfit) as error:
                    _state.failures[key] += _MOST_FAILURES if isinstance(error, _Unfit) else 1
                    _discard()
                except BaseException:  # such as an interrupt, behind which its answers would be another's
                    _discard()
                    raise
    finally:
        os.close(folder)
    return 0


def _current(key: _Key) -> _Warm | None:
    """The warm process for what is now, begun where there is none; None where beginning one has failed too often."""
    if _state.warm is not None and _state.warm.key != key:
        _state.warm.connection.close()
        _state.retired.append(_state.warm)
        _state.warm = None
    _state.retired = [one for one in _state.retired if one.process.poll() is None]
    if _state.warm is None and _state.failures[key] < _MOST_FAILURES:
        try:
            _state.warm = _begun(key)
        except OSError:
            _state.failures[key] += 1
    return _state.warm


def _discard() -> None:
    if _state.warm is not None:
        _state.warm.kill()
        _state.warm = None


def _begun(key: _Key) -> _Warm:
    ours, its = socket.socketpair()
    connection = socket.socket(fileno=above_streams(ours.detach()))
    descriptor = above_streams(its.detach())
    try:
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _START.format(count=3, module="zygote"),
                str(descriptor),
                str(os.getpid()),
                *_paths(),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(descriptor,),
            env=without_secrets(os.environ),
            start_new_session=True,
        )
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(descriptor)
    return _Warm(key, connection, process)
