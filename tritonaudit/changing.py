"""Which files change while one watches: their stamps, looked at again and again.

Polling works on network mounts and in containers, where notices of the kernel are lost, sees what git ignores as
`discover` does, and needs no package. What it costs is bounded: a look is followed by ten times as long a pause.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from tritonaudit.config import Config, ConfigError
from tritonaudit.source.discover import discover

Seen = Mapping[str, tuple[int, int, int] | None]
"""The files that were looked at, with their stamps; None where there is no such file."""

_SETTINGS = ("pyproject.toml", "tritonaudit.toml", ".gitignore")
_PAUSE = 0.2  # seconds
_REST = 0.15
"""So long nothing may change before it counts: one save is several changes, and so is a `git checkout`."""
_MOST_RESTS = 20
_LOOKS = 10


def look(sources: Sequence[Path], config: Config, also: Iterable[Path] = ()) -> Seen:
    """The files of the sources, those that configure them, and others, as they are now."""
    settings = set(map(str, also))
    files: list[str] = []
    try:
        found = discover(sources, config)
        files = [str(path) for path in (*found.sources, *found.templates)]
    except ConfigError as error:  # of a folder that came with it
        settings |= {problem.path for problem in error.problems}
    settings |= {str(file) for one in config.every for file in _read_for(one) if file is not None}
    folders = {os.path.dirname(file) for file in files} | set(map(os.path.abspath, sources))
    folders |= {str(above) for folder in folders for above in Path(folder).parents}
    settings |= {f"{folder}/{name}" for folder in folders for name in _SETTINGS}
    return {file: _stamp(file) for file in sorted({*files, *settings})}


def _read_for(config: Config) -> tuple[Path | None, ...]:
    """The files that say what a configuration is."""
    return config.source, *config.extended, config.hardware_file


def _stamp(file: str) -> tuple[int, int, int] | None:
    """What is another after a file was written to, or replaced."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def until_changed(looking: Callable[[], Seen], seen: Seen) -> Seen:
    """Wait until the files are not as they were seen, and then until they rest, if they do: as they are then."""
    now = seen
    while now == seen:
        start = time.monotonic()
        now = looking()
        if now == seen:
            time.sleep(max(_PAUSE, _LOOKS * (time.monotonic() - start)))
    for _ in range(_MOST_RESTS):
        time.sleep(_REST)
        before, now = now, looking()
        if before == now:
            break
    return now


def changed(before: Seen, after: Seen) -> list[str]:
    """The files that are not as they were."""
    return sorted(file for file in {*before, *after} if before.get(file) != after.get(file))
