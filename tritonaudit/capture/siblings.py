"""The targets beside its own that a process captures for, as long as nothing that it runs could tell them apart.

One vendor's GPUs differ for host code in what it is told when it asks, and for Triton's front end in the options of
its backend. Where neither has asked for what differs, a wrapper launches on all of them the same kernels
with the same TTIR, and only the options that the compiler is given differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

from tritonaudit.capture.device import are_apart, has_told_apart, tell_apart
from tritonaudit.capture.launch import Options, Sibling
from tritonaudit.hardware.targets import gpu_target

_STARTS = frozenset(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"))
"""Of other programs and processes, which could ask."""
_MISSING = object()


@dataclass
class _Siblings:
    backends: Mapping[str, Any] = field(default_factory=dict)
    parse: Callable[[dict[str, Any]], Any] = dict
    given: Mapping[str, Any] = field(default_factory=dict)
    options: dict[str, dict[Options, Options]] = field(default_factory=dict)


_siblings = _Siblings()


def serve(own: str, targets: Sequence[str]) -> None:
    """From now on note what could tell these targets from the process's own."""
    backends = {target: make_backend(_gpu(target)) for target in targets}
    _siblings.backends, _siblings.options = backends, {target: {} for target in targets}
    backend: Any = make_backend(_gpu(own))
    kind = type(backend)
    parse = kind.parse_options
    _siblings.parse = partial(parse, backend)

    def parse_noting(backend: Any, given: dict[str, Any]) -> Any:
        _siblings.given = dict(given)
        return parse(backend, given)

    kind.parse_options = parse_noting
    sys.addaudithook(_note)


def found() -> tuple[Sibling, ...]:
    """The targets that nothing has told from the process's own."""
    if has_told_apart():
        return ()
    return tuple(Sibling(target, tuple(options.items())) for target, options in _siblings.options.items())


def options_beside(own: Mapping[str, Any]) -> tuple[tuple[Any, Any], ...]:
    """The backend of each sibling with its options, of the launch for which the process's own were parsed last."""
    given, beside = dict(_siblings.given), []
    if _siblings.backends and vars(_siblings.parse(dict(given))) != own:  # something else was parsed meanwhile
        are_apart()
    for target, backend in () if has_told_apart() else _siblings.backends.items():
        try:
            parsed = backend.parse_options(dict(given))
        except Exception:  # it refuses there what it takes here
            are_apart()
            return ()
        theirs = _in_order(vars(parsed))
        if _siblings.options[target].setdefault(_in_order(own), theirs) != theirs:
            are_apart()
        beside.append((backend, parsed))
    return tuple(beside)


class Heeded:
    """Options as the front end reads them: what it reads tells targets apart whose options have another value there."""

    __slots__ = ("_options", "_others")

    def __init__(self, options: Any, others: Sequence[Any]) -> None:
        self._options, self._others = options, others

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._options, name)
        is_alike = all(getattr(other, name, _MISSING) == value for other in self._others)
        return value if is_alike else tell_apart(value)


def heeded_functions(functions: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The backend's part of the front end, where a function tells targets apart that have another in its place."""
    return {
        name: function
        if all(_is_same(function, other.get(name)) for other in others)
        else _telling(function)
        for name, function in functions.items()
    }  # fmt: skip


def heed_text(ttir: str) -> None:
    """Tell targets apart by a program that has tensor descriptors: older GPUs have none, and what is one is rewritten.

    Of Triton's TTIR passes for NVIDIA's GPUs no other depends on the target (3.2 to 3.9), and the process's own is the
    newest, which keeps them.
    """
    if "desc" in ttir:
        are_apart()


def _telling(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **keywords: tell_apart(function(*arguments, **keywords))


def _is_same(function: Any, other: Any) -> bool:
    """Whether they are one function, or made by one with nothing of the target in it."""
    code = getattr(function, "__code__", None)
    is_made_alike = code is not None and code is getattr(other, "__code__", None)
    return function is other or (is_made_alike and not function.__closure__)


def _note(event: str, _: Any) -> None:
    if event in _STARTS:
        are_apart()


def _in_order(options: Mapping[str, Any]) -> Options:
    return tuple(sorted(options.items()))


def _gpu(target: str) -> Any:
    known = gpu_target(target)
    return GPUTarget(known.backend, known.arch, known.warp_size)
