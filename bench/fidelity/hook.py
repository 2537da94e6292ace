"""Records launches while host code makes them on a GPU."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from bench.fidelity.recording import Recorded, bytes_of, save, storages_of
from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import standing_in
from tritonaudit.capture.launch import Launch
from tritonaudit.capture.record import Recorder, installed, is_gluon, kernel_ref, recording
from tritonaudit.simulator.engine import Argument
from tritonaudit.simulator.gpu_program import OPTIONS
from tritonaudit.simulator.live import arguments_of

TARGET = "sm_89"
"""As `tritonaudit.simulate` has it: all types, and pointers in place of tensor descriptors."""
_NUMBER = 1 << 20  # of a device that is not there
_ROOM = 4 << 30  # bytes that are left free

POISONED = 70
"""The exit code of a process whose GPU context a launch has broken."""


@dataclass(frozen=True)
class Caps:
    """Which launches are recorded: so many of each specialisation and of each kernel, of at most so many bytes."""

    specialisation: int = 3
    kernel: int = 32
    bytes: int = 32 << 20


@dataclass
class Hook:
    """Records into a folder what is launched; `left_out` counts the launches that are not recorded, by reason.

    `synchronize` waits for the GPU, and raises where a launch has broken it.
    """

    folder: Path
    source: str
    caps: Caps = Caps()
    synchronize: Callable[[], None] = torch.cuda.synchronize
    unit: str = ""
    left_out: Counter[str] = field(default_factory=Counter)
    _seen: Counter[Any] = field(default_factory=Counter)
    _numbers: Iterator[int] = field(default_factory=count)

    def install(self) -> None:
        """Record every launch from now on; an autotuner takes the first of its configs."""
        launch, tuned = JITFunction.run, Autotuner.run

        def run(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            call = _Call(launch, function, args, kwargs, grid)
            return call.run(warmup) if warmup or is_gluon(function) else self._launch(call)

        def run_first(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            tuner.configs = tuner.configs[:1]
            return tuned(tuner, *args, **kwargs)

        JITFunction.run, Autotuner.run = run, run_first

    def _launch(self, call: _Call) -> Any:
        bound = call.bound()
        storages = storages_of(_tensors(bound.values()))
        if reason := self._reason_to_leave_out(call, bound, storages):
            self.left_out[reason] += 1
            return call.run()
        ref = kernel_ref(call.function)
        recorded = Recorded(self.source, self.unit, ref.name, ref.path, ref.line)
        before = _copied(storages)
        result = call.run()
        try:
            self.synchronize()
        except RuntimeError as error:
            self._save(replace(recorded, crash=_words(error)), call, storages, before)
            os._exit(POISONED)
        after = _copied(storages)
        _restore(storages, before)
        call.run()
        self.synchronize()
        repeats = all(map(torch.equal, after, _copied(storages)))
        _restore(storages, after)
        self._save(replace(recorded, after=after, repeats=repeats), call, storages, before)
        return result

    def _reason_to_leave_out(self, call: _Call, bound: Mapping[str, Any], storages: list[torch.UntypedStorage]) -> str:
        if not storages:
            return "no tensors"
        if sum(storage.nbytes() for storage in storages) > self.caps.bytes:
            return f"more than {self.caps.bytes >> 20} MiB"
        if shutil.disk_usage(self.folder).free < _ROOM:
            return "no room on the disk"
        ref = kernel_ref(call.function)
        kernel = (ref.path, ref.line)
        specialisation = (*kernel, *call.specialisation(bound))
        self._seen[kernel] += 1
        self._seen[specialisation] += 1
        if self._seen[kernel] > self.caps.kernel or self._seen[specialisation] > self.caps.specialisation:
            return "enough of this kernel"
        return ""

    def _save(
        self, recorded: Recorded, call: _Call, storages: list[torch.UntypedStorage], before: list[torch.Tensor]
    ) -> None:
        copies = {storage._cdata: one.untyped_storage() for storage, one in zip(storages, before, strict=True)}
        args = [_on_cpu(value, copies) for value in call.args]
        kwargs = {name: _on_cpu(value, copies) for name, value in call.kwargs.items()}
        try:
            recorded = _with_program(recorded, captured(call.function, args, kwargs, call.grid), before)
        except Exception as error:  # of Triton's front end for another GPU, or of a hook of the user's
            recorded = replace(recorded, error=f"{type(error).__name__}: {_words(error)}", after=())
        save(recorded, self.folder / f"{os.getpid()}_{next(self._numbers):05}.pt")


@dataclass(frozen=True)
class _Call:
    """A launch as host code asks for it."""

    launch: Callable[..., Any]
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    grid: Any

    def run(self, warmup: bool = False) -> Any:
        return self.launch(self.function, *self.args, grid=self.grid, warmup=warmup, **self.kwargs)

    def bound(self) -> dict[str, Any]:
        """The kernel's arguments by name, defaults included."""
        signature = self.function.signature
        named = {name: value for name, value in self.kwargs.items() if name in signature.parameters}
        call = signature.bind(*self.args, **named)
        call.apply_defaults()
        return dict(call.arguments)

    def specialisation(self, bound: Mapping[str, Any]) -> tuple[Any, ...]:
        """What tells launches of a kernel apart: its text, types of arguments, values of constexprs, options."""
        constexprs = {param.name for param in self.function.params if param.is_constexpr}
        signature = tuple(
            repr(value) if name in constexprs else str(getattr(value, "dtype", type(value).__name__))
            for name, value in bound.items()
        )
        options = tuple(sorted((name, str(value)) for name, value in self.kwargs.items() if name not in bound))
        return self.function.cache_key, signature, options


