"""Executes fixed kernels on the CPU engine, each file's in a process of its own, and compares what they compute."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

from bench.fixes.cases import CASES, Case
from tritonaudit import simulate
from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import standing_in
from tritonaudit.capture.lift import lift
from tritonaudit.capture.load import load
from tritonaudit.kernel.project import Function, Project
from tritonaudit.simulator.faults import FaultKind
from tritonaudit.source.outline import outline

_SECONDS = 240
_TARGET = "sm_89"
_DEVICE = 1 << 20
RIGHT = "right"


def outcomes(path: Path, code: str, kernels: Iterable[str]) -> dict[str, str]:
    """What each kernel for which a case is written came to: `RIGHT`, or what is wrong."""
    wanted = [kernel for kernel in kernels if (code, kernel) in CASES]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(_SECONDS)
        with os.fdopen(writing, "w") as answer:
            for kernel, outcome in _tried(path, code, wanted):
                answer.write(json.dumps([kernel, outcome]) + "\n")
                answer.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        found = dict(json.loads(line) for line in answers)
    os.waitpid(child, 0)
    return {kernel: found.get(kernel, "the process ended") for kernel in wanted}


def _tried(path: Path, code: str, kernels: Iterable[str]) -> Iterator[tuple[str, str]]:
    torch.set_num_threads(1)
    module = outline(str(path), path.read_text(encoding="utf-8"))
    functions = {jit.qualname: Function(module, jit) for jit in module.jit}
    for kernel in kernels:
        try:
            with standing_in(device_for(_TARGET), _DEVICE):  # without one, an autotuner of Triton 3.3 is not made
                loaded = load(lift(Project(path.parent), functions[kernel]))
            yield kernel, _judged(loaded.kernel, CASES[code, kernel]())
        except Exception as error:
            yield kernel, f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[-1]}"


def _judged(kernel: object, case: Case) -> str:
    simulation = simulate(kernel, case.grid, *case.arguments, **case.constants)
    faults = [fault for fault in simulation.faults if fault.kind is not FaultKind.SAME_WRITES]
    if faults:
        return str(faults[0]).partition("\n")[0]
    for place, wanted in case.wanted.items():
        got = case.arguments[place]
        if not torch.allclose(got.double(), wanted.double(), rtol=case.tolerance, atol=case.tolerance, equal_nan=True):
            furthest = (got.double() - wanted.double()).abs().max().item()
            return f"argument {place} is off by {furthest:.3g}"
    return RIGHT
