"""Executes launches as host code makes them, so that what it does next sees their results."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import torch

from tritonaudit.capture.launch import Launch, Program
from tritonaudit.simulator.coincidence import Coincidences
from tritonaudit.simulator.engine import Argument, Outcome, Run, execute
from tritonaudit.simulator.faults import Fault
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.gpu_program import ttgir_of
from tritonaudit.simulator.ir import Function, Module
from tritonaudit.simulator.large import execute_large, has_absent
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.parse import parse_module


@dataclass(frozen=True)
class Executed:
    """A launch and what executing it showed."""

    launch: Launch
    outcome: Outcome

    @property
    def faults(self) -> tuple[Fault, ...]:
        return self.outcome.faults


class NoProgram(Exception):
    """The launch cannot be executed: Triton rejects the kernel, with the `error`, or its grid is not known."""

    def __init__(self, launch: Launch) -> None:
        super().__init__("its grid is not known" if launch.error is None else launch.error.message)
        self.launch = launch
        self.error = launch.error


class Refused(RuntimeError):
    """A launch that no GPU would take, though its kernel compiles."""


_MOST_PROGRAMS = ("x", (1 << 31) - 1), ("y", 65535), ("z", 65535)
"""Along each axis of a grid (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability")."""


def check_grid(launch: Launch) -> None:
    """Raise Refused for a grid that is too large."""
    if why := why_too_large(launch):
        raise Refused(why)


def why_too_large(launch: Launch) -> str:
    """Why no GPU takes the grid of a launch; nothing where one does."""
    for size, (axis, most) in zip(launch.grid or (), _MOST_PROGRAMS, strict=False):
        if size > most:
            return f"the grid has {size:,} programs along {axis}, and a GPU takes at most {most:,}"
    return ""


class Begun(NamedTuple):
    """What is executed of a launch."""

    program: Program
    module: Module
    grid: tuple[int, int, int]
    arguments: Sequence[Argument]


@contextmanager
def begun(launch: Launch, bound: Mapping[str, Any]) -> Iterator[Begun]:
    """What is to be executed of a launch on its arguments, where no operator of torch is watched.

    Raises NotSimulated, Refused, and NoProgram where there is nothing to execute.
    """
    check_grid(launch)
    if launch.error is not None or launch.program is None or launch.grid is None:
        raise NoProgram(launch)
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        module = module_of(launch.program.ttir)
        yield Begun(launch.program, module, launch.grid, arguments_of(launch, bound))


@dataclass
class Execution:
    """Executes what is launched, for as long as host code runs, and keeps what that shows.

    `as_gpu`: as an H100 computes, bit by bit, which is slower. Where it `is_tracked`, what nobody has written is kept
    track of though nothing is checked.
    """

    fresh: FreshMemory
    is_checked: bool = True
    as_gpu: bool = False
    order: Callable[[int], torch.Tensor | None] = lambda _: None
    tick: Callable[[], None] = lambda: None
    is_tracked: bool = False
    launches: list[Executed] = field(default_factory=list)
    _coincidences: Coincidences = field(default_factory=Coincidences)

    def launch(self, launch: Launch, bound: Mapping[str, Any]) -> None:
        """Execute one launch on its arguments.

        Raises NotSimulated, Refused, and NoProgram where there is nothing to execute.
        """
        with begun(launch, bound) as (program, module, grid, arguments):
            run = Run(
                self.is_checked,
                self.order(prod(grid)),
                self.fresh.undefined if self.is_checked or self.is_tracked else None,
                self.tick,
                contracts=program.contracts,
                as_gpu=self.as_gpu,
                ttgir=ttgir_of(program) if self.as_gpu else "",
            )
            if has_absent(arguments):
                outcome = execute_large(module, grid, arguments, run)
            else:
                outcome = execute(module, grid, arguments, run)
                outcome = self._coincidences.distinguished(outcome, module, grid, arguments, run)
        self.launches.append(Executed(launch, outcome))


_PLAIN = (torch.Tensor, int, float)
"""What is passed as it is."""


@lru_cache(maxsize=256)
def module_of(text: str) -> Module:
    """The module of a program's text."""
    return parse_module(text)


def arguments_of(launch: Launch, bound: Mapping[str, Any]) -> Sequence[Argument]:
    """The arguments that the program still has: neither constexprs, nor specialised to 1, nor None."""
    assert launch.program is not None
    kernel = module_of(launch.program.ttir).kernel
    gone = {name for name, hint in launch.specialisation if hint == "one"}
    found: list[Argument] = []
    for name, kind in launch.signature:
        if name not in bound or name in gone:
            continue
        given = bound[name]
        if isinstance(given, _PLAIN) and kind != "constexpr":
            found.append(Argument(name, given))
            continue
        kinds = literal_eval(kind) if kind.startswith("(") else kind
        for value in _leaves(given, kinds):
            found += [_argument(name, one) for one in _passed(value, kernel, len(found))]
    return found


def _leaves(value: Any, kind: Any) -> Iterator[Any]:
    """What is passed, of a tuple's elements each; constants are not."""
    if isinstance(kind, tuple):
        for inner, inner_kind in zip(value, kind, strict=True):
            yield from _leaves(inner, inner_kind)
    elif kind != "constexpr" and value is not None:
        yield value


def _passed(value: Any, kernel: Function, place: int) -> Sequence[Any]:
    """A value as the program takes it, from its parameter at that place on.

    A descriptor comes as its tensor, sizes and strides, its flags, which depend on the version, and sizes and strides
    once more.
    """
    tensor = _tensor(value)
    if tensor is value or not hasattr(value, "block_shape"):
        return [tensor]
    layout = [*value.shape, *value.strides]
    known = [getattr(value, "padding", None) == "nan", bool(getattr(value, "round_f32_to_tf32", False))]
    flags_at = place + 1 + len(layout)
    behind = [kernel.types[number].element for number in kernel.arguments[flags_at : flags_at + len(known)]]
    flags = [flag for flag, element in zip(known, behind, strict=False) if element == "i1"]
    return [tensor, *layout, *flags, *layout]


def _argument(name: str, value: Any) -> Argument:
    """A value under its parameter's name. For a pointer Triton takes whatever has a `data_ptr`."""
    if isinstance(value, _PLAIN) or not hasattr(value, "data_ptr"):
        return Argument(name, value)
    for held in (one for one in vars(value).values() if isinstance(one, torch.Tensor)):
        storage = held.untyped_storage()
        if 0 <= value.data_ptr() - storage.data_ptr() < storage.nbytes():
            return Argument(name, held, value.data_ptr() - held.data_ptr())
    raise NotSimulated(Unsupported("tt.func", f"`{name}`, which holds no tensor that it points into"), None)


def _tensor(value: Any) -> Any:
    """What a descriptor describes, and what a tensor of another type is a view of."""
    while not isinstance(value, _PLAIN) and hasattr(value, "base"):
        value = value.base
    return value
