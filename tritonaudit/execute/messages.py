"""What goes over the pipes between the pool and a worker: pickles, each after its length."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tritonaudit.execute.killed import End

_LENGTH_BYTES = 8


@dataclass(frozen=True)
class Reply:
    """What a worker made of a task.

    `result` is its pickled result; where `end` says that there is none, `message` is the sentence that says why. A
    worker that is `spent` still carries something of the task, which could cost the next one: it is to be replaced.
    """

    result: bytes = b""
    end: End | None = None
    message: str = ""
    spent: bool = False


@dataclass(frozen=True)
class Note:
    """What a worker says before it replies: `content` is pickled, and the next word comes within the seconds."""

    content: bytes
    seconds: float


@dataclass(frozen=True)
class Waited:
    """What a worker says that waits for its turn, or did: so many seconds more, or less, than it said before.

    It says more within the `seconds`.
    """

    waited: float
    seconds: float


def framed(message: bytes) -> bytes:
    """The message after its length."""
    return len(message).to_bytes(_LENGTH_BYTES, "big") + message


def take_message(received: bytearray) -> bytes | None:
    """The first message, taken from what was received; None while it is not there as a whole."""
    end = _LENGTH_BYTES + int.from_bytes(received[:_LENGTH_BYTES], "big")
    if len(received) < max(end, _LENGTH_BYTES):
        return None
    message = bytes(received[_LENGTH_BYTES:end])
    del received[:end]
    return message


def read_message(pipe: int) -> bytes | None:
    """Wait for a message; None when the other side has closed the pipe."""
    received = bytearray()
    while (message := take_message(received)) is None:
        chunk = os.read(pipe, 1 << 20)
        if not chunk:
            return None
        received += chunk
    return message


def write_message(pipe: int, message: bytes) -> None:
    """Write the whole message, waiting for the reader where the pipe is full."""
    rest = memoryview(framed(message))
    while rest:
        rest = rest[os.write(pipe, rest) :]
