"""A process in which torch takes stand-in tensors for those of a GPU that is not there.

What belongs on the GPU is made on the meta device, which has shapes and strides but no data, or on the CPU where host
code reads values. The wrapper under audit sees `cuda:0`. It lasts for the rest of the process: only workers call it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from tritonaudit.capture import streams
from tritonaudit.capture.defaults import stand_in_defaults
from tritonaudit.capture.device import Device, multiprocessors_reported, tell_apart
from tritonaudit.capture.streams import Stream


class Host(Enum):
    """Where stand-in tensors live: without data, or with data that host code may read."""

    META = "meta"
    CPU = "cpu"


class DataRead(Exception):
    """Host code read a value of a tensor that has no data."""


_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_GPU = torch.device("cuda", 0)
_READS = frozenset(
    ("item", "tolist", "__bool__", "__int__", "__float__", "__index__", "numpy", "__array__", "nonzero", "unique")
)
_PRODUCTS = frozenset(
    ("matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "addmm", "baddbmm", "einsum", "linear", "conv1d", "conv2d")
) | {"scaled_dot_product_attention"}
_EMPTY = frozenset(("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided"))
_HEEDED = _READS | _PRODUCTS | _EMPTY | {"cuda", "to", "cpu", "type", "get_device", "pin_memory"}
"""What is another thing on a GPU even without keywords."""


class _OnStandIn(TorchFunctionMode):  # type: ignore[misc]
    """Sends everything meant for the GPU to the host."""

    @property
    def _host(self) -> str:
        return _current.host.value

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if not kwargs and name not in _HEEDED:
            return func(*args)
        kwargs = dict(kwargs or {})
        if _is_gpu(kwargs.get("device")):
            kwargs["device"] = self._host
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        if name == "cuda":
            return args[0].to(self._host)
        to_host = name == "to" and any(_is_device(a) and not _is_gpu(a) for a in (*args[1:], kwargs.get("device")))
        if to_host:
            streams.host_reads()
        if name in ("to", "cpu", "type"):
            args, kwargs = self._moved(name, args, kwargs)
            if name == "cpu":
                streams.host_reads()
                return args[0].clone()
        if name == "get_device":
            return 0
        if name == "pin_memory":
            return args[0]
        if name in _READS and any(isinstance(a, torch.Tensor) and _real_device(a).type == "meta" for a in args):
            raise DataRead(f"host code reads the data of a tensor on the GPU (`{name}`)")
        if name in _READS:
            streams.host_reads()
        if name in _PRODUCTS and self._host == "cpu":
            return _in_single(func, args, kwargs)
        result = func(*args, **kwargs)
        if to_host and result is args[0]:  # a GPU's memory is not the host's
            return result.clone()
        if name in _EMPTY and self._host == "cpu" and isinstance(result, torch.Tensor):
            _zero_unseen(result)
        return result

    def _moved(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a conversion, with the GPU replaced; what has no data stays where it is."""
        places = [self._host if _is_gpu(a) else a for a in args]
        if _real_device(args[0]).type == "meta" and name == "to":
            places = ["meta" if _is_device(a) else a for a in places]
            if _is_device(kwargs.get("device")):
                kwargs["device"] = "meta"
        kwargs.pop("non_blocking", None)
        return tuple(places), kwargs


