"""Makes, in a worker, the arguments of a call that was inferred."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import triton.language as tl

from tritonaudit import usual
from tritonaudit.capture.inferred import Argument, ArgumentKind, FunctionName, InferredCall
from tritonaudit.host.values import Dtype

_NAMES = {
    "float8_e4m3fn": "float8e4nv",
    "float8_e5m2": "float8e5",
    "float8_e4m3fnuz": "float8e4b8",
    "float8_e5m2fnuz": "float8e5b16",
    "bool": "int1",
}


def build_arguments(call: InferredCall, kernel: Any) -> tuple[list[Any], dict[str, Any]]:
    """The arguments and keywords of `kernel[grid](…)`, without what the kernel's autotuner sets.

    What heuristics set is passed too: they may look at it first.
    """
    decided = set(_tuned(kernel))
    function = _innermost(kernel)
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for position, argument in enumerate(call.arguments):
        if argument.name in decided:
            continue
        if position == len(positional) and position < call.positional:
            positional.append(_made(argument, function))
        else:
            keywords[argument.name] = _made(argument, function)
    return positional, keywords | {name: value for name, value in call.options if name not in decided}


def assumptions_of(call: InferredCall, kernel: Any) -> tuple[str, ...]:
    """The sentences for the guesses that count: those for what neither the autotuner nor heuristics set."""
    return tuple(argument.sentence for argument in guesses(call, kernel))


def guesses(call: InferredCall, kernel: Any) -> tuple[Argument, ...]:
    """The guessed arguments, but for those that the kernel's autotuner or heuristics set."""
    decided = {*_tuned(kernel), *(name for layer in _layers(kernel) for name in getattr(layer, "values", ()))}
    return tuple(argument for argument in call.arguments if argument.guessed and argument.name not in decided)


def config_count(kernel: Any) -> int:
    """How many configs the kernel's autotuner has, 0 without one."""
    return max((len(getattr(layer, "configs", ())) for layer in _layers(kernel)), default=0)


def _layers(kernel: Any) -> Iterator[Any]:
    """The autotuners and heuristics around a jit function, the outermost first."""
    while hasattr(kernel, "fn") and not hasattr(kernel, "src"):
        yield kernel
        kernel = kernel.fn


def _tuned(kernel: Any) -> Iterator[str]:
    for layer in _layers(kernel):
        for config in getattr(layer, "configs", ()):
            yield from config.all_kwargs()


def _innermost(kernel: Any) -> Any:
    while hasattr(kernel, "fn") and not hasattr(kernel, "src"):
        kernel = kernel.fn
    return kernel


def _made(argument: Argument, function: Any) -> Any:
    value = argument.value
    if argument.kind is ArgumentKind.POINTER:
        return torch.empty((usual.SIZE, usual.SIZE), dtype=getattr(torch, value), device="meta")
    if argument.kind is ArgumentKind.DESCRIPTOR:
        return _descriptor(*value)
    if isinstance(value, Dtype):
        return getattr(tl, _NAMES.get(value.name, value.name))
    if isinstance(value, FunctionName):
        return _resolved(function, value.name)
    return value


def _descriptor(dtype: str, block: tuple[int, ...]) -> Any:
    from triton.tools.tensor_descriptor import TensorDescriptor

    base = torch.empty((usual.SIZE,) * len(block), dtype=getattr(torch, dtype), device="meta")
    return TensorDescriptor(base, list(base.shape), list(base.stride()), list(block))


def _resolved(function: Any, dotted: str) -> Any:
    head, *rest = dotted.split(".")
    value = function.fn.__globals__[head]
    for name in rest:
        value = getattr(value, name)
    return value
