"""What is made of the ends of compile workers."""

from __future__ import annotations

import os
import signal

import pytest

pytest.importorskip("triton")

from tests.compile import kernels
from tests.compile.programs import Pointer, program
from tritonaudit.capture.launch import Program
from tritonaudit.compile import compiling
from tritonaudit.compile.cache import Cache
from tritonaudit.compile.facts import Variant


def aborts(program: Program, cache: Cache, explains: bool) -> Variant:
    os.abort()


def is_killed(program: Program, cache: Cache, explains: bool) -> Variant:
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
