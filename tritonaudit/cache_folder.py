"""Where tritonaudit keeps what a later run can use."""

from __future__ import annotations

import os
import sys
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
