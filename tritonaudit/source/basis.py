"""What the result for a file rests on besides the file: other files of the project, and what its neighbours say."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

_DIGEST_BYTES = 16


@dataclass(frozen=True)
class Basis:
    """Digests of what was read for a file, so that a later run can tell whether it would read the same.

    `text` is the file's own. `files` are those that its imports led to, or would have led to if they were there: their
    digests are empty where they are not. `beside` are files, and words that were looked for in the Python files beside
    them. `users` are names of jit functions by which other files of the project may use them.
    """

    text: str
    files: tuple[tuple[str, str], ...] = ()
    beside: tuple[tuple[str, str, str], ...] = ()
    users: tuple[tuple[str, str], ...] = ()


def digest(data: bytes) -> str:
    """What tells one content from another."""
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def digest_of_texts(texts: Iterable[str]) -> str:
    """The same of several texts, in their order."""
    found = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for text in texts:
        found.update(digest(text.encode("utf-8", "replace")).encode())
    return found.hexdigest()


class Folders:
    """The texts of the Python files in a folder, each folder read once."""

    def __init__(self) -> None:
        self._texts: dict[str, list[tuple[str, str]]] = {}

    def holding(self, word: str, path: str) -> list[str]:
        """The texts of the other Python files in the file's folder that hold the word."""
        folder = os.path.dirname(path)
        if folder not in self._texts:
            self._texts[folder] = [(file, _text(file)) for file in _files(folder) if os.path.isfile(file)]
        pattern = re.compile(rf"\b{re.escape(word)}\b")
        return [text for file, text in self._texts[folder] if file != path and word in text and pattern.search(text)]


def _files(folder: str) -> list[str]:
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py"))
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
