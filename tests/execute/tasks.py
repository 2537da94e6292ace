"""What the tests have workers do: well-behaved and deadly tasks, and what prepares a worker."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import mmap
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from tritonaudit.execute import worker
from tritonaudit.execute.confine import confine
from tritonaudit.execute.turns import Turns

prepared: list[object] = []
altered = False


def prepare(*arguments: object) -> None:
    print("preparing")
    prepared.append(arguments)


def prepare_badly(how: str, attempts: str) -> None:
    """Fails, and leaves a line in the file for each time that it was tried."""
    with open(attempts, "a") as file:
        file.write("tried\n")
    call((how,))


def prepare_once(marker: str) -> None:
    """Succeeds the first time only."""
    with contextlib.suppress(FileExistsError):
        Path(marker).touch(exist_ok=False)
        return
    raise RuntimeError("prepared before")


def call(task: tuple[Any, ...]) -> object:
    """Call the function of this module that the task names with the rest of it."""
    return globals()[task[0]](*task[1:])


def call_numbered(item: tuple[int, tuple[Any, ...]]) -> object:
    return call(item[1])


def take_a_turn(folder: str, seconds: float) -> float:
    """Share the GPU for so many seconds; the seconds for which it waited until it could."""
    turns = Turns(Path(folder))
    with turns.shared(60):
        time.sleep(seconds)
    return turns.waited


def speak(*words: tuple[Any, float, float]) -> str:
    """Say each content, that the next word comes within the seconds, and sleep for the other seconds."""
    for content, seconds, nap in words:
        worker.send_note(content, seconds)
        time.sleep(nap)
    return "done"


def speak_twice_over(content: object) -> str:
    """Fork, so that parent and child both go on to say it and to come back."""
    os.fork()
    worker.send_note(content, 5)
    return "done"


def speak_and_crash(*contents: object) -> None:
    """Say each content, and crash at once."""
    for content in contents:
        print("before", content)
        worker.send_note(content, 5)
    print("after the last word")
    os.abort()


def say_what_cannot_be_read() -> None:
    worker.send_note(Unreadable(), 5)
    time.sleep(60)


class Unreadable:
    def __reduce__(self) -> Any:
        return int, ("no number",)


def write_replies(*replies: bytes) -> str:
    """Write to the pipe of this worker's replies, as code that is judged could."""
    assert worker._serving is not None
    for reply in replies:
        os.write(worker._serving._channel.replies, reply)
    return "done"


def write_random_replies(count: int) -> str:
    """Write so many messages: random bytes, what messages are made of, and parts of them."""
    random.seed(count)
    heads = (
        b'{"":"Reply","content":{"bytes":""},"end":null,"message":"","spent":false}',
        b'{"":"Note"',
        b"[[[",
        b"\x80",
    )
    for _ in range(count):
        head = random.choice(heads)
        message = head[: random.randrange(len(head))] + random.randbytes(random.randrange(40))
        with contextlib.suppress(OSError):
            write_replies(len(message).to_bytes(8, "big") + message)
    return "done"


def touch(path: str) -> str:
    Path(path).touch()
    return path


