"""`tritonaudit server --check`: the server in this process, and a client that opens one document."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from tritonaudit.server.app import make

_FAULTY = """\
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n))
"""
_PATIENCE = 60.0
"""Seconds for the diagnostics, and again for the end."""
_Message = dict[str, Any]


class NoDiagnostics(Exception):
    """The server did not say what is wrong with a document, although something is."""


def check_one_document() -> None:
    """Start the server as an editor does, and open a faulty kernel. Raises NoDiagnostics."""
    with TemporaryDirectory(prefix="tritonaudit-") as folder:
        root = Path(folder).resolve()
        (root / "tritonaudit.toml").touch()  # so that no configuration around it governs
        path = root / "kernel.py"
        path.write_text(_FAULTY, encoding="utf-8")
        with _served() as (to_server, published):
            _send(to_server, *_opening(root, path))
            try:
                found = published.get(timeout=_PATIENCE)
            except Empty:
                raise NoDiagnostics(f"no diagnostics within {_PATIENCE:.0f} seconds") from None
            if not found:
                raise NoDiagnostics("no diagnostics for a kernel that has an error")


@contextmanager
def _served() -> Iterator[tuple[BinaryIO, Queue[list[_Message]]]]:
    """The server's input, and the diagnostics that it publishes; at the end it is shut down."""
    incoming, to_server = _pipe()
    from_server, outgoing = _pipe()
    published: Queue[list[_Message]] = Queue()
    serving = threading.Thread(target=make().start_io, args=(incoming, outgoing), daemon=True)
    listening = threading.Thread(target=_listen, args=(from_server, published), daemon=True)
    serving.start()
    listening.start()
    try:
        yield to_server, published
    finally:
        _send(to_server, {"id": 2, "method": "shutdown"}, {"method": "exit"})  # which closes `outgoing`
        serving.join(_PATIENCE)
        listening.join(_PATIENCE)
        for end in (to_server, incoming, from_server):
            end.close()


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    reading, writing = os.pipe()
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb")


def _opening(root: Path, path: Path) -> Iterator[_Message]:
    """What an editor sends when it opens a file of a folder."""
    folders = [{"uri": root.as_uri(), "name": root.name}]
    started: _Message = {"processId": None, "rootUri": root.as_uri(), "workspaceFolders": folders, "capabilities": {}}
    yield {"id": 1, "method": "initialize", "params": started}
    yield {"method": "initialized", "params": {}}
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": _FAULTY}
    yield {"method": "textDocument/didOpen", "params": {"textDocument": document}}


def _send(server: BinaryIO, *messages: _Message) -> None:
    for message in messages:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        server.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
    server.flush()


def _listen(server: BinaryIO, published: Queue[list[_Message]]) -> None:
    """Collect the diagnostics until the server closes its output."""
    while header := server.readline():
        length = 0
        while header.strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            header = server.readline()
        message = json.loads(server.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            published.put(message["params"]["diagnostics"])
