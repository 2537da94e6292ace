"""Has user code tell of its calls: where it is audited it may write to no file, and still send to a socket."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

TELL = """\
import os as _os
import socket as _socket


def tell(word):
    with _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM) as teller:
        teller.sendto(word.encode(), _os.environ["CALLS"])
"""
"""Defines `tell(word)`, which adds a line to the log."""


@contextmanager
def call_log(log: Path, address: Path) -> Iterator[None]:
    """While this lasts, a line is added to the log for each word sent; `CALLS` has to be the address."""
    address.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(address))
        thread = Thread(target=_write, args=(heard, log), daemon=True)
        thread.start()
        try:
            yield
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
                last.sendto(b"", str(address))
            thread.join()


def _write(heard: socket.socket, log: Path) -> None:
    with log.open("a") as file:
        while word := heard.recv(1 << 12):
            file.write(word.decode() + "\n")
            file.flush()