def _in_single(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A product of float16 as a GPU computes it, in float32: a CPU without such instructions takes minutes for it."""
    given = [value for value in tree_leaves((args, kwargs)) if isinstance(value, torch.Tensor)]
    if {value.dtype for value in given if value.is_floating_point()} != {torch.float16}:
        return func(*args, **kwargs)
    target = kwargs.pop("out", None)
    args, kwargs = tree_map(_widened, (args, kwargs))
    result = func(*args, **kwargs).half()
    return result if target is None else target.copy_(result)


def _widened(value: Any) -> Any:
    return value.float() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _zero_unseen(tensor: torch.Tensor) -> None:
    """What nobody has written is read as zeros, in every run the same; whoever watches for writes sees none."""
    with _disable_current_modes():
        tensor.zero_()


def _is_device(value: Any) -> bool:
    if isinstance(value, torch.device):
        return True
    return isinstance(value, str) and value.split(":")[0] in ("cuda", "cpu", "meta")


def _is_gpu(value: Any) -> bool:
    """Whether a `device` argument names the GPU: "cuda:0", a torch.device, or a number."""
    if isinstance(value, torch.device):
        return bool(value.type == "cuda")
    if isinstance(value, str):
        return value.split(":")[0] == "cuda"
    return isinstance(value, int) and not isinstance(value, bool)


_BASE: Any = torch._C.TensorBase
_device_of = _BASE.device.__get__


def _real_device(tensor: torch.Tensor) -> torch.device:
    # With a mode at work, torch would look the attribute up again and find what we show in its place.
    with torch._C.DisableTorchFunction():
        return _device_of(tensor)


def _from_torch() -> bool:
    """Whether the code that asks is torch's own, which must see where a tensor really is."""
    return sys._getframe(2).f_code.co_filename.startswith(_TORCH)


def _on_gpu(tensor: torch.Tensor) -> bool:
    return bool(_real_device(tensor).type == _current.host.value)


def _shown_device(tensor: torch.Tensor) -> torch.device:
    return _real_device(tensor) if _from_torch() or not _on_gpu(tensor) else _GPU


def _shown_is_cuda(tensor: torch.Tensor) -> bool:
    return not _from_torch() and _on_gpu(tensor)


@dataclass
class _Current:
    host: Host = Host.META


_current = _Current()


def stand_in_tensors(device: Device) -> None:
    """Make torch take tensors on the meta device for tensors of `device`, for the rest of the process."""
    torch.Tensor.device = property(_shown_device)
    torch.Tensor.is_cuda = property(_shown_is_cuda)
    torch.Tensor.record_stream = _nothing()  # no memory is given to others before all streams are done with it
    _stand_in_cuda(device)
    _stand_in_command(device)
    stand_in_defaults()
    _plain_compilation()
    _stand_in_backwards()
    _OnStandIn().__enter__()


def standing_in_thread() -> contextlib.AbstractContextManager[Any]:
    """While this lasts, this thread takes stand-in tensors for the GPU's: only the one that began does so by itself."""
    mode: contextlib.AbstractContextManager[Any] = _OnStandIn()
    return mode


@contextlib.contextmanager
def tensors_on(host: Host) -> Iterator[None]:
    """Where stand-in tensors are made while this lasts."""
    before, _current.host = _current.host, host
    try:
        yield
    finally:
        _current.host = before


def _stand_in_cuda(device: Device) -> None:
    """`torch.cuda` (and `torch.version`) as they are on the device."""
    properties = _properties(device)
    Stream.device = _GPU
    answers: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_capability": lambda *_: tell_apart(device.capability),
        "get_device_properties": lambda *_: tell_apart(properties),
        "get_device_name": lambda *_: tell_apart(device.name),
        "current_stream": streams.current,
        "default_stream": lambda *_: streams.DEFAULT,
        "set_stream": streams.make_current,
        "synchronize": streams.synchronize,
        "mem_get_info": lambda *_: tell_apart((device.memory, device.memory)),
        "memory_stats": lambda *_: {},
        "is_current_stream_capturing": lambda: False,
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "initial_seed": torch.initial_seed,
        **{name: _nothing() for name in _WITHOUT_RESULT},
        **{name: lambda *_, **__: 0 for name in _MEMORY_IN_USE},
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    for name in ("device", "device_of", "_DeviceGuard"):
        setattr(torch.cuda, name, _NoContext)
    torch.cuda.stream, torch.cuda.Stream, torch.cuda.Event = streams.Current, Stream, streams.Event
    torch.Generator = _Generator
    torch.cuda.default_generators = (_DeviceGenerator(),)
    _stand_in_compiled_code()
    torch.version.cuda = "12.8" if device.target.backend == "cuda" else None
    torch.version.hip = "6.4" if device.target.backend == "hip" else None


def _stand_in_compiled_code() -> None:
    """What the code that `torch.compile` writes imports from the parts of torch that only a build for CUDA has."""
    torch._C._cuda_getCurrentRawStream = lambda _: streams.current().cuda_stream
    torch._C._dynamo.guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(
        size, stride, dtype=dtype, device=_GPU
    )


_WITHOUT_RESULT = (
    "init", "_lazy_init", "set_device", "empty_cache", "ipc_collect", "set_rng_state",
    "reset_peak_memory_stats", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
    "reset_max_memory_cached", "manual_seed", "manual_seed_all", "seed", "seed_all",
)  # fmt: skip
_MEMORY_IN_USE = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")

_STATIC_SHARED = (
    48 << 10
)  # of a block that does not opt in to more (CUDA C++ Programming Guide, "Compute Capabilities")


class _Properties(SimpleNamespace):
    def __init__(self, device: Device, **figures: Any) -> None:
        super().__init__(**figures)
        self._device = device

    @property
    def multi_processor_count(self) -> int:
        return multiprocessors_reported(self._device)


def _properties(device: Device) -> _Properties:
    """What `torch.cuda.get_device_properties` tells, but for what is not known of the device."""
    target = device.target
    warps = target.warps_per_multiprocessor
    figures = {
        "name": device.name,
        "major": device.capability[0],
        "minor": device.capability[1],
        "total_memory": device.memory,
        "warp_size": target.warp_size,
        "shared_memory_per_block": _STATIC_SHARED if target.backend == "cuda" else target.shared_per_block,
        "shared_memory_per_block_optin": target.shared_per_block,
        "shared_memory_per_multiprocessor": target.shared_per_multiprocessor,
        "regs_per_multiprocessor": target.registers_per_multiprocessor,
        "max_threads_per_multi_processor": None if warps is None else warps * target.warp_size,
        "gcnArchName": str(target.arch),
    }
    return _Properties(device, **{name: figure for name, figure in figures.items() if figure is not None})


_SMI = {"cuda": "nvidia-smi", "hip": "rocm-smi"}


def _stand_in_command(device: Device) -> None:
    """The vendor's command that lists the GPUs, for host code that runs it to learn what there is.

    It is written to a folder of the user's own, which every worker shares: workers end without a chance to tidy up.
    """
    folder = Path(tempfile.gettempdir()) / f"tritonaudit-{os.getuid()}" / str(device.target.arch)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.parent.stat().st_uid != os.getuid():
        return
    command = folder / _SMI[device.target.backend]
    unfinished = command.with_suffix(f".{os.getpid()}")
    unfinished.write_text(f"#!/bin/sh\necho '{device.name}'\n", encoding="utf-8")
    unfinished.chmod(0o700)
    unfinished.replace(command)
    os.environ["PATH"] = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])