class Touching:
    """Leaves a mark where it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return touch, (self.path,)


def double(number: int) -> int:
    return 2 * number


def same(thing: Any) -> Any:
    return thing


def process() -> int:
    return os.getpid()


def state() -> tuple[list[object], bool]:
    return prepared, altered


def limits() -> tuple[tuple[int, int], str]:
    return resource.getrlimit(resource.RLIMIT_CORE), Path("/proc/self/oom_score_adj").read_text().strip()


def ancestors() -> tuple[int, int, int]:
    """This process, its supervisor, and who started that (Linux)."""
    stat = Path(f"/proc/{os.getppid()}/stat").read_bytes()
    return os.getpid(), os.getppid(), int(stat.rpartition(b")")[2].split()[1])


def ancestors_once_ready(start: str, count: int) -> tuple[int, int, int]:
    """The same, once so many tasks have got here and left a line in the file."""
    with open(start, "a") as file:
        file.write("here\n")
    while len(Path(start).read_text().split()) < count:
        time.sleep(0.01)
    return ancestors()


def say_ancestors_and_hang(path: str) -> None:
    Path(f"{path}.new").write_text(" ".join(map(str, ancestors())))
    os.rename(f"{path}.new", path)
    time.sleep(60)


def surroundings(*names: str) -> tuple[str, list[str | None]]:
    """The working directory, and these environment variables."""
    return os.getcwd(), [os.environ.get(name) for name in names]


def imported(*names: str) -> list[bool]:
    return [name in sys.modules for name in names]


def import_by_name(name: str) -> list[Any]:
    """Where bytecode goes, and whether it goes nowhere, as this process imports something."""
    importlib.import_module(name)
    return [sys.pycache_prefix, sys.dont_write_bytecode]


def kinds_of_open_files() -> list[str]:
    """What this process has open, but for the listing itself."""
    kinds = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            kinds.append(re.split("[:-]", os.readlink(f"/proc/self/fd/{name}"))[0])
    return sorted(kinds)


def random_numbers() -> list[float]:
    import numpy

    return [random.random(), float(numpy.random.random())]


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


# -- the ways to die -----------------------------------------------------------------------------------------------


def abort() -> None:
    os.abort()


def segfault() -> None:
    ctypes.string_at(0)


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_supervisor() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def leave(code: int) -> None:
    os._exit(code)


def leave_politely(code: object) -> None:
    sys.exit(code)  # type: ignore[arg-type]


def leave_from_a_thread(code: int) -> None:
    threading.Thread(target=os._exit, args=(code,)).start()
    time.sleep(60)


def hang() -> None:
    time.sleep(60)


def hang_deaf() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(60)


def hang_in_c() -> None:
    """Holds the interpreter's lock."""
    re.match(r"(a+)+$", "a" * 64 + "b")


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def fail(text: str) -> None:
    raise ValueError(text)


def interrupt() -> None:
    raise KeyboardInterrupt


def recurse() -> None:
    recurse()


def recurse_beyond_the_limit() -> None:
    """Overflows the stack of C, or fills the memory, or is stopped: each Python has its way."""
    sys.setrecursionlimit(1 << 30)
    call(("recurse_beyond_the_limit",))


def close_everything() -> None:
    os.closerange(0, 1024)


def close_and_open(path: str) -> None:
    """Opens files of its own under the numbers of the pipes."""
    os.closerange(3, 1024)
    for _ in range(16):
        os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def fill(mebibytes: int) -> None:
    held = bytearray()
    for _ in range(mebibytes):
        held += b"x" * (1 << 20)
    time.sleep(60)


def fill_in_a_child(mebibytes: int) -> None:
    subprocess.run([sys.executable, "-c", f"import time; x = b'x' * ({mebibytes} << 20); time.sleep(60)"], check=False)


def exhaust() -> None:
    raise MemoryError


