"""For the processes in which the user's code runs: where the wrapper of a subject stands."""

from __future__ import annotations

from tritonaudit.capture.launch import KernelRef
from tritonaudit.suites.running import SubjectKey


def wrapper_at(key: SubjectKey) -> KernelRef:
    """The `def` (or class) of the subject's function."""
    from tritonaudit.capture.task import loaded
    from tritonaudit.suites.wrapper import wrapper_ref

    path, name = key
    return wrapper_ref(loaded(path)[name])