def _nothing() -> Callable[..., None]:
    """A function that takes anything and does nothing: one of its own each time, as torch's tables want them."""
    return lambda *_, **__: None


class _Generator(torch._C.Generator):  # type: ignore[misc]
    """A generator for the GPU makes its numbers on the CPU."""

    def __new__(cls, device: Any = "cpu") -> _Generator:
        return super().__new__(cls, "cpu" if _is_gpu(device) else device)  # type: ignore[no-any-return]


class _DeviceGenerator(_Generator):
    """The GPU's own generator, whose state is a seed and how many numbers were drawn: 16 bytes."""

    def __init__(self) -> None:
        self._offset = 0

    def get_state(self) -> torch.Tensor:
        words = torch.tensor([self.initial_seed(), self._offset], dtype=torch.uint64, device="cpu")
        return words.view(torch.uint8)

    def set_state(self, state: torch.Tensor) -> _DeviceGenerator:
        seed, offset = state.view(torch.uint64).tolist()
        self.manual_seed(seed)
        self._offset = offset
        return self

    def manual_seed(self, seed: int) -> _DeviceGenerator:
        super().manual_seed(seed)
        self._offset = 0
        return self

    def get_offset(self) -> int:
        return self._offset

    def set_offset(self, offset: int) -> None:
        self._offset = offset


