"""A launch under Triton's own interpreter, in a process of its own: `triton` is one or the other once imported."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class View:
    """A tensor among a launch's arguments: its part of one of their storages, sizes and so on in elements."""

    storage: int
    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def of(self, storage: torch.Tensor) -> torch.Tensor:
        """The tensor, of the bytes of its storage."""
        whole = storage[: storage.numel() // self.dtype.itemsize * self.dtype.itemsize]
        return whole.view(self.dtype).as_strided(self.shape, self.strides, self.offset)


@dataclass(frozen=True, eq=False)
class Interpretation:
    """A launch that can be sent to another process: its kernel by file, module and name, its arguments by name.

    `module` is empty where the file is to be run again. Tensors stand among the arguments as views of the storages.
    """

    path: str
    module: str
    kernel: str
    grid: tuple[int, int, int]
    arguments: tuple[tuple[str, Any], ...]
    storages: tuple[torch.Tensor, ...]

    def bound(self, storages: tuple[torch.Tensor, ...]) -> dict[str, Any]:
        """The arguments by name, their tensors in these storages."""
        return {name: _unpacked(value, storages) for name, value in self.arguments}


def choose_interpreter() -> None:
    """Make the `triton` that is imported next interpret its kernels; there need be no GPU for its autotuner."""
    os.environ["TRITON_INTERPRET"] = "1"
    from tritonaudit.capture.device import device_for
    from tritonaudit.capture.driver import stand_in_driver

    stand_in_driver(device_for("sm_89"))


def interpret(task: Interpretation) -> tuple[torch.Tensor, ...]:
    """The storages after the launch. Raises LookupError where the kernel is not found, and what the launch raises."""
    kernel = _kernel(task)
    kernel[task.grid](**task.bound(task.storages))
    return task.storages


def _kernel(task: Interpretation) -> Any:
    """The kernel itself, without the autotuner and heuristics around it: what they choose is among the arguments."""
    found: Any = importlib.import_module(task.module) if task.module else _run(task.path)
    for name in task.kernel.split("."):
        found = getattr(found, name, None)
    while hasattr(found, "fn") and hasattr(found.fn, "run"):
        found = found.fn
    if not hasattr(found, "run"):
        raise LookupError(f"`{task.kernel}` is not a kernel that its file defines")
    return found


def _run(path: str) -> Any:
    name = f"_interpreted_{os.path.basename(path).removesuffix('.py')}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LookupError(f"{path} is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _unpacked(value: Any, storages: tuple[torch.Tensor, ...]) -> Any:
    if isinstance(value, View):
        return value.of(storages[value.storage])
    return tuple(_unpacked(one, storages) for one in value) if isinstance(value, tuple) else value
