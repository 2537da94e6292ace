"""Subjects that do what no subject should to the process that they run in, and honest ones beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

KERNELS = """\
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def wrong_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + 1, mask=offsets < n)


def launched(kernel, x):
    x = x.contiguous()
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
"""
"""`kernels.py`, from which every subject imports: a right kernel and a wrong one."""

HONEST = {
    "right": "double = Subject(lambda x: launched(double_kernel, x), reference=twice, inputs=[Tensor('n')], **FEW)\n",
    "wrong": "double = Subject(lambda x: launched(wrong_kernel, x), reference=twice, inputs=[Tensor('n')], **FEW)\n",
}
"""What must come to the same whatever runs beside it."""

_HEAD = """\
import contextlib
import ctypes
import mmap
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from kernels import double_kernel, launched, wrong_kernel

from tritonaudit import Subject, Tensor

FEW = {"sizes": {"n": [64, 7]}, "dtypes": ["float32"]}


def twice(x):
    return 2 * x


class Mark:
    def __reduce__(self):
        return open, (str(Path(__file__).parent / "mark"), "w")


def framed(message):
    return len(message).to_bytes(8, "big") + message


def everywhere(*messages):
    for number in range(3, 64):
        for message in messages:
            with contextlib.suppress(OSError):
                os.write(number, message)


def at_random(count):
    heads = (b'{"":"Said","word":{"":"Answer","results":[],"changed":[],', b"[[[[", pickle.dumps(Mark()), b"")
    for _ in range(count):
        message = random.choice(heads) + random.randbytes(random.randrange(40))
        yield message if random.random() < 0.2 else framed(message)


def attempts(*deeds):
    for deed in deeds:
        with contextlib.suppress(OSError):
            deed()


def auditors():
    process = os.getppid()
    while b"tritonaudit" in (called := Path(f"/proc/{process}/cmdline").read_bytes()) and b"hostile" not in called:
        yield process
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


"""
_HOSTILE = """\


def double(x):
    out = launched(double_kernel, x)
    if x.numel() == 7:
        misbehave()
    return out


double_subject = Subject(double, reference=twice, inputs=[Tensor("n")], **FEW)
"""

DEEDS: Mapping[str, str] = {
    "segfaults": "ctypes.string_at(0)",
    "aborts": "os.abort()",
    "leaves_at_once": "os._exit(0)",
    "leaves": "sys.exit(3)",
    "kills_itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "kills_its_parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "stops": "os.kill(os.getpid(), signal.SIGSTOP)",
    "forks": "os.fork()",
    "leaves_a_child": "os.fork() or time.sleep(1000)",
    "leaves_a_daemon": "os.fork() or (os.setsid(), os.fork(), time.sleep(1000))",
    "leaves_a_thread": "threading.Thread(target=time.sleep, args=(1000,)).start()",
    "fills_memory": "held = []\n    while True:\n        held.append(b'x' * (1 << 28))",
    "maps_memory": "held = mmap.mmap(-1, 1 << 36)\n    for at in range(0, 1 << 36, 4096):\n        held[at] = 1",
    "sleeps": "time.sleep(100000)",
    "sleeps_in_c": "ctypes.CDLL(None).sleep(100000)",
    "ignores_interruption": "while True:\n        with contextlib.suppress(BaseException):\n            time.sleep(1)",
    "spins": "while True:\n        pass",
    "spins_in_c": "sum(iter(int, 1))",
    "disarms_the_clock": "signal.setitimer(signal.ITIMER_REAL, 0)\n    time.sleep(100000)",
    "writes_megabytes": "os.write(1, b'x' * (32 << 20))\n    print('y' * (8 << 20), file=sys.stderr)",
    "writes_everywhere": "for number in range(3, 64):\n        with contextlib.suppress(OSError):\n"
    "            os.write(number, b'x' * 100)",
    "sends_pickles": "everywhere(pickle.dumps(Mark()), framed(pickle.dumps(Mark())))",
    "sends_half_a_message": "everywhere((100).to_bytes(8, 'big') + b'{')",
    "sends_half_a_message_and_leaves": "everywhere((100).to_bytes(8, 'big') + b'{')\n    os._exit(0)",
    "sends_too_much": "everywhere((1 << 62).to_bytes(8, 'big') + b'x' * 1000)",
    "sends_random_messages": "everywhere(*at_random(10_000))",
    "links_to_others_files": "for entry in (*Path.home().iterdir(), Path.home() / 'new'):\n"
    "        attempts(lambda: os.rename(entry, f'{entry}-moved'), lambda: entry.symlink_to(Path(__file__).parent))\n"
    "    (Path.home() / 'new' / 'report.json').write_text('[]')",
    "writes_to_the_report": "report = Path(__file__).parent / 'report.json'\n"
    "    attempts(report.unlink, lambda: report.rename('other'), lambda: os.truncate(report, 0))\n"
    "    report.write_text('[]')",
    "signals_its_auditors": "for process in auditors():\n"
    "        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGSTOP, signal.SIGKILL):\n"
    "            attempts(lambda: os.kill(process, number))\n"
    "    os.kill(os.getppid(), signal.SIGKILL)",
    "interrupts": "raise KeyboardInterrupt",
    "exits": "raise SystemExit('no more')",
    "ends_generators": "raise GeneratorExit",
    "raises_its_own": "class Odd(BaseException):\n        def __str__(self):\n            raise self\n\n    raise Odd",
    "recurses": "misbehave()",
    "deletes_the_cache": "shutil.rmtree(os.environ['TRITONAUDIT_CACHE'], ignore_errors=True)",
    "deletes_its_folder": "shutil.rmtree(Path(__file__).parent / '__pycache__', ignore_errors=True)",
    "goes_elsewhere": "os.chdir('/')\n    os.environ.clear()\n    sys.path.clear()",
    "closes_everything": "os.closerange(0, 4096)",
    "closes_its_streams": "sys.stdout.close()\n    sys.stderr.close()\n    os.closerange(0, 3)",
    "unloads_modules": "sys.modules.clear()",
    "breaks_pickling": "import pickle\n\n    pickle.dumps = None",
    "traces": "sys.settrace(lambda *_: 1 / 0)",
}
"""What a subject does in its wrapper at one of its two sizes, by what a report may call it."""

HARMLESS = frozenset(
    (
        "forks",
        "leaves_a_child",
        "leaves_a_daemon",
        "leaves_a_thread",
        "writes_megabytes",
        "deletes_the_cache",
        "deletes_its_folder",
        "goes_elsewhere",
        "breaks_pickling",
        "traces",
    )
)
"""Deeds after which a call may be right all the same."""


def write(folder: Path, names: Mapping[str, str]) -> None:
    """Write `kernels.py`, and a spec file for each subject: `names` gives their text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").touch()
    (folder / "kernels.py").write_text(KERNELS)
    for name, text in names.items():
        (folder / f"audit_{name}.py").write_text(text)


def honest() -> dict[str, str]:
    """The spec files of the honest subjects."""
    return {name: _HEAD + text for name, text in HONEST.items()}


def hostile(deed: str) -> str:
    """The spec file of a hostile one."""
    return f"{_HEAD}def misbehave():\n    {DEEDS[deed]}\n{_HOSTILE}"