def captured(function: Any, args: Any, kwargs: Any, grid: Any) -> tuple[Launch, list[Argument]]:
    """The launch as `tritonaudit.simulate` makes it, and the arguments that its program has.

    Clusters of thread blocks, which the target has not, change nothing of what a program computes.
    """
    kwargs = {name: value for name, value in kwargs.items() if name != "num_ctas" or name in function.arg_names}
    found: list[tuple[Launch, list[Argument]]] = []

    def keep(launch: Launch, bound: Mapping[str, Any]) -> None:
        found.append((launch, [] if launch.program is None else list(arguments_of(launch, bound))))

    recorder = Recorder(TARGET, configs=1, execute=keep, options=OPTIONS)
    with standing_in(device_for(TARGET), _NUMBER), installed(), recording(recorder):
        function.run(*args, grid=grid, warmup=False, **kwargs)
    if not found:
        [refused] = recorder.refused
        return refused, []
    return found[0]


def _with_program(recorded: Recorded, made: tuple[Launch, list[Argument]], before: list[torch.Tensor]) -> Recorded:
    """With the program, and the storages in the order in which its arguments have them."""
    launch, arguments = made
    if launch.program is None or launch.grid is None:
        error = launch.error.message if launch.error is not None else "its grid is unknown"
        return replace(recorded, error=" ".join(error.split()), after=())
    places = {one.untyped_storage()._cdata: place for place, one in enumerate(before)}
    order = [places[storage._cdata] for storage in storages_of(one.value for one in arguments)]
    after = [recorded.after[place] for place in order] if recorded.after else []
    return replace(
        recorded,
        ttir=launch.program.ttir,
        grid=launch.grid,
        arguments=arguments,
        after=after,
        options=launch.program.options,
        contracts=launch.program.contracts,
    )


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    """Tensors, also inside tuples, tensor descriptors and Triton's reinterpretations."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, tuple):
            yield from _tensors(value)
        elif hasattr(value, "base"):
            yield from _tensors((value.base,))


def _on_cpu(value: Any, copies: Mapping[int, torch.UntypedStorage]) -> Any:
    """The same argument on copies of its storages."""
    if isinstance(value, torch.Tensor):
        storage = copies[value.untyped_storage()._cdata]
        empty = torch.empty(0, dtype=value.dtype)
        return empty.set_(storage, value.storage_offset(), value.shape, value.stride())
    if isinstance(value, tuple):
        inner = [_on_cpu(one, copies) for one in value]
        return type(value)(*inner) if hasattr(value, "_fields") else tuple(inner)
    if next(_tensors((value,)), None) is None:
        return value
    base = _on_cpu(value.base, copies)
    return replace(value, base=base) if hasattr(value, "block_shape") else type(value)(base, value.dtype)


def _copied(storages: list[torch.UntypedStorage]) -> list[torch.Tensor]:
    """The bytes of storages, on the CPU."""
    return [bytes_of(storage).to("cpu", copy=True) for storage in storages]


def _restore(storages: list[torch.UntypedStorage], contents: list[torch.Tensor]) -> None:
    for storage, content in zip(storages, contents, strict=True):
        bytes_of(storage).copy_(content)


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
