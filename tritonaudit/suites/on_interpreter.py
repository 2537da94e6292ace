"""Triton's interpreter in the place of a GPU. For a process of its own: `triton` is one or the other once imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from tritonaudit.capture.device import device_for
from tritonaudit.capture.standin import Host, stand_in_tensors, tensors_on
from tritonaudit.capture.task import loaded
from tritonaudit.simulator.interpreter import choose_interpreter

if TYPE_CHECKING:
    from tritonaudit.suites.calling import How, Lost, Observed
    from tritonaudit.suites.worker import TryTask

_TARGET = "sm_89"
"""What host code takes it for, as it does the CPU engine."""


class Interpreter:
    """Has launches interpreted; making one changes the process for good, before anything imports Triton."""

    name = "TRITON_INTERPRET=1"
    lost: Lost | None = None
    is_engine = False
    is_outgrown = False

    def __init__(self) -> None:
        choose_interpreter()
        from triton.runtime.autotuner import Autotuner

        from tritonaudit.capture.record import run_configs

        stand_in_tensors(device_for(_TARGET))
        Autotuner.run = run_configs
        torch.set_num_threads(1)

    @contextmanager
    def observing(self, how: How) -> Iterator[Observed]:
        """While this lasts, launches are interpreted; of an autotuner's configs the one that `how` names is taken."""
        from tritonaudit.capture.record import Recorder, recording
        from tritonaudit.suites.calling import Observed

        with tensors_on(Host.CPU), recording(Recorder(_TARGET, chosen=how.config, raises=True)):
            yield Observed()


_device: Interpreter | None = None


def become_interpreter() -> None:
    """Prepare this process: launches are interpreted."""
    global _device
    _device = Interpreter()


def interpreted(task: TryTask) -> tuple[torch.Tensor, ...]:
    """The results of a case. Raises what the call raises."""
    from tritonaudit.suites.calling import How, call_subject

    assert _device is not None
    called = call_subject(_device, loaded(task.path)[task.subject], task.case, How(is_checked=False))
    if called.error is not None:
        raise called.error
    return tuple(result.tensor.clone() for result in called.results)
