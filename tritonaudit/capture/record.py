"""Records every launch that host code makes, as Triton itself specialises it; nothing is launched."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
import triton
import triton.compiler
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from tritonaudit.absent.kernels import raise_if_absent, reach_of
from tritonaudit.capture.device import tell_apart
from tritonaudit.capture.front_end import Built, build
from tritonaudit.capture.launch import KernelRef, Launch, Program, SourceError, TensorArgument
from tritonaudit.capture.siblings import options_beside


@dataclass
class Recorder:
    """What a call of a wrapper is recorded into.

    `subject` and `case` name the call. `configs` bounds how many of an autotuner's configs are tried (None: all of
    them); `front_end` says whether the program of each launch is wanted, or its specialisation alone. `refused` are
    the launches that Triton refuses before it compiles them. `gluon` are the launched kernels, by name, that are
    written in Gluon, whose front end makes no TTIR. `options` take the place of what Triton makes of the target. Of an
    autotuner's configs the one of that number is tried where one is `chosen`; beyond the last they start over. Where it
    `raises`, host code is told what Triton refuses, and may have another way.
    """

    target: str
    case: str = ""
    configs: int | None = None
    front_end: bool = True
    subject: str = ""
    launches: list[Launch] = field(default_factory=list)
    refused: list[Launch] = field(default_factory=list)
    gluon: dict[str, KernelRef] = field(default_factory=dict)
    execute: Callable[[Launch, Mapping[str, Any]], None] | None = None
    config: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    chosen: int | None = None
    raises: bool = False
    _known: set[Launch] = field(default_factory=set)

    def add(self, launch: Launch) -> None:
        """Keep a launch, unless it repeats one: an autotuner's winner is launched again without its config's name."""
        if launch not in self._known:
            self.launches.append(launch)
        self._known |= {launch, replace(launch, config="")}


_active: Recorder | None = None


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Launches go to the recorder while this lasts."""
    global _active
    before, _active = _active, recorder
    try:
        yield recorder
    finally:
        _active = before


def install() -> None:
    """Make Triton record launches instead of making them, for the rest of the process."""
    JITFunction.run = _run
    Autotuner.run = run_configs
    triton.compiler.compile = _compile


@contextmanager
def installed() -> Iterator[None]:
    """Make Triton record launches instead of making them while this lasts."""
    before = JITFunction.run, Autotuner.run, triton.compiler.compile
    install()
    try:
        yield
    finally:
        JITFunction.run, Autotuner.run, triton.compiler.compile = before


@dataclass(frozen=True)
class Noted:
    """The kernels that were launched, and those of them whose launches nobody executed."""

    launched: set[KernelRef] = field(default_factory=set)
    idle: set[KernelRef] = field(default_factory=set)


@contextmanager
def noting() -> Iterator[Noted]:
    """Note which kernels are launched while this lasts, wherever their launches go."""
    noted, before = Noted(), JITFunction.run

    def run(function: Any, *args: Any, **kwargs: Any) -> Any:
        noted.launched.add(kernel_ref(function))
        if before is _run and _active is None:
            noted.idle.add(kernel_ref(function))
        return before(function, *args, **kwargs)

    JITFunction.run = run
    try:
        yield noted
    finally:
        JITFunction.run = before


