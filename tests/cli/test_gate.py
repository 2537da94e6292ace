"""`tritonaudit gate`: its report, its data, its exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from tests.checkout import ROOT
from tritonaudit.report.schema import breach

Command = Callable[..., Any]
FOLDER = ROOT / "fixtures" / "gate"
ON_THE_CPU = ("--device", "cpu", "--budget", "60")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_stage_is_passed_kept_and_held_against(tritonaudit: Command, tmp_path: Path) -> None:
    right = FOLDER / "audit_right.py"
    ran = tritonaudit("gate", "--stage", "1", f"{right}::right", *ON_THE_CPU, "--keep")
    assert ran.code == 0
    assert re.findall(r"^    (PASS|FAIL|NOT RUN) ", ran.out, re.M) == ["PASS"] * 5
    assert "The gate holds." in ran.out
    assert (tmp_path / "memory" / "v1.json").exists()
    against = ("--against", tmp_path / "memory" / "v1.json")
    ran = tritonaudit("gate", "--stage", "2", right, *ON_THE_CPU, *against, "--output-format", "json")
    report = json.loads(ran.out)
    assert ran.code == 3
    assert breach(report, "gate.schema.json") is None
    (subject,) = report["subjects"]
    missed = [(one["item"], one["reason"]) for one in subject["items"] if one["answer"] != "pass"]
    assert missed == [("faster", "there is no GPU")]
    assert (report["holds"], subject["holds"], report["device"]) == (False, False, "CPU engine")


def test_an_item_that_fails_makes_it_1(tritonaudit: Command, tmp_path: Path) -> None:
    file = tmp_path / "gate.txt"
    ran = tritonaudit("gate", "--stage", "1", FOLDER / "audit_wrong.py", *ON_THE_CPU, "--output-file", file)
    assert (ran.code, ran.out) == (1, "")
    assert "FAIL     matches the reference: wrong result at n=1000 float32" in file.read_text("utf-8")
    assert "The gate does not hold: 3 failed." in file.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("audit_right.py",), "Missing option '--stage'"),
        (("--stage", "4", "audit_right.py"), "'4' is not one of '1', '2', '3'"),
        (("--stage", "1", "audit_right.py::left"), "has no subject 'left'; it has right"),
        (("--stage", "2", "audit_right.py", "--against", "report.json"), "is not an entry of a history"),
        (("--stage", "2", "audit_right.py", "--against", "nowhere/v1.json"), "No such file or directory"),
        (("--stage", "1", "audit_right.py", "--note", "x"), "--note needs --keep"),
        (("--stage", "1", "audit_right.py", "--output-file", "audit_right.py"), "would overwrite the source file"),
    ],
)
def test_what_cannot_be_done_makes_it_2(
    tritonaudit: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(FOLDER)
    ran = tritonaudit("gate", *arguments, "--device", "cpu")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_file_that_is_not_there_makes_it_2(tritonaudit: Command) -> None:
    ran = tritonaudit("gate", "--stage", "1", "missing.py", "--device", "cpu", "--output-format", "json")
    assert ran.code == 2
    assert breach(json.loads(ran.out), "gate.schema.json") is None
    assert json.loads(ran.out)["holds"] is False


def test_progress_names_what_it_is_of(tritonaudit: Command) -> None:
    ran = tritonaudit("gate", "--stage", "1", FOLDER / "audit_right.py", *ON_THE_CPU)
    assert [line.partition(": ")[0] for line in ran.err.splitlines()] == [f"{FOLDER / 'audit_right.py'}"]
