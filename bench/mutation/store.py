"""Results that were had before, so that a run that was broken off goes on where it was."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from bench.corpus import ROOT


class Store:
    """One result a line, by a key that names all that it depends on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._results: dict[str, Any] = {}
        if path.is_file():
            for line in path.read_text().splitlines():
                key, result = json.loads(line)
                self._results[key] = result

    def get(self, key: str) -> Any:
        """The result, None where there is none."""
        return self._results.get(key)

    def put(self, key: str, result: Any) -> None:
        """Keep a result, on disk at once."""
        self._results[key] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps((key, result)) + "\n")


def key_of(*parts: str) -> str:
    """A key for what depends on these texts alone."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def version_of(*paths: str) -> str:
    """What tells one state of these files and folders of the checkout from another."""
    files = [file for path in paths for file in sorted((ROOT / path).rglob("*.py")) or [ROOT / path]]
    return key_of(*(f"{file.relative_to(ROOT)}\n{file.read_text()}" for file in files))
