"""Where a subject's wrapper stands in the source."""

from __future__ import annotations

import inspect
from typing import Any

from tritonaudit.capture.launch import KernelRef
from tritonaudit.subject.apart import Absent
from tritonaudit.subject.model import Subject


def wrapper_ref(subject: Subject) -> KernelRef:
    """The `def` (or class) of the subject's function."""
    if isinstance(subject.function, Absent):
        return subject.function.ref
    function: Any = inspect.unwrap(subject.function)
    function = getattr(function, "model", function)
    if inspect.ismethod(function):
        owner: Any = function.__self__
        is_autograd = inspect.isclass(owner) and function.__name__ == "apply" and hasattr(owner, "forward")
        function = owner.forward if is_autograd else function.__func__
    if not (inspect.isfunction(function) or inspect.isclass(function)):
        function = type(function)
    try:
        lines, first = inspect.getsourcelines(function)
        path = inspect.getsourcefile(function) or ""
    except (OSError, TypeError):
        return KernelRef("", subject.name, 1)
    offset = next((i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def ", "class "))), 0)
    return KernelRef(path, function.__qualname__, max(first, 1) + offset)
