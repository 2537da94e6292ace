"""A process of the command: launches are executed on the CPU engine, and the first of each kind is recorded.

Torch takes tensors on the CPU for those of a GPU until the process ends.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import sysconfig
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
import triton

import tritonaudit
from tritonaudit.capture import streams
from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import stand_in_driver
from tritonaudit.capture.launch import Launch
from tritonaudit.capture.record import Recorder, install, recording
from tritonaudit.capture.standin import Host, stand_in_tensors, standing_in_thread, tensors_on
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.gpu_program import OPTIONS
from tritonaudit.simulator.live import Execution, NoProgram, Refused, arguments_of
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.watch import Watch
from tritonaudit.trace.ahead import Call, look_ahead, record_grown
from tritonaudit.trace.contents import NotRecorded, keep_storage, passed_of
from tritonaudit.trace.exact import AsExact
from tritonaudit.trace.kinds import MOST_KINDS, Kinds, kind_of
from tritonaudit.trace.philox import stand_in_random
from tritonaudit.trace.recorded import VERSION, Header, Line, Made, Recorded, Source, Unavailable, Unrecorded
from tritonaudit.trace.settings import Settings, from_environment
from tritonaudit.trace.unavailable import not_run, stand_in_unavailable
from tritonaudit.trace.writing import Writer

TARGET = "sm_89"
"""It has all types, and its programs no tensor descriptors: Triton makes pointers of them, as of block pointers."""
_PLENTY, _LEAST = 256 << 20, 1 << 20
"""Bytes that a process has written from which on less is kept of each tensor, and how much."""
_MOST_LINES = 12
"""Of a launch's stack."""


@dataclass
class _Log:
    """What this process writes; a process that is forked from it begins another one."""

    settings: Settings
    kinds: Kinds = field(default_factory=Kinds)
    sources: set[str] = field(default_factory=set)
    _process: int = 0
    _writer: Writer | None = None

    @property
    def writer(self) -> Writer:
        if self._writer is None or self._process != os.getpid():
            self._process = os.getpid()
            self.kinds, self.sources = Kinds(), set()
            self._writer = Writer(self.settings.folder / f"{self._process}-{time.monotonic_ns()}.part")
            versions = sys.version.split()[0], str(torch.__version__), str(triton.__version__)
            self._writer.add(Header(VERSION, tuple(sys.orig_argv), os.getcwd(), TARGET, *versions))
        return self._writer

    def keep_source(self, path: str) -> None:
        """Write down the text of a file of the user's, once."""
        if path in self.sources or not _is_users(path):
            return
        self.sources.add(path)
        with contextlib.suppress(OSError):
            self.writer.add(Source(path, self.writer.blob(Path(path).read_bytes())))


class _Recorder(Recorder):
    """Keeps no launches: what is executed is written down at once."""

    def add(self, launch: Launch) -> None:
        """Nothing is kept of it."""


@dataclass
class _Session:
    """`call` is the launch that host code makes now, as it is made; `limit` bounds what is kept whole of a tensor."""

    log: _Log
    fresh: FreshMemory
    recorder: _Recorder
    call: Call | None = None
    limit: int = 0
    held: ExitStack = field(default_factory=ExitStack)

    def execute(self, launch: Launch, bound: Mapping[str, Any]) -> None:
        """Record a launch, if it is the first of its kind, and execute it; what cannot be is not run."""
        writer = self.log.writer
        number = self.recorded(launch, bound)
        began = time.monotonic()
        execution = Execution(self.fresh, is_checked=False, is_tracked=True, tick=Watch(self.log.settings.seconds).look)
        try:
            execution.launch(launch, bound)
        except (NoProgram, Refused) as error:
            writer.add(Made(launch.kernel, number, time.monotonic() - began, str(error), is_error=True))
            raise
        except Exception as error:  # what the engine does not model, or a defect of ours
            reason = str(error) if isinstance(error, NotSimulated) else f"{type(error).__name__}: {error}"
            writer.add(Made(launch.kernel, number, time.monotonic() - began, reason))
            not_run(f"the launch of `{launch.kernel.name}` is not executed: {reason}")
        streams.launched()
        writer.add(Made(launch.kernel, number, time.monotonic() - began))

    def recorded(self, launch: Launch, bound: Mapping[str, Any]) -> int | None:
        """The number of what is recorded of the launch's kind, which it is itself where it is the first."""
        kinds, kind = self.log.kinds, kind_of(launch)
        if kind not in kinds.known:
            kinds.known[kind] = self.record(launch, bound)
            if (number := kinds.known[kind]) is not None and self.call is not None:
                record_grown(self, self.call, launch, bound, number)
        return kinds.known[kind]

    def record(
        self, launch: Launch, bound: Mapping[str, Any], instead_of: int | None = None, *, is_grown: bool = False
    ) -> int | None:
        """Record a launch under a new number, or note why it is not recorded."""
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            return self._record(launch, bound, instead_of, is_grown)

    def _record(self, launch: Launch, bound: Mapping[str, Any], instead_of: int | None, is_grown: bool) -> int | None:
        writer, kinds = self.log.writer, self.log.kinds
        number = kinds.next_number()
        if instead_of is None and not kinds.has_room(launch.kernel):
            writer.add(Unrecorded(launch.kernel, f"more than {MOST_KINDS} kinds of launches"))
            return None
        try:
            arguments = () if launch.program is None or launch.grid is None else arguments_of(launch, bound)
            passed, held = passed_of(arguments)
            if instead_of is None:  # what would be launched in its place is kept alike
                self.limit = self.log.settings.limit if writer.size < _PLENTY else _LEAST
            undefined = self.fresh.undefined
            storages = tuple(keep_storage(one, undefined, writer.blob, self.limit) for one in held)
        except (NotRecorded, NotSimulated) as error:
            writer.add(Unrecorded(launch.kernel, str(error)))
            return None
        program = launch.program
        ttir = "" if program is None else writer.blob(program.ttir.encode())
        for path in {launch.kernel.path, *(_PLACE.findall(program.ttir) if program is not None else ())}:
            self.log.keep_source(path)
        kept = replace(
            launch,
            program=None if program is None else replace(program, ttir=""),
            arguments=tuple((name, _as_data(value)) for name, value in launch.arguments),
        )
        stack, test = _stack(), running_test()
        writer.add(Recorded(number, kept, ttir, passed, storages, stack, test, instead_of, is_grown))
        return number


