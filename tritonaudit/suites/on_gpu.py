"""A GPU that is there. For worker processes: launches are made, waited for, and observed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from tritonaudit.absent.kernels import reach_of
from tritonaudit.capture.launch import Launch, Program
from tritonaudit.capture.record import Recorder, is_gluon, recorded_launch, recording, run_configs
from tritonaudit.execute.blame import text_of
from tritonaudit.simulator.operator_mode import OperatorMode
from tritonaudit.simulator.torch_memory import allocates, storage_address
from tritonaudit.suites.calling import How, Lost, Observed, Ran, Result, is_same
from tritonaudit.suites.late import Late
from tritonaudit.suites.provenance import POISON
from tritonaudit.suites.snapshots import copies, digests, storages_in
from tritonaudit.suites.written import may_find_storages, storages_found, storages_written

_LONGER, _LONGEST = 1e-5, 1e-2
"""Seconds by which each pause is longer than the one before, up to the longest: who waits for long computes nothing."""
_CONNECTIONS = "CUDA_DEVICE_MAX_CONNECTIONS"
"""Queues of the GPU's that streams are spread over. Each takes time to bring up, one process after the other."""
_LATE = 1 << 27
"""Cycles, nearly a tenth of a second: longer than whoever reads a result at once is slower."""


class NeedsStreams(BaseException):
    """A launch on another stream than the caller's, on a GPU where all of them wait for each other."""


