"""Imports one file in a process that is forked for it from a worker."""

from __future__ import annotations

import os
import pickle
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonaudit.absent.said import newly_said
from tritonaudit.absent.stand_in import origin_of
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Unparsable, may_hold_kernels, outline
from tritonaudit.subject.execute import LoadError, run_file

SECONDS = 60


@dataclass(frozen=True)
class Task:
    """A file of a package."""

    package: str
    path: Path


@dataclass(frozen=True)
class Imported:
    """What importing one file came to: a reason where it fails, and how many of its kernels are there.

    So many of them are `bare` of a decorator that was left out; `said` tells what was stood in for.
    """

    package: str
    path: str
    kernels: int = 0
    found: int = 0
    reason: str = ""
    bare: int = 0
    said: tuple[str, ...] = ()


def kernels(path: Path) -> tuple[str, ...]:
    """The jit functions at a file's own level."""
    data = path.read_bytes()
    if not may_hold_kernels(data):
        return ()
    try:
        jit = outline(str(path), decode(data)).jit
    except (Undecodable, Unparsable):
        return ()
    return tuple(function.name for function in jit if function.qualname == function.name)


def import_apart(task: Task) -> Imported:
    """Import a file in a process that ends thereafter."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        os.close(reading)
        found = _import(task)
        with os.fdopen(writing, "wb") as out:
            out.write(pickle.dumps(found))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        told = answer.read()
    _, status = os.waitpid(child, 0)
    if not told:
        return Imported(task.package, str(task.path), reason=f"its process ended with {status}")
    found = pickle.loads(told)
    assert isinstance(found, Imported)
    return found


def _import(task: Task) -> Imported:
    names = kernels(task.path)
    try:
        module = run_file(task.path)
    except LoadError as error:
        return Imported(task.package, str(task.path), len(names), reason=error.message)
    there = [value for name in names if _is_kernel(value := getattr(module, name, None))]
    bare = sum(origin_of(value) is not None for value in there)
    return Imported(task.package, str(task.path), len(names), len(there), bare=bare, said=newly_said())


def _is_kernel(value: Any) -> bool:
    from triton.runtime.jit import JITFunction, KernelInterface

    return isinstance(value, (JITFunction, KernelInterface))
