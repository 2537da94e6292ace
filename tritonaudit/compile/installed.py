"""Which Triton is installed, learnt without importing it."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def triton_version() -> str:
    """The version of the Triton that would be imported, whatever its distribution is called; empty without one."""
    spec = find_spec("triton")
    if spec is None or spec.origin is None:
        return ""
    found = re.search(r"^__version__ = ['\"]([^'\"]+)['\"]", Path(spec.origin).read_text("utf-8"), re.MULTILINE)
    return found[1] if found else ""
