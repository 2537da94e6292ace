"""Writes a trace: a line that says what it is, then a line of JSON for each record, blobs with their bytes behind."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tritonaudit.data import encode
from tritonaudit.trace.recorded import VERSION, Blob, Record

KIND = b"tritonaudit trace "
MAGIC = KIND + f"{VERSION}\n".encode()


class Writer:
    """A trace that grows; each record is whole in the file once it is added, whatever ends the process afterwards."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._known: set[str] = set()
        self.size = 0
        self._put(MAGIC)

    def add(self, record: Record) -> None:
        self._put(encode(record) + b"\n")

    def blob(self, contents: bytes | memoryview) -> str:
        """Add the bytes, unless they are there, and give their digest."""
        digest = hashlib.sha256(contents).hexdigest()
        if digest not in self._known:
            self._known.add(digest)
            size = memoryview(contents).nbytes
            self._put(encode(Blob(digest, size)) + b"\n")
            self._put(contents)
            self._put(b"\n")
        return digest

    def close(self) -> None:
        os.close(self._file)

    def _put(self, data: bytes | memoryview) -> None:
        rest = memoryview(data).cast("B")
        self.size += len(rest)
        while len(rest):
            rest = rest[os.write(self._file, rest[: 1 << 30]) :]
