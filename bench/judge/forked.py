"""Work on items in forks of this process, so that what one of them breaks is not this process."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Outcome = tuple[str, str]

_SILENT = 90.0
"""Seconds in which nothing comes from a fork, that is killed then."""


@contextmanager
def ready_to_fork() -> Iterator[None]:
    """Meanwhile forks do not copy what is only counted; to look for garbage before each would take longer than most."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def outcomes(work: Callable[[Item], Outcome], items: Sequence[Item], is_whole: Callable[[], bool]) -> Iterator[Outcome]:
    """What the work says of each item, `lost` where its process died.

    One fork does all until it dies; where it is not whole in the end, each item has a fork of its own.
    """
    left = list(items)
    while left:
        found, was_whole = _forked(work, left, is_whole)
        if was_whole is False:
            found = [(_forked(work, [item], lambda: True)[0] or [_DIED])[0] for item in left[: len(found)]]
        elif len(found) < len(left):
            found.append(_DIED)
        yield from found
        left = left[len(found) :]


_DIED = ("lost", "the process died")


def _forked(
    work: Callable[[Item], Outcome], items: Sequence[Item], is_whole: Callable[[], bool]
) -> tuple[list[Outcome], bool | None]:
    """What came of them until the fork died, and whether it was whole in the end; None where it did not come so far."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        _tell(writing, work, items, is_whole)
    os.close(writing)
    said = [json.loads(line) for line in _heard(reading, process)]
    ends = [one for one in said if isinstance(one, bool)]
    return [(outcome, detail) for outcome, detail in (one for one in said if not isinstance(one, bool))], (
        ends[0] if ends else None
    )


def _tell(writing: int, work: Callable[[Item], Outcome], items: Sequence[Item], is_whole: Callable[[], bool]) -> None:
    """From the forked process, which ends."""
    try:
        for item in items:
            try:
                said = work(item)
            except Exception as error:
                said = ("lost", f"{type(error).__name__}: {error}"[:200])
            os.write(writing, json.dumps(said).encode() + b"\n")
        os.write(writing, json.dumps(is_whole()).encode() + b"\n")
    finally:
        os._exit(0)


def _heard(reading: int, process: int) -> list[str]:
    """The whole lines that come before the end, or before there was silence."""
    said = b""
    try:
        while select.select([reading], [], [], _SILENT)[0] and (part := os.read(reading, 1 << 16)):
            said += part
    finally:
        os.close(reading)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return said.decode().split("\n")[:-1]
