"""The warm process of a command: it has imported what workers need, and forks supervisors that have it at once.

It is started by `starting.py`, which sends requests over a socket: a byte with the descriptors that the supervisor is
to have, and a pickled `Request` as a message. Each is answered with the number of the supervisor's process. When that
has died without a word of its own, its end is said in its place. The warm process ends with the command, or once the
socket is closed and its supervisors have ended. It never touches a GPU: what forked processes may use must be as new.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import resource
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from tritonaudit.execute.bytecode import bytecode_in_cache, keep_bytecode, lacks_bytecode
from tritonaudit.execute.descriptors import close_all_but
from tritonaudit.execute.messages import read_message
from tritonaudit.execute.processes import die_with_parent, may_have_gpu, open_files, resident, threads
from tritonaudit.execute.supervisor import supervise
from tritonaudit.execute.worker import Channel
from tritonaudit.measure.compiler import MODULES, load

READY, UNFIT = b"+", b"-"
"""What it says first: whether it can fork."""
NUMBER_BYTES = 8
"""Of a process, 0 for one that could not be forked."""

_TICK = 0.1  # seconds between two looks whether the command is still there
_DESCRIPTORS = 7
_GPUS = ("/dev/dri", "/dev/dxg", "/dev/kfd", "/dev/nvidia")
_MODULES = (
    "numpy.random",
    "torch",
    "torch._subclasses.schema_check_mode",
    "torch.fx.experimental.symbolic_shapes",  # which torch, too, imports late
    "torch.utils._sympy.functions",  # torch imports sympy where it first asks what dtype a result without memory has
    "triton",
    "triton.testing",
    "triton.compiler.code_generator",
    "tritonaudit.capture.record",
    "tritonaudit.capture.standin",
    "tritonaudit.capture.task",
    "tritonaudit.capture.unasked",
    "tritonaudit.compile.analyse",
    "tritonaudit.compile.pipeline",
    "tritonaudit.measure.ceilings",
    "tritonaudit.measure.noting",
    "tritonaudit.measure.timing",
    "tritonaudit.measure.verify",
    "tritonaudit.measure.worker",
    "tritonaudit.subject.finding_given",
    "tritonaudit.subject.inputs",
    "tritonaudit.subject.kernelbench",
    "tritonaudit.subject.load",
    "tritonaudit.subject.sweep",
    "tritonaudit.subject.variants",
    "tritonaudit.suites.apart.process",
    "tritonaudit.suites.apart.serving",
    "tritonaudit.suites.correctness",
    "tritonaudit.suites.integrity",
    "tritonaudit.suites.on_cpu",
    "tritonaudit.suites.on_gpu",
    "tritonaudit.suites.sanitizer",
    "tritonaudit.suites.worker",
)


@dataclass(frozen=True)
class Request:
    """A supervisor that is wanted: its worker's memory in bytes, and what is to be as in the thread that asks for it.

    The descriptors beside it are those of the supervisor's stdin and stdout, of the channel, and of the folder that it
    is to work in.
    """

    memory: int
    environment: dict[str, str]
    paths: tuple[str, ...]
    niceness: int


def main() -> NoReturn:
    """Serve until the command is gone; the arguments are the socket's descriptor and the command's process."""
    connection, command = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    del sys.argv[1:]
    connection.set_inheritable(False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    keeps_bytecode = lacks_bytecode("torch")
    _import_modules(command, keeps_bytecode)
    connection.sendall(READY if _is_fit() else UNFIT)
    if keeps_bytecode:
        _fork_to_keep_bytecode(connection)
    _Zygote(connection, command, keeps_bytecode, list(MODULES) if may_have_gpu() else []).serve()


def _import_modules(command: int, keeps_bytecode: bool) -> None:
    """Import what there is, and end meanwhile if the command does."""

    def look(*_: object) -> None:
        if os.getppid() != command:
            os._exit(0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
    gc.disable()
    with bytecode_in_cache(keeps_bytecode):
        for name in _MODULES:
            with suppress(Exception, SystemExit):  # a worker that needs it says what is wrong
                importlib.import_module(name)
        with suppress(ImportError):
            importlib.import_module("tritonaudit.execute.uncompiled").spare_compiler()
    if may_have_gpu():  # only what is compiled for one goes to Triton's cache
        _know_triton()
    gc.freeze()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _know_triton() -> None:
    """Have Triton read its own files, by which it names what it caches, here and not in every worker."""
    for name in ("triton.runtime.cache", "triton.compiler.compiler"):  # from 3.5 on, and before
        with suppress(Exception):
            importlib.import_module(name).triton_key()


def _fork_to_keep_bytecode(connection: socket.socket) -> None:
    """Have a process of its own do that while nothing else wants its core, and go on another time if it is ended."""
    try:
        if os.fork():
            return
    except OSError:
        return
    try:
        die_with_parent(signal.SIGKILL)
        connection.close()
        os.nice(19)
        keep_bytecode()
    finally:
        os._exit(0)


def _is_fit() -> bool:
    """Whether this process has no thread but this one, and no GPU open: forked processes could use neither.

    Libraries that know of forking end their threads before a fork, and torch says in the child that it used a GPU.
    """
    child = os.fork()
    if child == 0:
        is_spoilt = getattr(sys.modules.get("torch.cuda"), "_is_in_bad_fork", bool)
        os._exit(int(is_spoilt()))
    _, spoilt = os.waitpid(child, 0)
    return not spoilt and threads() == 1 and not any(path.startswith(_GPUS) for path in open_files())


@dataclass
class _Zygote:
    connection: socket.socket
    command: int
    keeps_bytecode: bool
    later: list[str]
    """Modules to import while nothing is asked for: on a GPU references are compiled after all else."""
    trial: int | None = None
    """The process that imports them first, since with some torch they touch the GPU; 0 where they do not."""
    said: dict[int, int] = field(default_factory=dict)
    """Of each supervisor the pipe in which its end is said."""

    def serve(self) -> NoReturn:
        reaping, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        sources: list[Any] = [reaping, self.connection]
        while len(sources) > 1 or self.said:
            ready, _, _ = select.select(sources, [], [], _TICK)
            if os.getppid() != self.command:
                break
            if not ready and self.later and not self.said:  # an end would be reported late
                self._import_later()
            if reaping in ready:
                os.read(reaping, 1 << 10)
                self._reap()
            if self.connection in ready and not self._answer():
                sources.remove(self.connection)
        os._exit(0)

    def _import_later(self) -> None:
        """Import one of the modules, once a process of its own has shown that this is harmless."""
        if self.trial == 0:
            with bytecode_in_cache(self.keeps_bytecode):
                load(self.later.pop(0))
            gc.freeze()
        elif self.trial is None and (child := os.fork()):
            self.trial = child
        elif self.trial is None:
            die_with_parent(signal.SIGKILL)
            self.connection.close()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            with bytecode_in_cache(self.keeps_bytecode):
                for name in self.later:
                    load(name)
            os._exit(int(not _is_fit()))

    def _reap(self) -> None:
        """Say of each supervisor that has died how it did, unless it could."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.trial:
                    self.trial, self.later = 0, [] if ended[1] else self.later
                said = self.said.pop(ended[0], None)
                if said is None:
                    continue
                if code := os.waitstatus_to_exitcode(ended[1]):
                    with suppress(OSError):
                        os.write(said, str(code).encode())
                os.close(said)

    def _answer(self) -> bool:
        """Fork a supervisor as it is asked for; False where nothing is asked for any more."""
        try:
            mark, descriptors, _, _ = socket.recv_fds(self.connection, 1, _DESCRIPTORS)
            message = read_message(self.connection.fileno()) if mark else None
        except OSError:
            return False
        if message is None:
            return False
        child = _fork(pickle.loads(message), descriptors)
        _, said, *others = descriptors
        for descriptor in (descriptors[0], *others):
            os.close(descriptor)
        if child:
            self.said[child] = said
        else:
            os.close(said)
        with suppress(OSError):
            self.connection.sendall(child.to_bytes(NUMBER_BYTES, "big"))
        return True


