"""The Python text of a published package, which is unpacked and never installed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

_TEXTS = (".py", "pyproject.toml")
_WAYS = (
    ("--only-binary", ":all:"),
    ("--only-binary", ":all:", "--python-version", "3.12", "--platform", "manylinux2014_x86_64"),
    ("--no-binary", ":all:"),
)
"""How an archive is asked for: a wheel, one for another Python than ours, the sources."""


def unpacked(package: str, version: str, folder: Path) -> tuple[str, str]:
    """The digest of the archive, whose Python text is in the folder then; or why there is none."""
    with tempfile.TemporaryDirectory() as place:
        for way in _WAYS:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--ignore-requires-python"]
            ran = subprocess.run(
                [*command, *way, "-d", place, f"{package}=={version}"], check=False, capture_output=True
            )
            archive = next(Path(place).iterdir(), None)
            if ran.returncode == 0 and archive is not None:
                _unpack(archive, folder)
                return hashlib.sha256(archive.read_bytes()).hexdigest(), ""
    return "", "not downloaded"


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder, [name for name in wheel.namelist() if name.endswith(_TEXTS)])
    else:
        with tarfile.open(archive) as sources:
            members = [one for one in sources.getmembers() if one.isfile() and one.name.endswith(_TEXTS)]
            sources.extractall(folder, members, filter="data")
