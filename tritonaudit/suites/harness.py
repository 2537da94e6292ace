"""Whether what an audit relies on is still what it was before the user's code ran. For worker processes."""

from __future__ import annotations

import builtins
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import triton
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from tritonaudit.suites.settings import Settings, changed, settings

_OF_TENSORS = (
    "__eq__", "__ne__", "__lt__", "__gt__", "__sub__", "__bool__", "__float__", "abs", "all", "any", "clone", "copy_",
    "data_ptr", "detach", "double", "eq", "equal", "isfinite", "isnan", "item", "max", "mean", "ne", "nonzero",
    "numel", "sub", "sum", "to", "tolist", "untyped_storage",
)  # fmt: skip
_OF_TORCH = (
    "abs", "allclose", "empty", "empty_like", "equal", "isclose", "isfinite", "isnan", "manual_seed", "max", "maximum",
    "randint", "randn", "stack", "sub", "tensor", "where", "zeros", "zeros_like",
)  # fmt: skip
_OF_CUDA = ("Event", "current_stream", "default_stream", "synchronize", "stream")
_OF_TIME = ("monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "sleep", "time", "time_ns")
_OF_THREADS = ("active_count", "enumerate")
_OF_TESTING = ("do_bench", "do_bench_cudagraph")
_OF_PYTHON = (
    "abs", "all", "any", "bool", "float", "int", "isinstance", "len", "max", "min", "range", "sum", "type", "zip",
)  # fmt: skip
_OWN = "tritonaudit"
_TORCH = os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "")
_INHERITED = object()
"""In the place of a method that a class has from another one."""


@dataclass(frozen=True)
class Replaced:
    """A function that is another one than it was, and where that one is defined, if Python can tell; or a setting."""

    name: str
    place: tuple[str, int] | None
    is_setting: bool = False


@dataclass(frozen=True)
class _Owner:
    """A module or a class: its functions as they were, and what each is called in a report."""

    owner: Any
    namespace: Mapping[str, Any]
    functions: dict[str, Any]
    shown: dict[str, str]

    @property
    def is_own(self) -> bool:
        """Whether it is ours, and no one else's."""
        return next(iter(self.shown.values())).partition(".")[0] == _OWN


class Harness:
    """Knows the functions that an audit relies on as they were when it was made: torch's, Triton's, our own."""

    def __init__(self) -> None:
        self.replaced: dict[Replaced, None] = {}
        """What was another function at some time."""
        self._owners: dict[int, _Owner] = {}
        for owner, shown, name, found in _relied_on():
            known = self._owners.setdefault(id(owner), _Owner(owner, vars(owner), {}, {}))
            known.functions[name] = found
            known.shown[name] = shown
        self._others = [owner for owner in self._owners.values() if not owner.is_own]
        self._codes = _codes(self._owners.values())
        self._codes_of_others = _codes(self._others)

    def repair(self) -> None:
        """Put back what is another function now, and note that it was."""
        self._repair(self._owners.values(), self._codes)

    def repair_others(self) -> None:
        """Do so for what is not ours, which are a hundred functions where ours are ten thousand."""
        self._repair(self._others, self._codes_of_others)

    def _repair(self, owners: Iterable[_Owner], codes: Iterable[tuple[Any, Any]]) -> None:
        for owner in owners:
            now = owner.namespace.get
            for name, before in owner.functions.items():
                if (after := now(name, _INHERITED)) is not before:
                    self._put_back(owner, name, before, after)
        for function, code in codes:
            if function.__code__ is not code:
                self.replaced[Replaced(self._shown(function), _place(function))] = None
                function.__code__ = code

    def _put_back(self, owner: _Owner, name: str, before: Any, after: Any) -> None:
        if _is_wrapped_by_torch(after, before):
            return
        self.replaced[Replaced(owner.shown[name], _place(after))] = None
        if before is _INHERITED:
            delattr(owner.owner, name)
        else:
            setattr(owner.owner, name, before)

    def _shown(self, function: Any) -> str:
        """What it is called in a report."""
        owned = ((one, name) for one in self._owners.values() for name in one.functions)
        return next(one.shown[name] for one, name in owned if one.functions[name] is function)