class StandInTensor:
    """A tensor as Triton's specialisation sees it: its storage begins at an aligned address, as an allocator's does."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.dtype, self.shape = tensor.dtype, tensor.shape
        self._tensor = tensor
        self._offset: int = tensor.storage_offset() * tensor.element_size()

    def data_ptr(self) -> int:
        return (1 << 20) + self._offset

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tensor, name)


class Specialised:
    """What compiling a kernel gives here: the source that Triton made of the call, and its program on demand."""

    def __init__(self, source: Any, target: Any, options: dict[str, Any]) -> None:
        self.source = source
        self._target = target
        self._options = options
        self._beside = options_beside(options)
        self._built: Built | None = None
        # Host code that sizes its grid by the kernel's needs finds plausible ones.
        self.n_regs, self.n_spills, self.function, self.packed_metadata = 32, 0, None, ()
        self._metadata = SimpleNamespace(shared=0, name=source.name, target=target, **options)

    @property
    def metadata(self) -> SimpleNamespace:
        return tell_apart(self._metadata)

    def built(self, name: str, options: Mapping[str, Any]) -> Built:
        if self._built is None:
            self._built = build(self.source, self._target, name, self._options, options, self._beside)
        return self._built

    def result(self) -> Specialised:
        return self

    def launch_metadata(self, *_: Any) -> None:
        """Nothing is launched."""

    def run(self, *_: Any) -> None:
        """Nothing is launched."""

    def _init_handles(self) -> None:
        """There is no binary to load."""

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return lambda *_, **__: None


def _compile(source: Any, target: Any = None, options: Any = None, **_: Any) -> Specialised:
    return Specialised(source, target, dict(options or {}))


_jit_run = JITFunction.run
_TRITON = os.path.join(os.path.dirname(os.path.abspath(triton.__file__)), "")
_REFUSALS = (TypeError, ValueError, KeyError, AssertionError)


def _run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
    if _active is None:
        return None
    reach_of(self)
    if is_gluon(self):
        _active.gluon[self.__name__] = kernel_ref(self)
        return None
    standins = [_stand_in(value) for value in args]
    options = {name: _stand_in(value) for name, value in kwargs.items()}
    try:
        with _compiled_here(self):
            result = _jit_run(self, *standins, grid=grid, warmup=True, **options)
    except _REFUSALS as error:
        if not _is_triton(error):
            raise
        raise_if_absent(self)
        _refuse(_active, self, " ".join(str(error).split()))
        if _active.raises:
            raise
        return None
    if isinstance(result, Specialised):
        bound = _bound(self, args, kwargs)
        _check_pointers(bound)
        launch = _record(_active, self, result, bound, _grid(grid, bound))
        if _active.execute is not None and not warmup:
            _active.execute(launch, bound)
    return result


def _check_pointers(bound: Mapping[str, Any]) -> None:
    """Raise RuntimeError for a tensor that a GPU could not be pointed to, as torch does once Triton asks it to."""
    for name, value in bound.items():
        if isinstance(value, torch.Tensor) and value.layout != torch.strided:
            raise RuntimeError(f"`{name}` is a tensor of the layout {value.layout}, which has no memory to point to")


@contextmanager
def _compiled_here(function: Any) -> Iterator[None]:
    """A jit function that was launched on a GPU before, or will be, keeps for that the compiler that it had then."""
    before = vars(function).get("compile")
    if before is not None:
        function.compile = _compile
    try:
        yield
    finally:
        if before is not None:
            function.compile = before


def _is_triton(error: BaseException) -> bool:
    """Whether Triton itself raises it, and no hook or argument of the user's."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code.co_filename.startswith((_TRITON, "<"))


def _refuse(recorder: Recorder, function: Any, message: str) -> None:
    """Note a launch that fails on every GPU of the target, with what Triton says."""
    kernel = kernel_ref(function)
    error = tell_apart(SourceError(message, kernel.path, kernel.line, 1))
    refused = Launch(
        kernel=kernel,
        target=recorder.target,
        case=recorder.case,
        config=recorder.config,
        grid=None,
        signature=(),
        arguments=(),
        specialisation=(),
        error=error,
        subject=recorder.subject,
    )
    if refused not in recorder.refused:
        recorder.refused.append(refused)


