"""Dataclasses become JSON and come back the same, or not at all."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tritonaudit.capture.launch import KernelRef, Launch, Program, SourceError, TensorArgument
from tritonaudit.capture.task import Captured, CaptureTask, Missed, SweepLaunches
from tritonaudit.compile.facts import Variant
from tritonaudit.compile.plain import read, write_whole, written

TENSOR = TensorArgument("float32", (4, 8), (8, 1), 0, 1)
LAUNCH = Launch(
    KernelRef("/project/kernel.py", "kernel", 7),
    "sm_90",
    "n=1",
    config="BLOCK=64",
    grid=(1, 2, 3),
    signature=(("x", "*fp32"),),
    arguments=(("x", TENSOR), ("n", 1 << 40), ("flag", True), ("scale", -0.0), ("name", "ä\udcff"), ("none", None)),
    specialisation=(("x", "divisible"),),
    program=Program("sm_90", "module {}", (("extern_libs", (("libdevice", "/x.bc"),)), ("num_warps", 4))),
    error=SourceError("no", "/project/kernel.py", 1, 2),
    is_least=True,
)
CAPTURED = Captured(
    CaptureTask(Path("/project/audit_x.py"), "x"),
    "sm_90",
    (LAUNCH, replace(LAUNCH, grid=None, program=None, arguments=(("pair", (1, (TENSOR,), math.inf)),))),
    (SweepLaunches("n", (1, 2), ((LAUNCH,), ())),),
    (Missed("n=1", "why"),),
    cases=3,
)


def data_of(value: Any) -> Any:
    return json.loads(json.dumps(written(value)))


def test_what_is_written_is_read_as_the_same() -> None:
    found = read(Captured, data_of(CAPTURED))
    assert found == CAPTURED
    assert repr(found) == repr(CAPTURED), "True is not 1, nor -0.0 the same as 0"


@pytest.mark.parametrize("argument", [[1], {"a": 1}, object(), print, b"x", {1}, 1j])
def test_what_could_not_be_read_as_the_same_is_not_written(argument: object) -> None:
    with pytest.raises(TypeError, match="is no data"):
        written(replace(LAUNCH, arguments=(("x", argument),)))


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("kernel", None),
        ("kernel", {"path": "/x"}),
        ("grid", [1, 2]),
        ("grid", [1, 2, "3"]),
        ("case", 1),
        ("arguments", [["x", {"Path": "/x"}]]),
        ("arguments", [["x", {"TensorArgument": {"dtype": "float32"}}]]),
        ("arguments", "x"),
    ],
)
def test_other_data_is_refused(field: str, wrong: object) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        read(Launch, {**data_of(LAUNCH), field: wrong})


def test_an_argument_of_another_kind_is_never_made() -> None:
    data = {**data_of(LAUNCH), "arguments": [["x", {"TensorArgument": data_of(TENSOR)["TensorArgument"], "Path": 1}]]}
    assert read(Launch, data).arguments == (("x", TENSOR),)
    with pytest.raises(TypeError):
        read(Variant, [])


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    write_whole(tmp_path / "folder" / "file", "text")
    assert [(path.name, path.read_text()) for path in (tmp_path / "folder").iterdir()] == [("file", "text")]
    write_whole(tmp_path / "folder" / "file" / "below", "text")
    assert len(list(tmp_path.rglob("*"))) == 2
