"""What a worker may take of the machine beside memory and time: files, processes, and room on the disk."""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

MOST_PROCESSES = 256
_MOST_OPEN = 4096
_MOST_FILES = 1 << 20
_SCAN_SHARE = 0.02  # of the time goes into looking at the folder
_SECRET = re.compile(r"(^|_)(API_?KEYS?|AUTH|CREDENTIALS?|KEYS?|PASSWD|PASSWORD|SECRETS?|TOKENS?)(_|$)", re.IGNORECASE)


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for code that nobody vouches for: without what is called a key, a token, a password and so on."""
    return {name: value for name, value in environment.items() if not _SECRET.search(name)}


def limit_files(size: int) -> None:
    """From now on let this process, and those it starts, write no file beyond that size, and open only so many.

    They leave no core either.
    """
    for kind, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, size), (resource.RLIMIT_NOFILE, _MOST_OPEN)):
        soft, hard = (most if one == resource.RLIM_INFINITY else min(most, one) for one in resource.getrlimit(kind))
        resource.setrlimit(kind, (soft, hard))


class FolderWatch:
    """Tells when a folder holds more than so many bytes on the disk, or very many files."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._next_scan = 0.0

    def is_exceeded(self) -> bool:
        """To be asked again and again: looking into a folder is dear, and not done each time."""
        began = time.monotonic()
        if began < self._next_scan:
            return False
        held = 0
        for number, size in enumerate(_sizes(self._folder)):
            held += size
            if held > self._limit or number > _MOST_FILES:
                return True
        ended = time.monotonic()
        self._next_scan = ended + (ended - began) / _SCAN_SHARE
        return False


def _sizes(folder: Path) -> Iterator[int]:
    """The bytes on the disk of each thing below the folder, to which no link leads elsewhere."""
    folders = [str(folder)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
