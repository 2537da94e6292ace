"""Where tritonaudit keeps what a later run can use."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path


def cache_folder(part: str) -> Path:
    """The folder of that name in $TRITONAUDIT_CACHE, else in `tritonaudit` in the platform's cache folder."""
    if chosen := os.environ.get("TRITONAUDIT_CACHE"):
        return Path(chosen).expanduser() / part
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "tritonaudit" / part


def write_whole(path: Path, data: bytes) -> None:
    """Write the file, which others see as a whole or not at all; where that cannot be done, nothing is written."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
