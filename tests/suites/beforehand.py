"""What a worker does in tests that calls subjects apart, on something that is like a GPU to whoever asks."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NoReturn

import torch

from tritonaudit.capture.time_limit import OutOfTime
from tritonaudit.data import NotData
from tritonaudit.subject.model import Case
from tritonaudit.suites import harness
from tritonaudit.suites.apart import process
from tritonaudit.suites.calling import How, call_subject, nothing_meanwhile
from tritonaudit.suites.on_cpu import CpuEngine


class LikeAGpu(CpuEngine):
    """The CPU engine, in a process of its own that is not forked from one that has it already."""

    is_engine = False


def _brought_up(*, streams: bool, suffices: bool = True) -> LikeAGpu:
    device = LikeAGpu()
    device.is_outgrown = not (streams or suffices)
    harness.remember()
    return device


def _never_enough(*, streams: bool) -> LikeAGpu:
    device = _brought_up(streams=streams)
    device.is_outgrown = True
    return device


def _broken(*, streams: bool) -> NoReturn:
    raise OSError("no GPU")


def called_apart(task: tuple[Path, bool]) -> list[tuple[str, bool]]:
    """The names of a file's subjects, each with whether it is called in the process that was begun beforehand."""
    path, comes_up = task
    process._own_gpu = _brought_up if comes_up else _broken
    process.prepare_apart()
    with process.one_beforehand():
        device = LikeAGpu()
    waits = process._waiting and process._waiting[1]
    found = []
    for name in ("once", "again"):
        with process.judged_apart(device, path, name) as subject:
            found.append((subject.name, subject.function.caller._process == waits))
    return found


def called_with_streams(task: tuple[Path, bool]) -> tuple[str, list[float], bool]:
    """How a call ends that needs streams, its results, and whether another process has made it than the first one."""
    path, are_enough = task
    process._own_gpu = partial(_brought_up, suffices=False) if are_enough else _never_enough
    process.prepare_apart()
    device = LikeAGpu()
    with process.judged_apart(device, path, "once") as subject:
        first = subject.function.caller._process
        try:
            called = call_subject(
                device, subject, Case({"n": 3}, "float32", device="cpu"), How(), ((torch.ones(3),), {})
            )
        except NotData as error:
            return str(error), [], False
        found = [number for result in called.results for number in result.tensor.tolist()]
        return str(called.error), found, subject.function.caller._process != first


def called_while_something_fails(task: tuple[Path, bool]) -> tuple[str, list[list[float]]]:
    """What is raised by what is done while a wrapper is called, and the results of the calls after that."""
    path, is_late = task
    device = CpuEngine()
    harness.remember()

    def fail(*_: object) -> NoReturn:
        raise OutOfTime(1.0) if is_late else RuntimeError("out of room")

    with process.judged_apart(device, path, "once") as subject:
        case, raised, found = Case({"n": 2}, "float32", device="cpu"), "", list[list[float]]()
        for number, meanwhile in enumerate((fail, *[nothing_meanwhile] * 2)):
            given = (torch.full((2,), float(number)),), {}
            try:
                called = call_subject(device, subject, case, How(), given, meanwhile)
            except (OutOfTime, RuntimeError) as error:
                raised = type(error).__name__
            else:
                found.append(called.results[0].tensor.tolist())
        return raised, found
