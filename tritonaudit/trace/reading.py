"""Reads a trace, which may be damaged or made up: what it gives is data of the declared types, or NotATrace."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tritonaudit.data import NotData, decode
from tritonaudit.trace.recorded import (
    ANY_RECORD,
    VERSION,
    Blob,
    Header,
    Made,
    Record,
    Recorded,
    Unavailable,
    Unrecorded,
)
from tritonaudit.trace.writing import MAGIC

_LONGEST_LINE = 16 << 20
_KIND = b"tritonaudit trace "


class NotATrace(Exception):
    """Why a file cannot be read as a trace; `line` is that of the record."""

    def __init__(self, path: Path, message: str, line: int | None = None) -> None:
        super().__init__(f"{path}{'' if line is None else f', record {line}'}: {message}")
        self.path = path


@dataclass(frozen=True)
class Trace:
    """All that a trace holds; `blobs` says where the bytes of each begin, and how many there are."""

    path: Path
    header: Header
    recorded: tuple[Recorded, ...]
    made: tuple[Made, ...]
    unavailable: tuple[Unavailable, ...]
    unrecorded: tuple[Unrecorded, ...]
    blobs: dict[str, tuple[int, int]]


def read_trace(path: Path) -> Trace:
    """The trace in a file. Raises NotATrace."""
    records: list[Record] = []
    blobs: dict[str, tuple[int, int]] = {}
    try:
        with open(path, "rb") as file:
            for record in _records(path, file):
                if isinstance(record, Blob):
                    blobs[record.digest] = file.tell() - record.size - 1, record.size
                else:
                    records.append(record)
    except OSError as error:
        raise NotATrace(path, f"cannot be read: {error.strerror or error}") from error
    headers = [one for one in records if isinstance(one, Header)]
    if not headers:
        raise NotATrace(path, "it does not say what made it")
    recorded = tuple(one for one in records if isinstance(one, Recorded))
    _check(path, recorded, blobs)
    return Trace(
        path,
        headers[0],
        recorded,
        tuple(one for one in records if isinstance(one, Made)),
        tuple(one for one in records if isinstance(one, Unavailable)),
        tuple(one for one in records if isinstance(one, Unrecorded)),
        blobs,
    )


def _records(path: Path, file: BinaryIO) -> Iterator[Record]:
    """The records in their order; behind a blob the file is at the end of its bytes."""
    begin = file.readline(len(MAGIC))
    if begin != MAGIC:
        is_other = begin.startswith(_KIND)
        raise NotATrace(path, f"it is not a trace of version {VERSION}" if is_other else "it is not a trace")
    size, number = os.fstat(file.fileno()).st_size, 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if not line.endswith(b"\n"):
            raise NotATrace(path, "the record does not end: the file is cut off or damaged", number)
        try:
            record: Record = decode(ANY_RECORD, line)
        except NotData as error:
            raise NotATrace(path, f"it is not a record: {error}", number) from error
        if isinstance(record, Blob):
            if not 0 <= record.size < size - file.tell():
                raise NotATrace(path, "the bytes of the record are missing: the file is cut off", number)
            file.seek(record.size, os.SEEK_CUR)
            if file.read(1) != b"\n":
                raise NotATrace(path, "the bytes of the record do not end where they should", number)
        yield record


def _check(path: Path, recorded: tuple[Recorded, ...], blobs: dict[str, tuple[int, int]]) -> None:
    """Raise NotATrace for a launch that refers to what is not there."""
    numbers = {one.number for one in recorded}
    if len(numbers) < len(recorded):
        raise NotATrace(path, "two launches have the same number")
    for one in recorded:
        names = [one.ttir, *(name for held in one.storages for name in (held.contents, held.undefined))]
        if any(name and name not in blobs for name in names):
            raise NotATrace(path, f"what launch {one.number} needs is missing")
        if one.instead_of is not None and one.instead_of not in numbers:
            raise NotATrace(path, f"launch {one.number} stands for one that is missing")


def read_blob(trace: Trace, digest: str) -> bytes:
    """The bytes of a blob. Raises NotATrace where they are others than they were."""
    start, size = trace.blobs[digest]
    try:
        with open(trace.path, "rb") as file:
            file.seek(start)
            contents = file.read(size)
    except OSError as error:
        raise NotATrace(trace.path, f"cannot be read: {error.strerror or error}") from error
    if hashlib.sha256(contents).hexdigest() != digest:
        raise NotATrace(trace.path, "it is damaged: its bytes are not those that were written")
    return contents
