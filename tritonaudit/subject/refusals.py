"""Which other sizes a reference refuses, as far as tensors without memory show it. Imports torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.capture.task import IMPORT_SECONDS
from tritonaudit.capture.time_limit import OutOfTime, computing_limit
from tritonaudit.execute.blame import text_of
from tritonaudit.subject.dimension import size_of
from tritonaudit.subject.given import Given
from tritonaudit.subject.inputs import Arguments, call
from tritonaudit.subject.model import Subject
from tritonaudit.subject.varying import each_tensor

_ANSWER_SECONDS = 1.0
"""That a reference computes to take tensors without memory: milliseconds unless it goes over a size in a loop."""
_NO_ANSWER = f"the reference does not say within {_ANSWER_SECONDS:.0f} s whether it takes other sizes"
_MANY, _MOST = 100, 3_000
"""Calls of torch from which on a reference goes over a size in a loop, and is asked about few sizes and about none."""

_MORE = 1.25
"""Times as many as on what is given are no more: what a model computes once, when it is built, is among these."""
_LEAST = 8
"""From there on what takes a size and the next one takes any: smaller ones are powers of 2, and the like, by chance."""


def refusals(subject: Subject, given: Given, arguments: Arguments) -> Callable[[Mapping[str, int]], str]:
    """Why the reference refuses sizes other than given; nothing where it takes them, or cannot be asked."""
    if subject.reference is None:
        return lambda _: ""
    asked = _Refusals(subject, given, arguments)
    return (lambda _: "") if asked.why_not(given.sizes) else asked.why_not


class _Refusals:
    """Those of a reference that calls torch so often are the same between two sizes that it takes.

    What takes a size and the next one takes any, up to a length; and it takes together what it takes one by one.
    """

    def __init__(self, subject: Subject, given: Given, arguments: Arguments) -> None:
        self._subject, self._given, self._arguments = subject, given, arguments
        self._known: dict[tuple[tuple[str, int], ...], str] = {}
        self._too_long: list[Mapping[str, int]] = []
        self._calls: dict[str, dict[int, int]] = {name: {} for name in given.sizes}
        """Of torch, by the sizes of each dimension that the reference takes, the others being as given."""

    def why_not(self, sizes: Mapping[str, int]) -> str:
        changed = {name: sizes[name] for name, size in self._given.sizes.items() if sizes.get(name, size) != size}
        key = tuple(sorted(changed.items()))
        if key not in self._known:
            self._known[key] = self._why_not(changed)
        return self._known[key]

    def _why_not(self, changed: Mapping[str, int]) -> str:
        if self._usual < _MANY:
            return self._asked(changed)
        if len(changed) > 1:
            return next(filter(None, (self.why_not({name: size}) for name, size in changed.items())), "")
        ((name, size),) = changed.items()
        taken = sorted(self._calls[name])
        follow = any(one + 1 == other for one, other in pairwise(taken) if one >= _LEAST)
        if follow and size > 1 and taken[0] < size < taken[-1]:
            return ""
        if (calls := self._expected(name, size)) > max(_MOST, _MORE * self._usual):
            return f"the reference would call torch about {calls:,} times with other sizes"
        return self._asked(changed)

    @property
    def _usual(self) -> int:
        """The calls of torch on what is given; 0 until they are known."""
        return next((calls[self._given.sizes[name]] for name, calls in self._calls.items() if calls), 0)

    def _expected(self, name: str, size: int) -> int:
        """The calls of torch with such a size, as they grow with it from the least that is known to that given."""
        calls, given = self._calls[name], self._given.sizes[name]
        least = min(calls)
        grows = (calls[given] - calls[least]) / (given - least) if least < given else 0.0
        return round(calls[given] + grows * (size - given))

    def _asked(self, changed: Mapping[str, int]) -> str:
        whole = {**self._given.sizes, **changed}
        if any(all(whole[name] >= size for name, size in one.items()) for one in self._too_long):
            return _NO_ANSWER
        seconds = _ANSWER_SECONDS if changed else IMPORT_SECONDS
        why, calls = _refusal(self._subject, self._given, self._arguments, whole, seconds)
        if why == _NO_ANSWER:
            self._too_long.append(whole)
        if not why and len(changed) < 2:
            for name in changed or whole:
                self._calls[name][whole[name]] = calls
        return why


class _Counting(TorchFunctionMode):  # type: ignore[misc]
    """How many functions of torch are called while it is active."""

    calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return func(*args, **(kwargs or {}))


def _refusal(
    subject: Subject, given: Given, arguments: Arguments, sizes: Mapping[str, int], seconds: float
) -> tuple[str, int]:
    """Why it refuses these, and how often it calls torch."""

    def hollow(number: int, tensor: torch.Tensor) -> torch.Tensor:
        shape = tuple(size_of(dim, sizes) for dim in given.tensors[number].dims)
        return torch.empty(shape, dtype=tensor.dtype, device="meta")

    assert subject.reference is not None
    counting = _Counting()
    try:
        with computing_limit(seconds), tensors_on(Host.META), torch.no_grad():
            positional, keywords = each_tensor(arguments, hollow)
            with counting:
                call(subject.reference, positional, keywords, gradients=False)
    except OutOfTime:
        return _NO_ANSWER, counting.calls
    except (Exception, SystemExit) as error:
        return f"the reference refuses other sizes: {text_of(error)}", counting.calls
    return "", counting.calls
