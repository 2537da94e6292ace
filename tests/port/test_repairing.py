"""A command that rewrites a variant, whatever it does: it is told what failed, and it costs no more than it may."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from tritonaudit.finding import Problem
from tritonaudit.port.folders import Operation
from tritonaudit.port.repairing import Answer, Repairer, repaired, request_for
from tritonaudit.port.validating import Verdict

OPERATION = Operation("add", Path("kernels/add"), ())
REQUEST = request_for(
    OPERATION, "kernels/add/v1.py", 2, "x = 1\n", Verdict(False, ("it is wrong",), problems=(Problem("v1.py", "no"),))
)


def asked(folder: Path, program: str, seconds: float = 60.0) -> Answer:
    script = folder / "repair.py"
    script.write_text(program)
    return repaired(Repairer((sys.executable, str(script)), seconds), REQUEST)


def test_it_learns_what_failed(tmp_path: Path) -> None:
    answer = asked(tmp_path, "import sys\nprint('said =', repr(sys.stdin.read()))")
    assert answer.failure == ""
    reported = json.loads(eval(answer.written.decode().partition("= ")[2]))
    assert reported == {
        "file": "kernels/add/v1.py",
        "op": "add",
        "attempt": 2,
        "source": "x = 1\n",
        "reasons": ["it is wrong"],
        "previous": "",
        "findings": [],
        "errors": [{"path": "v1.py", "cell": None, "line": None, "message": "no"}],
    }


def test_it_need_not_read_what_it_learns(tmp_path: Path) -> None:
    request = {**REQUEST, "source": "#" * (1 << 20)}
    script = tmp_path / "repair.py"
    script.write_text("print('x = 2')")
    assert repaired(Repairer((sys.executable, str(script))), request) == Answer(b"x = 2\n")


@pytest.mark.parametrize(
    ("program", "failure"),
    [
        ("print('this is ( rubbish')", "what it wrote is not Python: "),
        ("import sys; sys.stdout.buffer.write(bytes(range(256)))", "what it wrote is not Python: "),
        ("pass", "it wrote nothing"),
        ("import sys; print('x = 1'); sys.exit(3)", "it exited with code 3"),
        ("import os; os.abort()", "it was killed by SIGABRT"),
        ("while True: print('x = 1' * 1000)", "it wrote more than 1 MiB"),
    ],
)
def test_what_goes_wrong_is_said(tmp_path: Path, program: str, failure: str) -> None:
    assert asked(tmp_path, program).failure.startswith(failure)


def test_one_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    answer = asked(tmp_path, program, seconds=5.0)
    assert answer.failure == "it took longer than 5 s"
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 10
    while _is_running(child):
        assert time.monotonic() < deadline, "what it started goes on"
        time.sleep(0.05)


def test_a_process_that_it_leaves_behind_does_not_keep_it(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print('x = 2')\n"
    )
    assert asked(tmp_path, program).written == b"x = 2\n"


def test_what_it_says_is_kept_to_its_end(tmp_path: Path) -> None:
    answer = asked(tmp_path, "import sys; print('#' * 9999, 'the end', file=sys.stderr); print('x = 2')")
    assert (answer.failure, len(answer.said)) == ("", 2000)
    assert answer.said.endswith("the end\n")


def test_one_that_is_not_there() -> None:
    answer = repaired(Repairer(("/no/such/program",)), REQUEST)
    assert answer == Answer(b"", "it could not be started: No such file or directory")


def _is_running(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False if os.path.isdir("/proc") else _answers(process)


def _answers(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
