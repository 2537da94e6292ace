"""How a path is shown to people."""

from __future__ import annotations

import os
from pathlib import Path


def shown_path(path: Path) -> str:
    """The path as findings show it: relative to the working directory where it is below it."""
    absolute = os.path.abspath(path)
    here = os.getcwd()
    if os.path.splitdrive(absolute)[0] != os.path.splitdrive(here)[0]:
        return Path(absolute).as_posix()
    relative = os.path.relpath(absolute, here)
    return Path(absolute if relative.startswith("..") else relative).as_posix()
