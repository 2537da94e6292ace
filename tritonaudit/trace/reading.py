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
    Source,
    Storage,
    Unavailable,
    Unrecorded,
    View,
)
from tritonaudit.trace.writing import KIND, MAGIC

_LONGEST_LINE = 16 << 20


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
    sources: tuple[Source, ...]
    blobs: dict[str, tuple[int, int]]


def read_trace(path: Path, *, is_whole: bool = True) -> Trace:
    """The trace in a file; of one that may not be whole, as its process was killed, what comes before the end.

    Raises NotATrace.
    """
    records: list[Record] = []
    blobs: dict[str, tuple[int, int]] = {}
    try:
        with open(path, "rb") as file:
            for record in _records(path, file, is_whole):
                if isinstance(record, Blob):
                    blobs[record.digest] = file.tell() - record.size - 1, record.size
                else:
                    records.append(record)
    except OSError as error:
        raise NotATrace(path, f"cannot be read: {error.strerror or error}") from error
    headers = [one for one in records if isinstance(one, Header)]
    if not headers:
        raise NotATrace(path, "it does not say what made it")
    trace = Trace(
        path,
        headers[0],
        tuple(one for one in records if isinstance(one, Recorded)),
        tuple(one for one in records if isinstance(one, Made)),
        tuple(one for one in records if isinstance(one, Unavailable)),
        tuple(one for one in records if isinstance(one, Unrecorded)),
        tuple(one for one in records if isinstance(one, Source)),
        blobs,
    )
    _check(trace)
    return trace


def _records(path: Path, file: BinaryIO, is_whole: bool) -> Iterator[Record]:
    """The records in their order; behind a blob the file is at the end of its bytes."""
    begin = file.readline(len(MAGIC))
    if begin != MAGIC:
        is_other = begin.startswith(KIND)
        raise NotATrace(path, f"it is not a trace of version {VERSION}" if is_other else "it is not a trace")
    size, number = os.fstat(file.fileno()).st_size, 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if not line.endswith(b"\n"):
            if not is_whole:
                return
            raise NotATrace(path, "the record does not end: the file is cut off or damaged", number)
        try:
            record: Record = decode(ANY_RECORD, line)
        except NotData as error:
            raise NotATrace(path, f"it is not a record: {error}", number) from error
        if isinstance(record, Blob):
            if not 0 <= record.size < size - file.tell():
                if not is_whole:
                    return
                raise NotATrace(path, "the bytes of the record are missing: the file is cut off", number)
            file.seek(record.size, os.SEEK_CUR)
            if file.read(1) != b"\n":
                raise NotATrace(path, "the bytes of the record do not end where they should", number)
        yield record


def _check(trace: Trace) -> None:
    """Raise NotATrace for what refers to what is not there, and for a tensor that is not within its memory."""
    path = trace.path
    numbers = {one.number for one in trace.recorded}
    if len(numbers) < len(trace.recorded):
        raise NotATrace(path, "two launches have the same number")
    if any(one.text not in trace.blobs for one in trace.sources):
        raise NotATrace(path, "the text of a file is missing")
    for one in trace.recorded:
        names = [one.ttir, *(name for held in one.storages for name in (held.contents, held.undefined))]
        if any(name and name not in trace.blobs for name in names):
            raise NotATrace(path, f"what launch {one.number} needs is missing")
        if one.instead_of is not None and one.instead_of not in numbers:
            raise NotATrace(path, f"launch {one.number} stands for one that is missing")
        for held in one.storages:
            if why := "" if one.is_grown else _wrong_storage(held, trace.blobs):
                raise NotATrace(path, f"launch {one.number}: {why}")
        for passed in one.passed:
            if isinstance(passed.value, View) and (why := _wrong_view(passed.value, one.storages)):
                raise NotATrace(path, f"launch {one.number}, `{passed.name}`: {why}")


def _wrong_storage(held: Storage, blobs: dict[str, tuple[int, int]]) -> str:
    size = blobs.get(held.contents, (0, -1))[1]
    is_right = 0 < size <= held.size if held.is_sampled else size == held.size
    return "" if is_right else f"a memory of {held.size:,} bytes has {size:,}"


def _wrong_view(view: View, storages: tuple[Storage, ...]) -> str:
    size = _BYTES.get(view.dtype)
    if size is None:
        return f"{view.dtype!r} is no type of elements"
    if not 0 <= view.storage < len(storages) or len(view.shape) != len(view.strides):
        return "its memory or its strides are missing"
    if min((*view.shape, *view.strides, view.offset)) < 0:
        return "a size or a stride is negative"
    last = view.offset + sum((extent - 1) * stride for extent, stride in zip(view.shape, view.strides, strict=True))
    is_within = 0 in view.shape or (last + 1) * size <= storages[view.storage].size
    return "" if is_within else "it is larger than its memory"


_BYTES = {
    **dict.fromkeys(("bool", "int8", "uint8", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"), 1),
    **dict.fromkeys(("float8_e8m0fnu",), 1),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32"), 4),
    **dict.fromkeys(("int64", "uint64", "float64"), 8),
}


def read_blob(trace: Trace, digest: str) -> bytes:
    """The bytes of a blob. Raises NotATrace where they cannot be read."""
    start, size = trace.blobs[digest]
    try:
        with open(trace.path, "rb") as file:
            file.seek(start)
            return file.read(size)
    except OSError as error:
        raise NotATrace(trace.path, f"cannot be read: {error.strerror or error}") from error


def verify(trace: Trace) -> None:
    """Raise NotATrace where the bytes of a blob are not those that were written."""
    for digest in trace.blobs:
        if hashlib.sha256(read_blob(trace, digest)).hexdigest() != digest:
            raise NotATrace(trace.path, "it is damaged: its bytes are not those that were written")
