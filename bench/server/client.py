"""A client of the language server: speaks JSON-RPC to a process of its own over its standard input and output."""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from bench.corpus import ROOT

SERVER = (sys.executable, "-m", "tritonaudit", "server")
_PATIENCE = 60.0
_Message = dict[str, Any]


class Gone(Exception):
    """The server ended, or did not answer in time."""


class Client:
    """A server with a client that has no opinions of its own; it ends with the `with` block."""

    def __init__(
        self, root: Path, capabilities: Mapping[str, Any] | None = None, command: Sequence[str] = SERVER
    ) -> None:
        here = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))}
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self._process.stdin is not None
        self._input = self._process.stdin
        self._numbers = itertools.count(1)
        self._arrived: queue.Queue[_Message | None] = queue.Queue()
        self._answers: dict[int, _Message] = {}
        self.published: dict[str, _Message] = {}
        self.notices: list[_Message] = []
        self.stderr: list[bytes] = []
        threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()
        threading.Thread(
            target=lambda lines: self.stderr.extend(lines), args=(self._process.stderr,), daemon=True
        ).start()
        self.started = self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
                "capabilities": dict(capabilities or {}),
            },
        )
        self.tell("initialized", {})

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is None and self.is_alive:
            self.ask("shutdown", None)
            self.tell("exit", None)
        try:
            self._process.wait(5 if kind is None else 0.1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def processor_seconds(self) -> float:
        """How long the server has been running on a processor, in steps of 10 ms; 0 where the system does not say."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def code(self) -> int | None:
        """The exit code of the server, once it has ended."""
        return self._process.poll()

    # -- messages ------------------------------------------------------------------------------------------------

    def tell(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: object, patience: float = _PATIENCE) -> Any:
        """Send a request and wait for its result; an error is raised as a ValueError."""
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": params})
        end = time.monotonic() + patience
        while number not in self._answers:
            self._read(end)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise ValueError(answer["error"]["message"])
        return answer["result"]

    def diagnostics(self, uri: str, version: int, patience: float = _PATIENCE) -> list[_Message]:
        """Those of this version of a file, once they are there."""
        end = time.monotonic() + patience
        while self.published.get(uri, {}).get("version", -1) < version:
            self._read(end)
        found: list[_Message] = self.published[uri]["diagnostics"]
        return found

    # -- files ---------------------------------------------------------------------------------------------------

    def open(self, path: Path, text: str, version: int = 1) -> str:
        """Open a file with a text; its URI."""
        uri = path.as_uri()
        document = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return uri

    def change(self, uri: str, version: int, *changes: Mapping[str, Any]) -> None:
        """Change a file: each change has a `text`, and where it does not replace everything a `range`."""
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def save(self, uri: str) -> None:
        self.tell("textDocument/didSave", {"textDocument": {"uri": uri}})

    def close(self, uri: str) -> None:
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.published.pop(uri, None)

    # -- the wire ------------------------------------------------------------------------------------------------

    def _send(self, message: Mapping[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self._input.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
            self._input.flush()
        except OSError as error:
            raise Gone(self._last_words()) from error

    def _read(self, end: float) -> None:
        try:
            message = self._arrived.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            raise Gone(f"no answer in time. {self._last_words()}") from None
        if message is None:
            raise Gone(self._last_words())
        if "method" not in message:
            self._answers[message["id"]] = message
        elif message["method"] == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]
        elif "id" in message:
            self._send({"id": message["id"], "result": None})
            self.notices.append(message)
        else:
            self.notices.append(message)

    def _listen(self, output: BinaryIO) -> None:
        while header := output.readline():
            length = 0
            while header.strip():
                if header.lower().startswith(b"content-length:"):
                    length = int(header.partition(b":")[2])
                header = output.readline()
            self._arrived.put(json.loads(output.read(length)))
        self._arrived.put(None)

    def _last_words(self) -> str:
        return b"".join(self.stderr[-20:]).decode("utf-8", "replace")
