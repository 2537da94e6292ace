"""The CPU engine in the place of a GPU. For worker processes: torch takes tensors on the CPU for those of a GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import torch
import triton

import tritonaudit
from tritonaudit.capture import streams
from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import stand_in_driver
from tritonaudit.capture.launch import Launch
from tritonaudit.capture.record import Recorder, install, recording
from tritonaudit.capture.standin import Host, stand_in_tensors, tensors_on
from tritonaudit.capture.streams import Stream, Ticket
from tritonaudit.execute.blame import text_of
from tritonaudit.execute.processes import keep_freed_memory
from tritonaudit.simulator.faults import Fault
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.gpu_program import OPTIONS
from tritonaudit.simulator.live import Execution, NoProgram, check_grid, why_too_large
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.programs import numbers_in
from tritonaudit.simulator.torch_memory import per_byte, storage_address
from tritonaudit.suites.calling import How, Lost, Observed, Ran, Result
from tritonaudit.suites.integers import filled
from tritonaudit.suites.snapshots import copies, digests, storages_in
from tritonaudit.suites.written import may_find_storages, still_known, storages_found, storages_written

TARGET = "sm_89"
"""It has all types, and its programs no tensor descriptors: Triton makes pointers of them, as of block pointers."""


class CpuEngine:
    """Executes launches on the CPU engine; making one changes the process for good."""

    name = "CPU engine"
    lost: Lost | None = None
    is_engine = True
    is_outgrown = False

    def __init__(self) -> None:
        stand_in_driver(device_for(TARGET))
        stand_in_tensors(device_for(TARGET))
        install()
        torch.set_num_threads(1)
        keep_freed_memory()

    @contextmanager
    def observing(self, how: How) -> Iterator[Observed]:
        """While this lasts, launches are executed as `how` says."""
        fresh = FreshMemory()
        execution = Execution(fresh, how.is_checked, order=partial(numbers_in, how.order))
        observed = _Observed(fresh, streams.current())
        execute = partial(_execute, execution, observed, how)
        recorder = Recorder(TARGET, chosen=how.config, execute=execute, options=OPTIONS, raises=True)
        host = Host.CPU if how.has_memory else Host.META
        with tensors_on(host), streams.calling(), fresh, recording(recorder):
            yield observed


class _Observed(Observed):
    def __init__(self, fresh: FreshMemory, caller: Stream) -> None:
        super().__init__()
        self.fresh = fresh
        self._caller = caller
        self.tickets: list[Ticket] = []
        """Of each launch that ran."""

    def on_their_way(self, results: Sequence[Result], again: Callable[[], Sequence[Result]]) -> tuple[str, ...]:
        return tuple(result.name for result in results if self._is_on_its_way(result.storage))

    def _is_on_its_way(self, address: int) -> bool:
        writers = (ticket for one, ticket in zip(self.ran, self.tickets, strict=True) if address in one.written)
        return any(not streams.is_awaited(ticket, self._caller) for ticket in writers)

    def unwritten(self, tensor: torch.Tensor) -> torch.Tensor | None:
        undefined = self.fresh.undefined.get(storage_address(tensor))
        if undefined is None or not tensor.numel():
            return None
        found = per_byte(tensor, undefined).any(-1)
        return found if bool(found.any()) else None


def _sizes(storages: Mapping[int, torch.UntypedStorage]) -> Mapping[int, int]:
    return {address: storage.nbytes() for address, storage in storages.items()}


def _site() -> tuple[str, int] | None:
    """The line of the user's that launches what is executed; None where nobody's is."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_USERS):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


_NOT_USERS = tuple(f"{module.__path__[0]}{os.sep}" for module in (tritonaudit, torch, triton))


def _execute(execution: Execution, observed: _Observed, how: How, launch: Launch, bound: Mapping[str, Any]) -> None:
    """Execute a launch; what is known of it by then is observed, also where it cannot be executed to its end."""
    if not how.has_memory and why_too_large(launch):
        observed.tickets.append(streams.launched())
        observed.ran.append(Ran(launch))  # what such calls are looked at for
    check_grid(launch)
    bound = {name: filled(value, observed.contents) for name, value in bound.items()} if observed.contents else bound
    faults: tuple[Fault, ...] = ()
    undecided: tuple[Fault, ...] = ()
    written = storages_written(launch, bound)
    sizes = {address: one.size for address, one in written.items()} if how.is_traced else {}
    storages = storages_in(bound) if how.is_watched else {}
    if how.is_watched and may_find_storages(launch):
        storages |= storages_found(bound)
    held = digests(storages)
    elements: Mapping[int, torch.Tensor] = {}
    try:
        with observed.fresh.watching(sizes) as elements:
            execution.launch(launch, bound)
        faults = execution.launches[-1].faults
        undecided = execution.launches[-1].outcome.undecided
    except (NoProgram, NotSimulated) as error:
        observed.failure = error
        raise
    except Exception as error:  # whatever the kernel does, this is a defect of ours
        defect = f"{type(error).__name__}: {text_of(error)}; please report it"
        observed.failure = NotSimulated(Unsupported("the CPU engine", defect), None)
        raise observed.failure from error
    finally:  # not before it is known which elements were written
        places = {address: one.place for address, one in written.items()}
        left = copies(storages, places)
        observed.tickets.append(streams.launched())
        site = _site() if faults else None
        observed.ran.append(Ran(launch, faults, places, elements, held, _sizes(storages), left, undecided, site))
        observed.contents = still_known(observed.contents, launch, written)