class SomeError(Exception):
    """What it says raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def fail_wordlessly() -> None:
    raise SomeError


class Unpicklable:
    def __reduce__(self) -> Any:
        raise ValueError("never to be pickled")


class Broken:
    """Pickled well, and broken when unpickled."""

    def __init__(self, how: str = "fail") -> None:
        self.how = how

    def __reduce__(self) -> Any:
        return call, ((self.how, "never to be unpickled"),)


def give_unpicklable() -> object:
    return Unpicklable()


# -- what stays behind ---------------------------------------------------------------------------------------------


def start_child(pids: str) -> int:
    return _note(subprocess.Popen(["sleep", "60"]).pid, pids)


def start_session(pids: str) -> int:
    return _note(subprocess.Popen(["sleep", "60"], start_new_session=True).pid, pids)


def start_orphan(pids: str) -> int:
    """Starts a process in a session of its own, whose parent ends."""
    started = subprocess.run(["sh", "-c", "setsid sleep 60 >&2 & echo $!"], stdout=subprocess.PIPE, check=True)
    return _note(int(started.stdout), pids)


def _note(child: int, pids: str) -> int:
    with open(pids, "a") as file:
        file.write(f"{child} ")
    return os.getpid()


def start_all(pids: str) -> None:
    for start in (start_child, start_session, start_orphan):
        start(pids)


def start_all_and_hang(pids: str) -> None:
    start_all(pids)
    with open(pids, "a") as file:
        file.write(f"{os.getpid()} {os.getppid()} ready")
    time.sleep(60)


def start_all_and_abort(pids: str) -> None:
    start_all(pids)
    os.abort()


def fork_and_return() -> str:
    if os.fork() == 0:
        return "child"
    time.sleep(0.2)
    return "parent"


def start_thread() -> int:
    threading.Timer(0.3, os._exit, (3,)).start()
    return os.getpid()


def set_alarm() -> int:
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    return os.getpid()


_kept: list[bytes] = []


def keep(mebibytes: int) -> int:
    _kept.append(b"x" * (mebibytes << 20))
    return os.getpid()


def share(mebibytes: int) -> int:
    """Holds memory, and starts a process that holds the same."""
    held = b"x" * (mebibytes << 20)
    child = os.fork()
    if child == 0:
        time.sleep(0.6)
        os._exit(0)
    os.waitpid(child, 0)
    return len(held) >> 20


_MAP_NORESERVE = 0x4000  # Linux; Python names it from 3.13 on


def reserve(gibibytes: int) -> int:
    """Reserves memory, as CUDA does, and holds next to nothing of it."""
    size = gibibytes << 30
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE) as held:
        held[size - 1] = 1
        time.sleep(0.2)
    return gibibytes


# -- what is printed -----------------------------------------------------------------------------------------------


def chatter(name: str) -> None:
    """Prints by every way there is, and crashes in the middle of a line."""
    print(f"{name} print")
    print(f"{name} error", file=sys.stderr)
    os.write(1, f"{name} write\n".encode())
    ctypes.CDLL(None).printf(f"{name} printf\n".encode())
    os.system(f"echo {name} child")
    print(f"{name} unfinished", end="")
    os.abort()


def close_streams() -> None:
    print("before")
    sys.stdout.close()
    sys.stderr = None  # type: ignore[assignment]
    os.close(0)
    os.close(1)
    os.close(2)


def shout(lines: int, width: int) -> None:
    for number in range(lines):
        print(str(number).rjust(width, "."))
    os.abort()


def shout_on() -> None:
    while True:
        print("x" * 4000)


def list_descriptors() -> list[str]:
    """The open files of a child process that is given all there are."""
    listing = subprocess.run(["ls", "/proc/self/fd"], close_fds=False, stdout=subprocess.PIPE, text=True, check=True)
    return listing.stdout.split()


def read_stdin() -> str:
    return sys.stdin.read() + subprocess.run(["cat"], capture_output=True, text=True, check=True).stdout


def shout_for(seconds: float) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        print("x" * 4000)
    time.sleep(0.2)
    return os.fstat(1).st_size


def be_confined() -> None:
    """Prepares a worker that may write to its own folder only."""
    assert confine()


def attempted(how: str, *arguments: Any) -> str:
    """What the operating system says of a deed; nothing where it lets it be done."""
    try:
        _DEEDS[how](*arguments)
    except OSError as error:
        return type(error).__name__
    return ""


def write_at_home() -> str:
    """The path of what was written."""
    path = Path.home() / "mine"
    path.write_text("mine")
    return str(path)


def _fork_and_attempt(how: str, *arguments: Any) -> None:
    """Another process does it; it ends with what the operating system says."""
    child = os.fork()
    if not child:
        os._exit(13 if attempted(how, *arguments) else 0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise PermissionError


def _write_through_a_link(path: str) -> None:
    link = Path.home() / "link"
    link.symlink_to(path)
    link.write_text("forged")


def _rename_into(path: str) -> None:
    forged = Path.home() / "forged"
    forged.write_text("forged")
    forged.replace(path)


def _connect(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 5):
        pass


def _send(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"told", ("127.0.0.1", port))


def _listen() -> None:
    with socket.create_server(("127.0.0.1", 0)):
        pass


_DEEDS: dict[str, Any] = {
    "connect": _connect,
    "send": _send,
    "listen": _listen,
    "connect by another process": lambda port: _fork_and_attempt("connect", port),
    "write": lambda path: Path(path).write_text("forged"),
    "truncate": lambda path: os.truncate(path, 0),
    "add": lambda path: Path(path, "added").touch(),
    "remove": lambda path: Path(path).unlink(),
    "rename": lambda path: Path(path).rename(f"{path} elsewhere"),
    "rename into its place": _rename_into,
    "write through a link": _write_through_a_link,
    "write by another process": lambda path: _fork_and_attempt("write", path),
    "signal": lambda process: os.kill(process, signal.SIGUSR1),
    "signal by another process": lambda process: _fork_and_attempt("signal", process),
    "write to memory": lambda process: open(f"/proc/{process}/mem", "wb").close(),
    "read": lambda path: Path(path).read_bytes(),
    "write at home": write_at_home,
    "make a temporary file": lambda: tempfile.TemporaryFile().close(),
    "write to nowhere": lambda: Path(os.devnull).write_text("nothing"),
}
