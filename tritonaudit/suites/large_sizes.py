"""How large a size a function for the inputs is to be asked for. Imports torch: for workers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.execute.blame import text_of
from tritonaudit.subject.inputs import as_given, seed, tensors_in
from tritonaudit.subject.model import Case, Subject
from tritonaudit.subject.sweep import compile_cases
from tritonaudit.suites.large import BESIDE, ELEMENTS

_MOST_WITH_MEMORY = 1 << 10
"""Elements: a function that makes more of them in memory would do so with all."""
_LARGEST = 1 << 40


def grown(subject: Subject, name: str) -> dict[str, int] | str:
    """About the least size, beside ordinary ones, with which a tensor is larger than an int32 counts; or why none is.

    It is found on tensors without memory, and only where the function asks for no memory otherwise.
    """
    usual = compile_cases(subject)[0]
    try:
        low = usual.sizes[name]
        high = 2 * max(low, 1)  # what the function calls a size may be 0, as a flag is
        _elements(subject, usual, name, low)  # may tell of memory, too
        while _elements(subject, usual, name, high) <= ELEMENTS:
            low, high = high, 2 * high
            if high > _LARGEST:
                return f"no tensor grows with {name}"
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _elements(subject, usual, name, middle) <= ELEMENTS else (low, middle)
    except _InMemory as error:
        return f"the function for the inputs makes {error.elements:,} elements in memory"
    except (Exception, SystemExit) as error:  # whatever the function does: its cases show it
        return f"the function for the inputs refuses larger ones: {text_of(error)}"
    return {**usual.sizes, name: high + BESIDE}


class _InMemory(Exception):
    """A tensor of so many elements was made in memory."""

    def __init__(self, elements: int) -> None:
        super().__init__(elements)
        self.elements = elements


def _elements(subject: Subject, usual: Case, name: str, size: int) -> int:
    """How many the largest tensor has. Raises _InMemory."""
    case = replace(usual, sizes={**usual.sizes, name: size})
    with tensors_on(Host.META), _Remembering() as remembering:
        seed(case)
        made = as_given(subject, case)
    if remembering.most > _MOST_WITH_MEMORY:
        raise _InMemory(remembering.most)
    return max((tensor.numel() for tensor in tensors_in(made)), default=0)


class _Remembering(TorchFunctionMode):  # type: ignore[misc]
    """Remembers the largest tensor with memory."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not result.is_meta:
            self.most = max(self.most, result.numel())
        return result
