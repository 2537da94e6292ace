"""What gpucheck (PyPI, 0.1.0) notices: its shapes, its dtypes and its tolerances, on the CPU engine.

Its sanitizers and fixtures need a GPU, and are left out. For worker processes.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.mutation.calling import become_cpu, call, subject_of
from bench.mutation.kernels import Kernel
from bench.mutation.trying import Task
from tritonaudit.capture.time_limit import OutOfTime, time_limit
from tritonaudit.subject.model import Case
from tritonaudit.subject.sweep import size_names

_MOST_ELEMENTS = 1 << 18
_SECONDS = 20.0


def become_cpu_with(folder: Path) -> None:
    """Prepare this process, where gpucheck is found in a folder."""
    sys.path.append(str(folder))
    become_cpu()


def noticed_by_gpucheck(task: Task) -> str:
    """What its assertion says first, in one line; empty where it is content."""
    return next((why for case in _bearable(task.kernel) if (why := _said(task.spec, case))), "")


@cache
def _bearable(kernel: str) -> tuple[Case, ...]:
    """The cases that gpucheck makes and with which it is content of the original."""
    spec = Kernel(kernel).spec
    return tuple(case for case in _cases(spec) if not _said(spec, case))


def _cases(spec: Path) -> list[Case]:
    """Its shapes for as many dimensions as the subject has, but for those that are too large."""
    fuzzing: Any = import_module("gpucheck.fuzzing")
    names = size_names(subject_of(spec))
    shapes = [shape for shape in fuzzing.fuzz_shapes(len(names), seed=0) if math.prod(shape) <= _MOST_ELEMENTS]
    return [
        Case(dict(zip(names, shape, strict=True)), dtype)
        for dtype in ("float16", "bfloat16", "float32")
        for shape in shapes
    ]


def _said(spec: Path, case: Case) -> str:
    assertions: Any = import_module("gpucheck")
    try:
        with time_limit(_SECONDS):
            called = call(subject_of(spec), case, is_checked=False)
        for one, other in zip(called.outputs, called.expected, strict=True):
            assertions.assert_close(one, other)
    except OutOfTime:
        return "takes too long"
    except Exception as error:
        return f"{case.label}: {type(error).__name__}"
    return ""