class _NoContext(contextlib.ContextDecorator):
    """`with torch.cuda.device(…)`, where there is one device."""

    def __init__(self, *_: Any) -> None:
        self.idx = 0

    def __enter__(self) -> None:
        """There is nothing to switch."""

    def __exit__(self, *_: object) -> None:
        """There is nothing to restore."""


def _stand_in_backwards() -> None:
    """Autograd calls a user's `backward` where the mode of the calling code does not reach."""
    node: Any = torch.autograd.function.BackwardCFunction
    apply = node.apply

    def apply_on_stand_in(context: Any, *gradients: Any) -> Any:
        with _OnStandIn():
            return apply(context, *gradients)

    node.apply = apply_on_stand_in


def _plain_compilation() -> None:
    """Custom operators and compiled functions are called as they are written, so that their launches are seen."""

    def as_written(function: Any = None, **_: Any) -> Any:
        return (lambda wrapped: wrapped) if function is None else function

    torch.compile = as_written
    torch.library.custom_op = _but_for_torch(_plain_operator, torch.library.custom_op)
    for name, stand_in in (("triton_op", _plain_operator), ("wrap_triton", _same)):  # torch has them from 2.6 on
        setattr(torch.library, name, _but_for_torch(stand_in, getattr(torch.library, name, stand_in)))
    torch.library.register_fake = _but_for_torch(lambda *_, **__: _same, torch.library.register_fake)
    torch.library.register_autograd = _but_for_torch(_register_autograd, torch.library.register_autograd)


def _but_for_torch(stand_in: Callable[..., Any], real: Callable[..., Any]) -> Callable[..., Any]:
    """What takes a function's place, but for calls of torch's own: modules that are imported late define operators."""

    def called(*arguments: Any, **keywords: Any) -> Any:
        return (real if _from_torch() else stand_in)(*arguments, **keywords)

    return called


_operators: dict[str, _Operator] = {}


def _plain_operator(name: str, function: Any = None, /, **_: Any) -> Any:
    """`torch.library.custom_op` and `triton_op`: the function itself, also under `torch.ops`."""

    def define(function: Callable[..., Any]) -> _Operator:
        operator = _Operator(name, function)
        _operators[name] = operator
        namespace, _, short = name.partition("::")
        with contextlib.suppress(AttributeError):
            setattr(getattr(torch.ops, namespace), short, operator)
        return operator

    return define if function is None else define(function)


class _Operator:
    """A custom operator that runs its function, and its backward through autograd where it has one."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        self._function = function
        self._autograd: Any = None
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if self._autograd is None or keywords:
            return self._function(*arguments, **keywords)
        return self._autograd.apply(*arguments)

    @property
    def default(self) -> _Operator:
        return self

    @property
    def _schema(self) -> Any:
        signature = torch.library.infer_schema(self._function, mutates_args="unknown")
        return torch._C.parse_schema(f"{self._name}{signature}")

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, **_: Any
    ) -> None:
        def prepare(ctx: Any, inputs: Any, output: Any) -> None:
            if setup_context is not None:
                setup_context(ctx, inputs, output)

        members = {
            "forward": staticmethod(self._function),
            "setup_context": staticmethod(prepare),
            "backward": staticmethod(backward),
        }
        self._autograd = type(self._function.__name__, (torch.autograd.Function,), members)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("register_") or name in ("impl",):
            return lambda *arguments, **_: arguments[0] if len(arguments) == 1 and callable(arguments[0]) else _same
        raise AttributeError(name)


def _same(function: Any) -> Any:
    return function


def _register_autograd(name: Any, backward: Callable[..., Any], /, **options: Any) -> None:
    operator = name if isinstance(name, _Operator) else _operators.get(name)
    if operator is not None:
        operator.register_autograd(backward, setup_context=options.get("setup_context"))
