"""Attempts at a variant that failed: at most three, each kept and reported, and the variant's own file untouched."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.port.doubles import RIGHT, WRONG, write_operation
from tritonaudit.port.attempts import Attempt, attempts_at
from tritonaudit.port.folders import Operation, variants_in
from tritonaudit.port.repairing import Repairer
from tritonaudit.port.validating import Verdict

FAILED = Verdict(False, ("wrong result: 3, wanted 4",))
READ = "import json, sys\ntold = json.load(sys.stdin)\nsource = told['source']\n"
MENDS_AT_2 = (
    READ
    + "if told['attempt'] == 2:\n    source = source.replace('1 + tl.load', '2 * tl.load')\n"
    + "print(source + f\"# attempt {told['attempt']}\")\n"
)
NEVER = READ + "print(source + f\"# attempt {told['attempt']}\")\n"
HANGS = "import time\nprint('x = 1', flush=True)\ntime.sleep(600)\n"
RUBBISH = "print('I am sorry, but')\n"
SAME = READ + "sys.stdout.write(source)\n"


def judged(path: Path) -> Verdict:
    """A verdict by the text of the file."""
    return Verdict(True) if "2 * tl.load" in path.read_text() else FAILED


@pytest.fixture
def operation(tmp_path: Path) -> Operation:
    folder = write_operation(tmp_path / "kernels", {"v1_baseline": RIGHT, "v2_tiling": WRONG})
    return Operation("double", folder, variants_in(folder))


def attempted(operation: Operation, logs: Path, program: str, seconds: float = 60.0) -> tuple[Attempt, ...]:
    script = logs.parent / "repair.py"
    script.write_text(program)
    repairer = Repairer((sys.executable, str(script)), seconds)
    return attempts_at(operation, operation.files[1], FAILED, repairer, logs, judged)


def test_one_that_mends_at_the_second_attempt(operation: Operation, tmp_path: Path) -> None:
    found = attempted(operation, tmp_path / "logs", MENDS_AT_2)
    assert [(one.number, one.is_right) for one in found] == [(1, False), (2, True)]
    kept = found[1].path
    assert kept == tmp_path / "logs" / "attempts" / "double_v2_tiling_2" / "double" / "v2_tiling.py"
    assert "2 * tl.load" in kept.read_text()
    assert {path.name for path in kept.parent.iterdir()} == {"audit_double.py", "v1_baseline.py", "v2_tiling.py"}


def test_one_that_never_does_has_three_attempts(operation: Operation, tmp_path: Path) -> None:
    found = attempted(operation, tmp_path / "logs", NEVER)
    assert [(one.number, one.verdict) for one in found] == [(1, FAILED), (2, FAILED), (3, FAILED)]
    texts = [one.path.read_text() for one in found if one.path]
    assert [text.count("# attempt") for text in texts] == [1, 2, 3], "it is not told of the attempt before"


@pytest.mark.parametrize(
    ("program", "failure", "is_kept"),
    [
        (HANGS, "it took longer than 3 s", True),
        (RUBBISH, "what it wrote is not Python", True),
        ("import os; os.abort()", "it was killed by SIGABRT", False),
        (SAME, "it wrote a file that was tried before", True),
    ],
    ids=["hangs", "rubbish", "crashes", "same"],
)
def test_an_attempt_that_comes_to_no_file_has_failed(
    operation: Operation, tmp_path: Path, program: str, failure: str, is_kept: bool
) -> None:
    found = attempted(operation, tmp_path / "logs", program, seconds=3.0 if program == HANGS else 60.0)
    assert len(found) == 3
    assert all(one.failure.startswith(failure) and one.verdict is None for one in found)
    assert all((one.path is not None and one.path.is_file()) is is_kept for one in found)


def test_the_variant_itself_is_never_touched(operation: Operation, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in operation.folder.iterdir()}
    attempted(operation, tmp_path / "logs", MENDS_AT_2)
    assert {path: path.read_bytes() for path in operation.folder.iterdir()} == before


def test_where_attempts_cannot_be_kept_there_are_none(operation: Operation, tmp_path: Path) -> None:
    (tmp_path / "logs" / "attempts" / "double_v2_tiling_1").mkdir(parents=True)
    (found,) = attempted(operation, tmp_path / "logs", NEVER)
    assert "was not written by this tool" in found.failure
