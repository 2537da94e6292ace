"""Values become bytes and come back the same, or not at all."""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from tritonaudit.cache_folder import write_whole
from tritonaudit.capture.launch import KernelRef, Launch, Program, SourceError, TensorArgument
from tritonaudit.capture.task import Captured, CaptureTask, Missed, SweepLaunches
from tritonaudit.data import NotData, decode, encode, given_by, read, written
from tritonaudit.finding import Status
from tritonaudit.suites.calling import is_same

TENSOR = TensorArgument("float32", (4, 8), (8, 1), 0, 1)
KERNEL = KernelRef("/project/kernel.py", "kernel", 7)
LAUNCH = Launch(
    KERNEL,
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


@dataclass(frozen=True)
class Holder:
    """One of everything that is data."""

    number: int | float
    names: Mapping[str, tuple[int, ...]]
    seen: frozenset[Status]
    many: Sequence[float | None]
    raw: bytes
    where: Path
    either: KernelRef | TensorArgument
    turned: complex
    anything: object
    made: int = field(default=0, init=False)


HOLDER = Holder(
    1,
    {"a": (1, 2)},
    frozenset((Status.PASS, Status.FAIL)),
    (1.5, None, math.inf),
    b"\0\xff",
    Path("x/y"),
    KERNEL,
    -1j,
    {"a": [1, (2, b"x")], 3: {4, "5"}},
)


@pytest.mark.parametrize("value", [CAPTURED, HOLDER])
def test_what_is_written_is_read_as_the_same(value: Any) -> None:
    found = decode(type(value), encode(value))
    assert found == value
    assert _spelt(found) == _spelt(value), "True is not 1, nor -0.0 the same as 0"


def _spelt(value: object) -> list[str]:
    """What the value is spelt with: the members of a set stand in any order, which may differ between equal ones."""
    return sorted(re.split(r"([{}, ])", repr(value)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.bool, torch.complex64])
@pytest.mark.parametrize("shape", [(2, 3), (0, 4), ()])
def test_tensors_keep_their_bits(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = torch.randn(shape).to(dtype).t() if len(shape) == 2 else torch.randn(shape).to(dtype)
    (found,) = decode(tuple[torch.Tensor, ...], encode((tensor,)))
    assert (found.dtype, found.shape) == (dtype, tensor.shape)
    assert is_same(found, tensor)


@pytest.mark.parametrize("argument", [object(), print, len, TypeError("x"), range(3), array("i")])
def test_what_could_not_be_read_as_the_same_is_not_written(argument: object) -> None:
    with pytest.raises(NotData, match="is not data"):
        encode(replace(LAUNCH, arguments=(("x", argument),)))


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("kernel", None),
        ("kernel", {"path": "/x"}),
        ("kernel", {"": "Launch", "path": "/x"}),
        ("grid", [1, 2]),
        ("grid", [1, 2, "3"]),
        ("grid", [1, 2, True]),
        ("case", 1),
        ("arguments", [["x", {"Path": 1}]]),
        ("arguments", [["x", {"system": "ls"}]]),
        ("arguments", [["x", {"": "TensorArgument", "dtype": "float32"}]]),
        ("arguments", [["x", {"": "Launch"}]]),
        ("arguments", "x"),
        ("arguments", [["x", {"list": [1]}]]),
        ("arguments", [["x", {"dict": []}]]),
        ("is_least", None),
    ],
)
def test_other_data_is_refused(field: str, wrong: object) -> None:
    with pytest.raises(NotData):
        read(Launch, {**data_of(LAUNCH), field: wrong})


@pytest.mark.parametrize(
    "content",
    [
        ["float32", [2], "AAAA"],
        ["float32", [-1], ""],
        ["float32", [1 << 62, 1 << 62], ""],
        ["load", [1], "AAAA"],
        ["float32", [1.0], "AAAAAA=="],
        ["float32"],
    ],
)
def test_what_is_no_tensor_is_refused(content: object) -> None:
    with pytest.raises(NotData):
        read(torch.Tensor, {"tensor": content})


@pytest.mark.parametrize("data", [b"", b"[", b"\xff", b"nul", b"[" * 200_000, b"9" * 10_000, b'{"":"Launch"}'])
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with pytest.raises(NotData):
        decode(Launch, data)


def test_a_function_tells_what_it_gives() -> None:
    assert given_by(partial(partial(decode, 1), 2)) is Any
    assert given_by(gives_holders) == tuple[Holder, ...] | None


def gives_holders() -> tuple[Holder, ...] | None:
    """Declares what it gives."""


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    write_whole(tmp_path / "folder" / "file", b"text")
    assert [(path.name, path.read_text()) for path in (tmp_path / "folder").iterdir()] == [("file", "text")]
    write_whole(tmp_path / "folder" / "file" / "below", b"text")
    assert len(list(tmp_path.rglob("*"))) == 2
