"""The folder of a history: its files are read, added to and masked so that no two at it can spoil each other's."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from tritonaudit.finding import Problem
from tritonaudit.history.entry import Data
from tritonaudit.replacing import replace_file
from tritonaudit.report.schema import breach

SCHEMA = "history.schema.json"
_NAME = re.compile(r"v([1-9][0-9]*)\.json")
_FLAG = re.compile(r'"masked"\s*:\s*(true|false)')


class HistoryError(Exception):
    """Something of a history that is not there, or cannot be used."""


@dataclass(frozen=True)
class Version:
    """A file of the history: its number, and what it holds."""

    number: int
    data: Data

    @property
    def is_masked(self) -> bool:
        return bool(self.data["masked"])


@dataclass(frozen=True)
class History:
    """The files that can be used, by number, masked ones among them; of others, why they cannot."""

    folder: Path
    every: tuple[Version, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def versions(self) -> tuple[Version, ...]:
        """Those that are not masked."""
        return tuple(version for version in self.every if not version.is_masked)

    def version(self, number: int) -> Version:
        """The one of that number. Raises HistoryError where there is none, or where it is masked or broken."""
        found = next((version for version in self.every if version.number == number), None)
        if found is None:
            path = str(_file(self.folder, number))
            broken = next((problem for problem in self.problems if problem.path == path), None)
            raise HistoryError(f"{path}: {broken.message}" if broken else f"there is no {path}")
        if found.is_masked:
            raise HistoryError(f"v{number} is masked: `tritonaudit history unmask {number}`")
        return found


def read_history(folder: Path) -> History:
    """All that a folder holds. Raises HistoryError where there is no such folder."""
    every: list[Version] = []
    problems: list[Problem] = []
    for number in sorted(_numbers(folder)):
        try:
            every.append(Version(number, _parsed(_text(folder, number))))
        except ValueError as error:
            problems.append(Problem(str(_file(folder, number)), f"{error}; it is skipped"))
    return History(folder, tuple(every), tuple(problems))


def keep(folder: Path, entry: Data) -> Path:
    """Write an entry as the next one, and say where; whoever reads the folder sees all of it or nothing.

    A number is taken by creating a file beside it, which no two can: those that come together get different ones.
    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(entry, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    for number in count(max(_numbers(folder), default=0) + 1):
        path = _file(folder, number)
        claim = folder / f".v{number}.taken"
        try:
            os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            continue
        try:
            if not path.exists():
                replace_file(path, text.encode())
                return path
        finally:
            claim.unlink()
    raise AssertionError("numbers do not end")


def set_masked(folder: Path, number: int, masked: bool) -> bool:
    """Give an entry that flag and leave every other byte of its file; whether it had the other one before.

    Raises HistoryError where there is no such entry or it is broken, OSError where it cannot be written.
    """
    if number not in _numbers(folder):
        raise HistoryError(f"there is no {_file(folder, number)}")
    try:
        text = _text(folder, number)
        entry = _parsed(text)
    except ValueError as error:
        raise HistoryError(f"{_file(folder, number)}: {error}") from error
    if entry["masked"] == masked:
        return False
    wanted = {**entry, "masked": masked}
    flipped = next((other for other in _flipped(text, masked) if json.loads(other) == wanted), None)
    if flipped is None:
        raise HistoryError(f"{_file(folder, number)}: its flag cannot be found")
    replace_file(_file(folder, number), flipped.encode())
    return True


def is_history(folder: Path) -> bool:
    """Whether it is one or can become one: a folder that holds entries, or nothing, or is not there."""
    if not folder.exists():
        return True
    if not folder.is_dir():
        return False
    names = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    return not names or any(map(_NAME.fullmatch, names))


def _file(folder: Path, number: int) -> Path:
    return folder / f"v{number}.json"


def _numbers(folder: Path) -> list[int]:
    try:
        found = [_NAME.fullmatch(path.name) for path in folder.iterdir()]
    except OSError as error:
        raise HistoryError(f"{folder}: {error.strerror}; `tritonaudit audit --keep` begins a history") from error
    return [int(name[1]) for name in found if name]


def _text(folder: Path, number: int) -> str:
    """The text of a file as it is, its newlines too. Raises ValueError where it cannot be read."""
    try:
        return _file(folder, number).read_bytes().decode("utf-8")
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"is not complete JSON: {error}") from error


def _parsed(text: str) -> Data:
    """The entry that a text is. Raises ValueError."""
    try:
        data = json.loads(text, parse_constant=_no_number)
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"is not complete JSON: {error}") from error
    if said := breach(data, SCHEMA):
        raise ValueError(f"does not match {SCHEMA}: {said}")
    entry: Data = data
    return entry


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _flipped(text: str, masked: bool) -> Iterator[str]:
    """The text with that flag at each place where one may stand."""
    word: Any = "true" if masked else "false"
    for found in _FLAG.finditer(text):
        yield f"{text[: found.start(1)]}{word}{text[found.end(1) :]}"
