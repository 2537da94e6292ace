"""How a task that gave no result ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class End(Enum):
    """What ended a task, in a report's words.

    CRASH is a signal that the task's own code raises, such as SIGSEGV; LOST is one that comes from elsewhere, such as
    SIGKILL where the machine runs out of memory, or a worker that closed its pipe: these say nothing of the task.
    EXCESS is to take of the machine what no task needs.
    """

    TIMEOUT = "timed out"
    MEMORY = "out of memory"
    EXCESS = "took too much"
    CRASH = "crashed"
    LOST = "lost"
    EXIT = "exited"
    RAISED = "raised"


@dataclass(frozen=True)
class Killed:
    """A task that gave no result: what ended it, in one sentence too, and the last lines that it printed.

    `log` is at most 100 lines and 16 KiB of what the task and its child processes wrote to stdout and stderr.
    """

    end: End
    message: str
    log: str