def _stand_in(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return StandInTensor(value)
    if type(value) is tuple:
        return tuple(map(_stand_in, value))
    return value


def _bound(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The kernel's arguments by name, defaults included."""
    names = set(function.signature.parameters)
    call = function.signature.bind(*args, **{name: value for name, value in kwargs.items() if name in names})
    call.apply_defaults()
    return dict(call.arguments)


def _grid(grid: Any, bound: dict[str, Any]) -> tuple[int, int, int] | None:
    axes = grid(bound) if callable(grid) else grid
    axes = axes if isinstance(axes, (tuple, list)) else (axes,)
    try:
        sizes = [int(axis) for axis in axes]
    except (TypeError, ValueError, RuntimeError):
        return None
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return (x, y, z)


def recorded_launch(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], grid: Any
) -> tuple[Launch, Mapping[str, Any]]:
    """A launch as host code makes it on a GPU, without its program, and its arguments by name."""
    bound = _bound(function, args, kwargs)
    constexprs = {param.name for param in function.params if param.is_constexpr}
    signature = [(name, "constexpr" if name in constexprs else "") for name in function.arg_names]
    ones = [(name, "one") for name, value in bound.items() if _is_one(function, name, value)]
    return _launch(_active or Recorder(""), function, bound, _grid(grid, bound), signature, ones), bound


def _is_one(function: Any, name: str, value: Any) -> bool:
    """Whether Triton made a constant of a parameter because it was 1."""
    parameter = next(param for param in function.params if param.name == name)
    is_specialised = not (parameter.is_constexpr or parameter.do_not_specialize)
    return type(value) is int and value == 1 and is_specialised


def _record(
    recorder: Recorder, function: Any, made: Specialised, bound: dict[str, Any], grid: tuple[int, int, int] | None
) -> Launch:
    built = made.built(recorder.target, recorder.options) if recorder.front_end else None
    outcome = built.outcome if built else None
    signature, taken_for_granted = _signature(function, made.source), _specialisation(function, made.source)
    if isinstance(outcome, SourceError):
        raise_if_absent(function)
    launch = replace(
        _launch(recorder, function, bound, grid, signature, taken_for_granted),
        program=outcome if isinstance(outcome, Program) else None,
        error=outcome if isinstance(outcome, SourceError) else None,
        warnings=built.warnings if built else (),
    )
    recorder.add(launch)
    return launch


def _launch(
    recorder: Recorder,
    function: Any,
    bound: Mapping[str, Any],
    grid: tuple[int, int, int] | None,
    signature: Sequence[tuple[str, str]],
    specialisation: Sequence[tuple[str, str]],
) -> Launch:
    """What host code and Triton's specialisation tell of a launch, without its program."""
    storages: dict[int, int] = {}
    return Launch(
        kernel=kernel_ref(function),
        target=recorder.target,
        case=recorder.case,
        config=recorder.config,
        grid=grid,
        signature=tuple(signature),
        arguments=tuple((name, _argument(value, storages)) for name, value in bound.items()),
        specialisation=tuple(specialisation),
        subject=recorder.subject,
    )


def is_gluon(function: Any) -> bool:
    """Whether a jit function is written in Gluon; Triton knows it since 3.4."""
    return bool(getattr(function, "is_gluon", bool)())


@cache
def kernel_ref(function: Any) -> KernelRef:
    """Where a jit function's `def` stands."""
    lines, first = inspect.getsourcelines(function.fn)
    offset = next((i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def "))), 0)
    name = function.fn.__qualname__.replace("<locals>.", "")
    return KernelRef(function.fn.__code__.co_filename, name, first + offset)


def _signature(function: Any, source: Any) -> tuple[tuple[str, str], ...]:
    """Every parameter with its type; what was specialised to a constant keeps the type that it was passed with."""
    return tuple((name, str(_plain(source.signature.get(name, "constexpr")))) for name in function.arg_names)


def _plain(kind: Any) -> Any:
    """A tuple's types without the tuple's own type."""
    return tuple(map(_plain, kind)) if isinstance(kind, tuple) else kind


def _argument(value: Any, storages: dict[int, int]) -> Any:
    if isinstance(value, torch.Tensor):
        storage = storages.setdefault(value.untyped_storage()._cdata, len(storages))
        strides = value.stride()
        dtype = str(value.dtype).removeprefix("torch.")
        return TensorArgument(dtype, tuple(value.shape), tuple(strides), value.storage_offset(), storage)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    base = getattr(value, "base", None)
    if isinstance(base, torch.Tensor):
        return _argument(base, storages)
    inner = getattr(value, "value", None)
    return inner if isinstance(inner, (bool, int, float, str)) else str(value)


def _specialisation(function: Any, source: Any) -> tuple[tuple[str, str], ...]:
    """What Triton took for granted of the arguments: `divisible` by 16, `one`."""
    constexprs = {param.name for param in function.params if param.is_constexpr}
    found = {(name, "divisible") for name in _divisible(function, source) if name not in constexprs}
    for key, value in source.constants.items():
        name = key if isinstance(key, str) else function.arg_names[key[0]]
        if name not in constexprs and value == 1 and (isinstance(key, str) or len(key) == 1):
            found.add((name, "one"))
    return tuple(sorted(found))


def _divisible(function: Any, source: Any) -> list[str]:
    properties = getattr(source.attrs, "arg_properties", None)
    if properties is not None:  # 3.2
        return [function.arg_names[index] for index in properties.get("tt.divisibility", ())]
    return [
        function.arg_names[path[0]]
        for path, hints in source.attrs.items()
        if any(list(hint) == ["tt.divisibility", 16] for hint in hints)
    ]


def run_configs(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Every config that is left after pruning, each with its own hook, in place of the fastest.

    What the user's code raises for one of them, a hook or a heuristic, is raised when the others have had their turn.
    """
    if _active is None:
        return None
    self.best_config = self.configs[0]
    if conflicts := [name for name in kwargs if any(name in config.kwargs for config in self.configs)]:
        names = ", ".join(f"`{name}`" for name in conflicts)
        _refuse(_active, _innermost(self), f"the launch passes {names}, which the configs of its autotuner set")
        return None
    self.nargs = dict(zip(self.arg_names, args, strict=False))
    result = failure = None
    try:
        for config in _tried(list(self.prune_configs(kwargs)), _active):
            self.best_config = config
            _active.config = _config_label(config, self.configs)
            try:
                result = _run_config(self, config, args, kwargs)
            except Exception as error:
                failure = failure or error
    finally:
        _active.config = ""
        self.nargs = None
    if failure is not None:
        raise failure
    return result


def _run_config(self: Any, config: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    options = config.all_kwargs()
    if config.pre_hook is not None:
        config.pre_hook({**self.nargs, **kwargs, **options})
    return self.fn.run(*args, **kwargs, **options)


def _innermost(function: Any) -> Any:
    """The jit function inside autotuners and heuristics."""
    return function if isinstance(function, JITFunction) else _innermost(function.fn)


def _tried(configs: list[Any], recorder: Recorder) -> list[Any]:
    if recorder.chosen is not None and configs:
        return [configs[recorder.chosen % len(configs)]]
    return _spread(configs, recorder.configs)


def _spread(configs: list[Any], most: int | None) -> list[Any]:
    """At most so many of them, evenly spread from the first to the last."""
    if most is None or len(configs) <= most:
        return configs
    step = (len(configs) - 1) / max(most - 1, 1)
    return [configs[round(step * position)] for position in range(most)]


def _config_label(config: Any, among: Sequence[Any]) -> str:
    """`BLOCK_M=64 BLOCK_N=64 num_warps=4 num_stages=3`, and what else tells it from the others."""
    options = config.all_kwargs()
    named = [*config.kwargs, "num_warps", "num_stages"]
    others = dict.fromkeys(name for other in among for name in other.all_kwargs() if name not in named)
    distinguishing = [name for name in others if len({repr(other.all_kwargs().get(name)) for other in among}) > 1]
    return " ".join(f"{name}={options[name]}" for name in (*named, *distinguishing) if name in options)
