"""A Triton driver that answers for a GPU which is not there, so that Triton specialises and compiles for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import triton.runtime.jit
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver

from tritonaudit.capture.device import Device, multiprocessors_reported, tell_apart

_LAUNCHING = os.path.abspath(triton.runtime.jit.__file__)


class StandInDriver:
    """What Triton's runtime, its autotuner and host code ask of a driver, from 3.2 to 3.9.

    `number` is that of the device, by which Triton keeps what it compiled apart.
    """

    def __init__(self, device: Device, number: int = 0) -> None:
        self._device = device
        self._number = number
        self.utils = _Utils(device)
        self.launcher_cls = _NoLauncher

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        known = self._device.target
        target = GPUTarget(known.backend, known.arch, known.warp_size)
        # Triton's launch asks for the backend's sake, of which the rest is heeded elsewhere.
        return target if sys._getframe(1).f_code.co_filename == _LAUNCHING else tell_apart(target)

    def get_current_device(self) -> int:
        return self._number

    def set_current_device(self, device: int) -> None:
        """There is one device."""

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return tell_apart(self._device.capability)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(0)

    def clear_cache(self, cache: torch.Tensor) -> None:
        """There is no cache to clear."""

    def get_benchmarker(self) -> Callable[..., Any]:
        return _call_once

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def assemble_tensormap_to_arg(self, *arguments: Any) -> tuple[Any, ...]:
        return ()


_MULTIPROCESSORS = "multiprocessor_count"


class _Utils:
    def __init__(self, device: Device) -> None:
        self._device = device

    def get_device_properties(self, device: int) -> dict[str, Any]:
        """Without what is not known of the device; a block may have all registers of a multiprocessor."""
        target = self._device.target
        warps = target.warps_per_multiprocessor
        figures = {
            "max_shared_mem": target.shared_per_block,
            "max_num_regs": target.registers_per_multiprocessor,
            "max_threads_per_sm": None if warps is None else warps * target.warp_size,
            _MULTIPROCESSORS: self._device.multiprocessors,
            "warpSize": target.warp_size,
            "arch": str(target.arch),
            "sm_clock_rate": 1_000_000,
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 4096,
        }
        known = {name: figure for name, figure in figures.items() if figure is not None}
        return tell_apart(_Figures(self._device, known))

    def load_binary(self, *arguments: Any) -> tuple[int, ...]:
        return (0, 0, 0, 0, 1024)

    def set_printf_fifo_size(self, size: int) -> None:
        """Nothing is printed."""


class _Figures(dict[str, Any]):
    """Figures of a device, of which Triton asks for others than the multiprocessors, too."""

    def __init__(self, device: Device, figures: dict[str, Any]) -> None:
        super().__init__(figures)
        self._device = device

    def __getitem__(self, name: str) -> Any:
        return multiprocessors_reported(self._device) if name == _MULTIPROCESSORS else super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return multiprocessors_reported(self._device) if name == _MULTIPROCESSORS else super().get(name, default)


class _NoLauncher:
    def __init__(self, *arguments: Any) -> None:
        """Takes what a launcher takes."""

    def __call__(self, *arguments: Any) -> None:
        """Launches nothing."""


def _call_once(kernel_call: Callable[[], Any], quantiles: Any = None, **_: Any) -> Any:
    """Where an autotuner would time a config, it is launched once, so that it is recorded."""
    kernel_call()
    return [1.0] * len(quantiles) if quantiles else 1.0


def stand_in_driver(device: Device) -> None:
    """Make the device Triton's active one, for the rest of the process."""
    driver.set_active(StandInDriver(device))


@contextmanager
def standing_in(device: Device, number: int) -> Iterator[None]:
    """Make the device Triton's active one while this lasts, with a number that no real device has."""
    before = dict(vars(driver))
    driver.set_active(StandInDriver(device, number))
    try:
        yield
    finally:
        vars(driver).update(before)
