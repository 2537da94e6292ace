"""What takes too long ends alone."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest

from tritonaudit.capture.time_limit import OutOfTime, time_limit


def test_what_takes_too_long_ends_whatever_it_catches() -> None:
    with pytest.raises(OutOfTime, match="took longer than 0 s"), time_limit(0.05):
        sleep_on()


def sleep_on() -> None:
    while True:
        try:
            time.sleep(0.001)
        except Exception:
            continue


def test_what_ends_in_time_is_left_alone() -> None:
    with time_limit(0.05):
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
