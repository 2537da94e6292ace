"""What takes too long ends alone."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tritonaudit.capture.time_limit import OutOfTime, computing_limit, time_limit

TICK = 1 / os.sysconf("SC_CLK_TCK")
"""Seconds: what a process has computed is counted in these by the timer, and exactly by the clock."""


def test_what_takes_too_long_ends_whatever_it_catches() -> None:
    with pytest.raises(OutOfTime, match=r"took longer than 0\.1 s"), time_limit(0.1):
        sleep_on()


def sleep_on() -> None:
    while True:
        try:
            time.sleep(0.001)
        except Exception:
            continue


def test_what_ends_in_time_is_left_alone() -> None:
    with time_limit(0.1):
        pass
    time.sleep(0.1)


SLOW_FOR_LARGE = """\
import time
import torch
import triton
import triton.language as tl
from tritonaudit import Subject, Tensor

@triton.jit
def fill_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)

def fill(x):
    while x.numel() > 64:
        time.sleep(0.01)
    fill_kernel[(1,)](x, BLOCK=64)

subject = Subject(fill, inputs=[Tensor("size")], dtypes=["float32"])
"""


def become_hurried_gpu(target: str) -> None:
    from tritonaudit.capture import task

    task._SECONDS = 4.0
    task.become_gpu(target)


def test_a_case_that_takes_too_long_costs_only_itself(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch makes the stand-in tensors")
    pytest.importorskip("triton", reason="triton specialises the launches")
    from tritonaudit.capture.task import Captured, CaptureTask, capture
    from tritonaudit.execute.pool import Limits, run_tasks

    path = tmp_path / "audit_slow.py"
    path.write_text(SLOW_FOR_LARGE, encoding="utf-8")
    task = CaptureTask(path, "subject")
    limits = Limits(seconds=60, memory=4 << 30)
    ((_, found),) = run_tasks(
        capture, [task], workers=1, limits=limits, prepare=become_hurried_gpu, arguments=("sm_90",)
    )
    assert isinstance(found, Captured), found
    assert {launch.case for launch in found.launches} == {"size=1 float32"}
    reasons = [missed.reason for missed in found.missed if "1024" in missed.case]
    assert reasons == ["calling it takes too long: all of its cases together have 4 s"] * 2


def test_a_limit_goes_on_after_one_within_it() -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(0.4):
        sleep_within_limits()
    assert 0.3 < time.monotonic() - began < 5


def sleep_within_limits() -> None:
    with suppress(OutOfTime), time_limit(0.1):
        sleep_on()
    with time_limit(10):
        pass
    sleep_on()


def busy(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


class Finalized:
    def __del__(self) -> None:
        busy(0.3)


def collected() -> None:
    def callback(phase: str, _: dict[str, Any]) -> None:
        if phase == "stop":
            busy(0.3)

    gc.callbacks.append(callback)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(callback)


def limited(long: Callable[[], object]) -> None:
    with time_limit(0.1):
        long()
        busy(5)


@pytest.mark.parametrize("long", [Finalized, collected], ids=["finalizer", "callback of the garbage collector"])
def test_time_that_is_up_where_python_drops_what_is_raised_ends_what_comes_after(long: Callable[[], object]) -> None:
    hook = sys.unraisablehook
    began = time.monotonic()
    with pytest.raises(OutOfTime):
        limited(long)
    assert time.monotonic() - began < 2
    assert sys.unraisablehook is hook


def test_what_else_python_drops_goes_where_it_went_before(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __del__(self) -> None:
            raise ValueError("broken")

    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: told.append(what.exc_type))
    with time_limit(5):
        Broken()
    assert told == [ValueError]


def test_a_limit_within_another_gives_no_more_than_that_has_left() -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(0.1), time_limit(5):
        busy(5)
    assert time.monotonic() - began < 2


def test_what_computes_too_long_ends() -> None:
    began = time.process_time()
    with pytest.raises(OutOfTime, match=r"took longer than 0\.1 s"), computing_limit(0.1):
        busy(5)
    assert 0.1 - 2 * TICK <= time.process_time() - began < 1


def test_time_that_others_take_does_not_count_as_computing() -> None:
    with computing_limit(0.1):
        time.sleep(0.3)


def test_what_only_waits_ends_too() -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime, match=r"took longer than 0\.1 s"), computing_limit(0.1):
        sleep_on()
    assert time.monotonic() - began < 5
