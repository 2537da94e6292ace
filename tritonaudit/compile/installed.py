"""Which Triton is installed, learnt without importing it."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path


def triton_path() -> Path | None:
    """The file that `import triton` would run."""
    spec = find_spec("triton")
    return None if spec is None or spec.origin is None else Path(spec.origin)


@cache
def triton_version() -> str:
    """The version of the Triton that would be imported, whatever its distribution is called; empty without one."""
    path = triton_path()
    found = re.search(r"^__version__ = ['\"]([^'\"]+)['\"]", path.read_text("utf-8"), re.MULTILINE) if path else None
    return found[1] if found else ""