_remembered: Harness | None = None
_set: Settings = {}
"""As the user's code was to find it."""


def remember() -> None:
    """Take the functions that there are now for those that an audit of this process relies on."""
    global _remembered
    _remembered = Harness()


def repair() -> None:
    """Make them what they were; nothing where none were remembered."""
    if _remembered is not None:
        _remembered.repair()


def repair_others() -> None:
    """Make those of Python, torch and Triton what they were, which is so quick that it may follow each call."""
    if _remembered is not None:
        _remembered.repair_others()


def forget_replaced() -> None:
    """Forget what was replaced, since it is repaired, and take the settings that there are now for those to keep."""
    global _set
    _set = settings()
    if _remembered is not None:
        _remembered.repair()
        _remembered.replaced.clear()


def replaced() -> tuple[Replaced, ...]:
    """What had to be repaired since that was last forgotten, and settings that are others now."""
    functions = () if _remembered is None else tuple(_remembered.replaced)
    return (*functions, *(Replaced(name, None, is_setting=True) for name in changed(_set)))


def _is_wrapped_by_torch(after: Any, before: Any) -> bool:
    """Whether torch itself has put a function of its own around one, as it does once its compiler is imported."""
    code = _code(after)
    return code is not None and code.co_filename.startswith(_TORCH) and inspect.unwrap(after) is before


def _relied_on() -> Iterator[tuple[Any, str, str, Any]]:
    """What holds each function, its name in a report, its name there, and the function."""
    for owner, shown, names in (
        (torch.Tensor, "torch.Tensor", _OF_TENSORS),
        (torch, "torch", _OF_TORCH),
        (torch.testing, "torch.testing", ("assert_close",)),
        (torch.cuda, "torch.cuda", _OF_CUDA),
        (time, "time", _OF_TIME),
        (threading, "threading", _OF_THREADS),
        (builtins, "builtins", _OF_PYTHON),
        (triton.testing, "triton.testing", _OF_TESTING),
        (JITFunction, "triton.JITFunction", ("run",)),
        (Autotuner, "triton.Autotuner", ("run",)),
    ):
        for name in names:
            if hasattr(owner, name):
                yield owner, f"{shown}.{name}", name, vars(owner).get(name, _INHERITED)
    modules: Mapping[str, Any] = dict(sys.modules)
    for module_name, module in modules.items():
        if module is not None and module_name.partition(".")[0] == _OWN:
            yield from _own(module, module_name)


def _own(module: Any, shown: str) -> Iterator[tuple[Any, str, str, Any]]:
    """The functions of a module of ours, and those of its classes."""
    for name, found in list(vars(module).items()):
        if _is_own(found):
            yield module, f"{shown}.{name}", name, found
        if isinstance(found, type) and found.__module__ == module.__name__:
            for inner, method in list(vars(found).items()):
                if _is_own(method):
                    yield found, f"{shown}.{name}.{inner}", inner, method


def _is_own(found: Any) -> bool:
    return isinstance(found, Callable) and str(getattr(found, "__module__", "")).partition(".")[0] == _OWN  # type: ignore[arg-type]


def _codes(owners: Iterable[_Owner]) -> list[tuple[Any, Any]]:
    """Each function of theirs that is written in Python, once, with its code."""
    functions = {id(one): one for owner in owners for one in owner.functions.values()}
    return [(one, code) for one in functions.values() if (code := _code(one)) is not None]


def _code(found: Any) -> Any:
    return getattr(found, "__code__", None)


def _place(found: Any) -> tuple[str, int] | None:
    """The file and the line of a function that is written in Python."""
    code = _code(getattr(found, "__func__", found))
    return None if code is None else (code.co_filename, code.co_firstlineno)