class Gpu:
    """Executes launches on the GPU of this process.

    With `streams` each has a queue of its own there, as far as there are some. Without, the GPU is brought up in half
    of the time, and is outgrown by what makes a stream.
    """

    is_engine = False

    def __init__(self, *, streams: bool = False) -> None:
        self._has_streams = streams or _CONNECTIONS in os.environ
        with nullcontext() if self._has_streams else _one_connection():
            self.name = str(torch.cuda.get_device_name())
            torch.empty(1, device="cuda")  # by what the process may open now, which later it may not
        self.lost: Lost | None = None
        self.is_outgrown = False
        torch.set_num_threads(1)  # so that the processor's time is that of the call
        if not self._has_streams:
            self._watch_streams()

    def _watch_streams(self) -> None:
        make = torch.cuda.Stream.__new__

        def made(cls: Any, *args: Any, **kwargs: Any) -> Any:
            self.is_outgrown |= "stream_id" not in kwargs
            return make(cls, *args, **kwargs)

        torch.cuda.Stream.__new__ = made

    @contextmanager
    def observing(self, how: How) -> Iterator[Observed]:
        """While this lasts, launches are waited for, and what they show is kept; `how.order` cannot be chosen here."""
        poison = _Poison()
        before = JITFunction.run, Autotuner.run
        observed = _Observed(poison, before[0])
        JITFunction.run, Autotuner.run = self._launching(before[0], observed, how.is_watched), run_configs
        try:
            with recording(Recorder("", chosen=how.config, front_end=False)), poison:
                yield observed
        finally:
            JITFunction.run, Autotuner.run = before

    def _launching(self, launch: Callable[..., Any], observed: _Observed, is_watched: bool) -> Callable[..., Any]:
        def run(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            reach_of(function)
            given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
            is_kept = is_watched and not warmup
            storages, by_number = (storages_in(given), storages_found(given)) if is_kept else ({}, {})
            held = digests({**by_number, **storages})
            is_aside = torch.cuda.current_stream() != observed.caller
            if is_aside and not self._has_streams:
                self.is_outgrown = True
                raise NeedsStreams
            result = launch(function, *args, grid=grid, warmup=warmup, **kwargs)
            if warmup or is_gluon(function):
                return result
            observed.is_aside |= is_aside
            made, bound = recorded_launch(function, args, kwargs, grid)
            left: dict[int, torch.Tensor] = {}
            began = time.monotonic()
            try:
                _wait()
            except RuntimeError as error:
                observed.failure = error
                self.lost = Lost(made.kernel, f"the GPU ends it: {_words(error)}")
                raise
            except Late as error:
                seconds = time.monotonic() - began
                if seconds < error.seconds / 2:  # it is not the GPU that takes so long
                    raise
                self.lost = Lost(made.kernel, f"the GPU is busy with it for more than {seconds:.0f} s")
                raise Late(error.seconds, waits=True, computes=False) from error
            finally:
                written, may_find = _written(made, bound, result)
                storages = {**by_number, **storages} if may_find else storages
                if self.lost is None:
                    left = copies(storages, written)
                held = {address: held[address] for address in storages}
                sizes = {address: storage.nbytes() for address, storage in storages.items()}
                observed.ran.append(Ran(made, (), written, held=held, sizes=sizes, left=left))
            return result

        return run


@contextmanager
def _one_connection() -> Iterator[None]:
    """For what brings up the GPU meanwhile; the user's code never sees it."""
    os.environ[_CONNECTIONS] = "1"
    try:
        yield
    finally:
        del os.environ[_CONNECTIONS]


def _wait() -> None:
    """Until all launches have ended; from a call that waits no signal handler could raise what ends a case."""
    launched = torch.cuda.Event()
    launched.record()
    pause = 0.0
    while not launched.query():
        time.sleep(pause)
        pause = min(pause + _LONGER, _LONGEST)
    torch.cuda.synchronize()


def _words(error: RuntimeError) -> str:
    """What CUDA says, without its advice."""
    return text_of(error).partition(". ")[0].partition(" Search ")[0]


class _Observed(Observed):
    def __init__(self, poison: _Poison, launch: Callable[..., Any]) -> None:
        super().__init__()
        self._poison, self._launch = poison, launch
        self.caller = torch.cuda.current_stream()
        self.is_aside = False
        """Whether anything was launched on another stream than the caller's."""

    def on_their_way(self, results: Sequence[Result], again: Callable[[], Sequence[Result]]) -> tuple[str, ...] | None:
        """Where a launch on another stream comes late, its results are others for who reads them on the caller's."""
        if not self.is_aside:
            return ()

        def late(function: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.cuda.current_stream() != self.caller:
                torch.cuda._sleep(_LATE)
            return self._launch(function, *args, **kwargs)

        watching, JITFunction.run = JITFunction.run, late
        try:
            found = again()
            with torch.cuda.stream(self.caller):
                early = [result.tensor.clone() for result in found]
            torch.cuda.synchronize()
            pairs = zip(found, early, strict=True)
            return tuple(result.name for result, one in pairs if not is_same(one, result.tensor))
        except Exception:
            return None
        finally:
            JITFunction.run = watching

    def unwritten(self, tensor: torch.Tensor) -> torch.Tensor | None:
        found = self._poison.left_in(tensor)
        return found if found is not None and bool(found.any()) else None


class _Poison(OperatorMode):
    """Fills what is allocated and not written with what nobody computes."""

    def __init__(self) -> None:
        super().__init__()
        self._filled: dict[int, torch.Tensor] = {}

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        result = function(*args, **kwargs)
        if allocates(function) and isinstance(result, torch.Tensor) and result.is_cuda and result.numel():
            _bytes(result).fill_(_poison_of(result))
            self._filled[storage_address(result)] = result
        return result

    def left_in(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The elements that still hold the poison; None where that is unknown: of single bytes any may be meant."""
        filled = self._filled.get(storage_address(tensor))
        if filled is None or tensor.element_size() == 1 or tensor.dtype != filled.dtype:
            return None
        value = _poison_of(filled)
        return (
            tensor.clone(memory_format=torch.contiguous_format).view(torch.uint8).reshape(*tensor.shape, -1) == value
        ).all(-1)


def _poison_of(tensor: torch.Tensor) -> int:
    return POISON[not tensor.is_floating_point()]


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The storage of a tensor, byte by byte."""
    storage = tensor.untyped_storage()
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage, 0, (storage.nbytes(),))


def _written(
    launch: Launch, bound: Mapping[str, Any], compiled: Any
) -> tuple[Mapping[int, tuple[str, int, int]], bool]:
    """Where the launch writes, as far as its TTIR tells, and whether it may find its way to memory by numbers."""
    text = getattr(compiled, "asm", {}).get("ttir")
    if not text:
        return {}, True
    try:
        whole = replace(launch, program=Program("", text, ()))
        found = storages_written(whole, bound)
        return {address: one.place for address, one in found.items()}, may_find_storages(whole)
    except Exception:  # a text that the engine cannot read costs the line, not the audit
        return {}, True
