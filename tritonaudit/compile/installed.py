"""What is installed that a result depends on, Triton before all, learnt without importing it."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import tritonaudit
from tritonaudit import __version__


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


def installed() -> tuple[str, ...]:
    """What executes user code here, and what it is executed with."""
    return (__version__, _ours(), sys.version, _version("torch"), triton_version(), str(triton_path()))


def digest_of(files: Iterable[Path], see: Callable[[bytes], object] = len) -> str:
    """What tells these files, with what is in them, from others; those that cannot be read are left out.

    Whoever wants to `see` what is in each is shown it, so that no file is read twice.
    """
    digest = hashlib.sha256()
    for path in files:
        with suppress(OSError):
            data = path.read_bytes()
            see(data)
            digest.update(f"{path}\0{len(data)}\0".encode(errors="surrogateescape") + data)
    return digest.hexdigest()


@cache
def _ours() -> str:
    here, *others = map(Path, tritonaudit.__path__)  # in a checkout the rules are beside it
    return digest_of(sorted([*here.rglob("*.py"), *(path for one in others for path in (one / "rules").rglob("*.py"))]))


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
