"""`tritonaudit history` and `tritonaudit audit --keep`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT
from tests.history.entries import WRONG, entry, finding, history
from tests.measured import row
from tritonaudit.finding import Status

EXPECTED = Path(__file__).parent / "expected"
Command = Callable[..., Any]
TIMES = (2.0, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.05)
PINNED = {"tritonaudit": "0.1.0", "python": "3.12.1", "torch": "2.13.0", "triton": "3.9.0"}


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Ten audits of a subject that was wrong at first and got faster, the fifth of them masked."""
    entries = []
    for number, time in enumerate(TIMES, 1):
        is_wrong = number < 3
        one = entry(
            row(time, 1.5, 1.0),
            ratio=2.0 if is_wrong else 0.5,
            checks={WRONG: Status.FAIL} if is_wrong else None,
            findings=(finding(),) if is_wrong else (),
            note="tiles of 128" if number == 3 else None,
            masked=number == 5,
        )
        entries.append({**one, "environment": {**one["environment"], **PINNED}})
    return history(tmp_path / "memory", *entries)


@pytest.fixture
def run_history(tritonaudit: Command, memory: Path) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: str) -> tuple[int, str, str]:
        ran = tritonaudit("history", "--folder", memory, *arguments)
        return ran.code, ran.out, ran.err

    return call


History = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list", ("list",)),
        ("list_all", ("list", "--all")),
        ("show", ("show", "1")),
        ("compare", ("compare", "2", "3")),
        ("trend", ("trend",)),
    ],
)
def test_what_is_printed(
    run_history: History, expected: Callable[[Path, str], None], name: str, arguments: tuple[str]
) -> None:
    code, out, err = run_history(*arguments)
    assert (code, err) == (0, "")
    expected(EXPECTED / f"history_{name}.txt", out)


def test_without_a_command_it_lists(run_history: History) -> None:
    assert run_history() == run_history("list")


def test_the_exit_code_says_whether_the_target_is_reached(run_history: History, memory: Path) -> None:
    assert run_history("trend", "softmax")[0] == 0
    run_history("mask", "10")
    code, out, _ = run_history("trend")
    assert code == 3
    assert "target not reached: 83.3% of the roof" in out
    run_history("unmask", "10")
    assert run_history("trend")[0] == 0


def test_a_truncated_file_is_named_and_the_rest_is_reported(run_history: History, memory: Path) -> None:
    file = memory / "v4.json"
    file.write_bytes(file.read_bytes()[:500])
    for arguments in (("list",), ("trend",), ("compare", "1", "2"), ("show", "1")):
        code, out, err = run_history(*arguments)
        assert code == 2
        assert out
        assert err.startswith(f"tritonaudit: {file}: is not complete JSON: ")
    assert "v4" not in run_history("list")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "11"), "there is no .*v11.json"),
        (("show", "5"), "v5 is masked: `tritonaudit history unmask 5`"),
        (("compare", "1", "5"), "v5 is masked"),
        (("trend", "nope"), "no version has a subject 'nope'"),
        (("mask", "11"), "there is no .*v11.json"),
        (("show", "0"), "Invalid value"),
    ],
)
def test_what_is_unknown(run_history: History, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = run_history(*arguments)
    assert (code, out) == (2, "")
    assert re.search(said, err)


def test_masking_says_what_it_did(run_history: History) -> None:
    assert run_history("mask", "5") == (0, "v5 is masked already.\n", "")
    assert run_history("unmask", "5") == (0, "v5 is unmasked.\n", "")


def test_there_may_be_no_history(tritonaudit: Command, tmp_path: Path) -> None:
    ran = tritonaudit("history", "--folder", tmp_path / "none")
    assert ran.code == 2
    assert "`tritonaudit audit --keep` begins a history" in ran.err


# -- keeping -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    (folder / "src" / "softmax.py").write_text((ROOT / "examples" / "faulty" / "softmax.py").read_text())
    monkeypatch.chdir(folder)
    return folder


def test_an_audit_is_kept(tritonaudit: Command, project: Path) -> None:
    first = tritonaudit("audit", "--only", "source", "src", "--note", "the first", "--keep")
    assert first.code == 0
    assert first.err.endswith("tritonaudit: kept as memory/v1.json\n")
    kept = json.loads((project / "memory" / "v1.json").read_text())
    assert kept["note"] == "the first"
    assert {one["path"] for one in kept["findings"]} == {"src/softmax.py"}
    tritonaudit("audit", "--only", "source", "--keep=memory", "src")
    compared = tritonaudit("history", "compare", "1", "2")
    assert compared.code == 0
    assert compared.out.endswith("\n0 other figures the same\n")
    assert "findings" not in compared.out
    assert kept["asked"]["parts"] == ["source"]
    assert {"TAC107", "TAN102"} <= set(kept["asked"]["rules"])
    tritonaudit("audit", "--only", "source", "--keep=memory", "--ignore", "TAN", "src")
    compared = tritonaudit("history", "compare", "2", "3").out
    assert compared.endswith("\n1 finding not compared: only one of the two was asked for them\n")
    assert "gone" not in compared


def test_a_path_after_keep_is_not_taken_for_a_history(tritonaudit: Command, project: Path) -> None:
    ran = tritonaudit("audit", "--only", "source", "--keep", "src")
    assert ran.code == 2
    assert "--keep src: not a history; write --keep=memory before a path" in ran.err
    assert [path.name for path in (project / "src").iterdir()] == ["softmax.py"]


def test_a_note_is_for_what_is_kept(tritonaudit: Command, project: Path) -> None:
    ran = tritonaudit("audit", "--note", "x")
    assert (ran.code, ran.err) == (2, "tritonaudit: --note needs --keep\n")
