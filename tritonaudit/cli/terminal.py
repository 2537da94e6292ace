"""Where text goes: the standard output, in colour or not, or a file."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path

import click

from tritonaudit.replacing import replace_file


def is_terminal() -> bool:
    """Whether someone reads the standard output as it comes."""
    return sys.stdout.isatty()


def wants_color() -> bool:
    """Colour on a terminal; NO_COLOR and FORCE_COLOR overrule, in this order, when they are not empty."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_terminal()


def write(text: str) -> bool:
    """Write to the standard output; False where the reader has hung up (`| head`), who has seen enough."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer would raise again when Python flushes it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def write_file(path: Path, text: str) -> None:
    """Write a file at once: it holds all of the text or what it held before."""
    try:
        _replace(path.resolve(), text)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8", errors="replace")  # a device or a pipe is written to, not replaced
        return
    replace_file(path, text.encode("utf-8", "replace"))
