"""Reads what ptxas says with `-v`: the registers, stack and spills of a kernel; and its errors."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """Registers per thread; bytes per thread of stack, of local memory outside of it, and of spills.

    Spills are those of the kernel and of the functions that it calls, the stack is the kernel's own frame.
    """

    registers: int
    stack: int
    local: int
    spill_stores: int
    spill_loads: int


@dataclass(frozen=True)
class Complaint:
    """An error, with the line of the PTX that it is about where it is about one."""

    message: str
    line: int | None


_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_FRAME = re.compile(
    r"Function properties for (?P<name>\S+)\s+(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads"
)
_REGISTERS = re.compile(r"Used (\d+) registers")
_LOCAL = re.compile(r"(\d+) bytes lmem")
_ERROR = re.compile(r"^ptxas\S* \S+, line (?P<line>\d+); (?:error|fatal)\s*: (?P<message>.*)$", re.MULTILINE)
_FATAL = re.compile(r"^ptxas\S* (?:error|fatal)\s*: (?P<message>.*)$", re.MULTILINE)


def usage(log: str) -> Usage | None:
    """What the one kernel that was assembled uses, None where the log does not tell."""
    entry = _ENTRY.search(log)
    frames = {match["name"]: match for match in _FRAME.finditer(log)}
    registers = _REGISTERS.search(log)
    if entry is None or registers is None or entry[1] not in frames:
        return None
    local = _LOCAL.search(log)
    return Usage(
        registers=int(registers[1]),
        stack=int(frames[entry[1]]["stack"]),
        local=int(local[1]) if local else 0,
        spill_stores=sum(int(match["stores"]) for match in frames.values()),
        spill_loads=sum(int(match["loads"]) for match in frames.values()),
    )


def complaint(log: str) -> Complaint | None:
    """The first error, None where there is none."""
    if match := _ERROR.search(log):
        return Complaint(match["message"].strip(), int(match["line"]))
    if match := _FATAL.search(log):
        return Complaint(match["message"].strip(), None)
    return None