def _as_data(value: Any) -> Any:
    """An argument as data: anything else as its text."""
    if value is None or isinstance(value, (bool, int, float, str)) or hasattr(value, "strides"):
        return value
    return tuple(map(_as_data, value)) if isinstance(value, tuple) else str(value)


_session: _Session | None = None


def begin() -> None:
    """Have this process take the CPU for a GPU and write down what it launches, as its environment says."""
    global _session
    if _session is not None:
        return
    recorder = _Recorder(TARGET, chosen=0, options=OPTIONS, raises=True)
    session = _Session(_Log(from_environment()), FreshMemory(), recorder)
    recorder.execute = session.execute
    device = device_for(TARGET)
    stand_in_driver(device)
    stand_in_tensors(device)
    stand_in_unavailable(note_unavailable)
    install()
    _stand_in_threads()
    look_ahead(session)
    session.held.enter_context(tensors_on(Host.CPU))
    session.held.enter_context(stand_in_random(device))
    session.held.enter_context(session.fresh)
    session.held.enter_context(AsExact())
    session.held.enter_context(recording(recorder))
    session.log.writer  # noqa: B018  says that this process has begun, whatever it does
    _session = session


def _stand_in_threads() -> None:
    """A thread takes the CPU for a GPU, too."""
    begin: Any = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def begin_on_stand_in(thread: Any) -> None:
        with standing_in_thread():
            begin(thread)

    threading.Thread._bootstrap_inner = begin_on_stand_in  # type: ignore[attr-defined]


def note_unavailable(what: str) -> None:
    """Note what the command asks for that is not there."""
    if _session is not None:
        _session.log.writer.add(Unavailable(what, running_test()))


def running_test() -> str:
    """The test that pytest is running, empty where it runs none."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]


_PLACE = re.compile(r'loc\("([^"]+)":\d+:\d+\)')
"""A place in a program's text."""
_ALIEN = tuple(
    os.path.join(os.path.abspath(folder), "")
    for folder in (
        *(module.__path__[0] for module in (tritonaudit, torch, triton)),
        sysconfig.get_path("stdlib"),
        *(
            os.path.join(sysconfig.get_path("purelib"), name)
            for name in ("_pytest", "pytest", "pluggy", "xdist", "execnet")
        ),
    )
)
_INSTALLED = os.path.join(sysconfig.get_path("purelib"), "")


def _is_users(path: str) -> bool:
    if path.startswith("<"):
        return False
    return not path.startswith(_ALIEN) or (path.startswith(_INSTALLED) and not path.startswith(_ALIEN[:3]))


def _stack() -> tuple[Line, ...]:
    """The user's lines that are on their way to a launch, the innermost first."""
    found: list[Line] = []
    frame: Any = sys._getframe(1)
    while frame is not None and len(found) < _MOST_LINES:
        code = frame.f_code
        if _is_users(code.co_filename):
            found.append(Line(os.path.abspath(code.co_filename), frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(found)
