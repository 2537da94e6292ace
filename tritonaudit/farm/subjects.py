"""Which files a farm is to audit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.config import Config
from tritonaudit.finding import Problem
from tritonaudit.source.discover import discover
from tritonaudit.subject.find import subject_files


class ListError(Exception):
    """A list of files that cannot be read; the message names the list, and the line."""


@dataclass(frozen=True)
class Found:
    """The files, and what could not be found or read."""

    files: tuple[Path, ...]
    problems: tuple[Problem, ...]


def listed(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths, each list of them replaced by what it names: a text file with a path in each line, from its folder on.

    Raises ListError.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_file() and path.suffix not in (".py", ".ipynb"):
            found.extend(_in_list(path))
        else:
            found.append(path)
    return tuple(dict.fromkeys(found))


def _in_list(path: Path) -> list[Path]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ListError(f"{path}: cannot be read as a list of files: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        name = line.strip()
        if not name or name.startswith("#"):
            continue
        if "\0" in name or not (path.parent / name).exists():
            raise ListError(f"{path}:{number}: no such file or folder: {name!r}")
        found.append(path.parent / name)
    return found


def found(paths: Sequence[Path], config: Config) -> Found:
    """Files that hold subjects, in folders, and files that are named, whatever they hold."""
    everything = discover(paths, config)
    named = {os.path.abspath(path) for path in paths if path.is_file()}
    subjects = set(subject_files(everything.files))
    files = [path for path in everything.sources if path in subjects or os.path.abspath(path) in named]
    return Found(tuple(files), tuple(everything.problems))
