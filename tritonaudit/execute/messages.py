"""What goes over the pipes between the pool and a worker, each message after its length.

The pool's are pickles. A worker's are data, for whatever runs in a worker could have written them.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace

from tritonaudit.data import NotData, decode, encode
from tritonaudit.execute.killed import End

_LENGTH_BYTES = 8
_MOST_BYTES = 1 << 30
"""Of a worker's message."""
_MARK_BYTES = 16
"""Before each request, by which its reply is known."""


@dataclass(frozen=True)
class Reply:
    """What a worker made of a task.

    `content` is its encoded result; where `end` says that there is none, `message` is the sentence that says why. A
    worker that is `spent` still carries something of the task, which could cost the next one: it is to be replaced.
    It `answers` the request of that mark, which nobody could know before it was sent.
    """

    content: bytes = b""
    end: End | None = None
    message: str = ""
    spent: bool = False
    answers: str = ""


@dataclass(frozen=True)
class Note:
    """What a worker says before it replies: `content` is encoded, and the next word comes within the seconds."""

    content: bytes
    seconds: float


@dataclass(frozen=True)
class Waited:
    """What a worker says that waits for its turn, or did: so many seconds more, or less, than it said before.

    It says more within the `seconds`.
    """

    waited: float
    seconds: float


Message = Reply | Note | Waited


def packed(message: Message) -> bytes:
    """The message as a line of text, and its content as it is."""
    if isinstance(message, Waited):
        return encode(message)
    return encode(replace(message, content=b"")) + b"\n" + message.content


def unpacked(data: bytes) -> Message:
    """The message that `packed` made the bytes of. Raises NotData for any other bytes."""
    line, _, content = data.partition(b"\n")
    message: Message = decode(Message, line)
    if isinstance(message, Reply):
        return replace(message, content=content)
    if not math.isfinite(message.seconds):
        raise NotData("it does not say when the next one comes")
    if isinstance(message, Note):
        return replace(message, content=content)
    if not math.isfinite(message.waited):
        raise NotData("it does not say how long it has waited")
    return message


def marked(request: bytes) -> tuple[str, bytes]:
    """A new mark, and the request behind it."""
    mark = os.urandom(_MARK_BYTES)
    return mark.hex(), mark + request


def split(request: bytes) -> tuple[str, bytes]:
    """The mark of a request, and the request."""
    return request[:_MARK_BYTES].hex(), request[_MARK_BYTES:]


def framed(message: bytes) -> bytes:
    """The message after its length."""
    return len(message).to_bytes(_LENGTH_BYTES, "big") + message


def take_message(received: bytearray) -> bytes | None:
    """The first message, taken from what was received; None while it is not there as a whole.

    Raises NotData where it is longer than any that there is.
    """
    length = int.from_bytes(received[:_LENGTH_BYTES], "big")
    if len(received) < _LENGTH_BYTES:
        return None
    if length > _MOST_BYTES:
        raise NotData(f"it has {length:,} bytes")
    end = _LENGTH_BYTES + length
    if len(received) < end:
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
