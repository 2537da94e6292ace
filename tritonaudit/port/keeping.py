"""Writes logs and attempts: at once, and never in place of what someone else wrote."""

from __future__ import annotations

from pathlib import Path

from tritonaudit.replacing import replace_file

MARK = "Written by `tritonaudit select`, which replaces it."
_MARK_FILE = ".tritonaudit-select"


class NotOurs(Exception):
    """What stands where something is to be written was not written by us."""


def write_log(path: Path, text: str) -> None:
    """Write a log with the mark at its end. Raises NotOurs, and OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = f"<!-- {MARK} -->"
    if path.exists() and (not path.is_file() or not path.read_bytes().rstrip().endswith(line.encode())):
        raise NotOurs(f"{path} exists and was not written by this tool: move it away, or choose another --logs")
    replace_file(path, f"{text.rstrip()}\n\n{line}\n".encode("utf-8", "replace"))


def write_attempt(folder: Path, operation: Path, variant: Path, data: bytes) -> Path:
    """Write down the operation's folder as it would be with these bytes as the variant; the variant's file there.

    All Python files beside it are copied, since a variant may import them. Raises NotOurs, and OSError.
    """
    if folder.exists() and not (folder / _MARK_FILE).is_file():
        raise NotOurs(f"{folder} exists and was not written by this tool: move it away, or choose another --logs")
    copied = folder / operation.absolute().name
    copied.mkdir(parents=True, exist_ok=True)
    (folder / _MARK_FILE).write_text(f"{MARK}\n", encoding="utf-8")
    for other in sorted(operation.glob("*.py")):
        if other.is_file() and other.name != variant.name:
            replace_file(copied / other.name, other.read_bytes())
    written = copied / variant.name
    replace_file(written, data)
    return written
