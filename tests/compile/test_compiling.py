"""What is made of the ends of compile workers."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("triton")

from tests.compile import kernels
from tests.compile.programs import Pointer, program
from tritonaudit.capture.launch import Program
from tritonaudit.compile import compiling
from tritonaudit.compile.cache import Cache
from tritonaudit.compile.facts import Variant


def aborts(program: Program, cache: Cache, explains: bool, until: float) -> Variant:
    os.abort()


def is_killed(program: Program, cache: Cache, explains: bool, until: float) -> Variant:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("outlived SIGKILL")


GIVEN = program(kernels.softmax, "sm_90", src=Pointer("fp32"), dst=Pointer("fp32"), stride=1000, n=1000, BLOCK=1024)


def test_a_compiler_that_aborts_has_rejected_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "analyse_program", aborts)
    error = compiling.compile_programs([GIVEN], 1).variants[GIVEN].error
    assert error is not None
    assert error.message == "the compiler is killed by signal 6 (SIGABRT)"


def test_a_compiler_that_is_killed_from_outside_has_said_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "analyse_program", is_killed)
    found = compiling.compile_programs([GIVEN], 1)
    assert found.variants == {}
    assert "out of memory" in found.lost[GIVEN]


def test_what_is_not_begun_in_time_is_lost_and_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first is begun in any case; what comes after it is not, and nothing of it is kept."""
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path))
    others = [replace(GIVEN, options=(("num_warps", warps),)) for warps in (1, 2)]
    found = compiling.compile_programs([GIVEN, *others], 1, limit=compiling.Time(0.0))
    assert list(found.variants) == [GIVEN]
    assert found.lost == dict.fromkeys(others, "was not begun, as the 0 s for compiling were spent")
    again = compiling.compile_programs([GIVEN, *others], 2)
    assert set(again.variants) == {GIVEN, *others}
    assert not again.lost