def _fork(request: Request, descriptors: list[int]) -> int:
    """The process that is the supervisor, 0 where there can be no more."""
    try:
        child = os.fork()
    except OSError:
        return 0
    if child:
        return child
    try:
        _supervise(request, descriptors)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def _supervise(request: Request, descriptors: list[int]) -> NoReturn:
    """Make this process what one would be that the command had started, and supervise a worker."""
    stdin, said, *rest, folder = descriptors
    channel = Channel(*rest)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for descriptor, source in enumerate((stdin, said, channel.log)):
        os.dup2(source, descriptor)
    os.fchdir(folder)
    close_all_but({0, 1, 2, *rest})
    for descriptor in rest:
        os.set_inheritable(descriptor, False)
    os.setsid()
    _give_way(request.niceness)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.path[:] = request.paths
    _be_as_new()
    supervise(channel, request.memory, resident(os.getpid()))


def _give_way(niceness: int) -> None:
    """Have that much, also beside other sessions where the system shares cores out among these."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
        if niceness:
            with open("/proc/self/autogroup", "w") as file:
                file.write(str(niceness))


def _be_as_new() -> None:
    """Forget what importing has made of the environment of then, and draw random numbers of this process's own."""
    gc.enable()
    time.tzset()
    tempfile.tempdir = None
    importlib.invalidate_caches()
    if (numbers := sys.modules.get("numpy.random")) is not None:
        numbers.seed()
