"""`--show-files` and `--show-settings`: what would be read, and what governs it, in place of an audit."""

from __future__ import annotations

import json
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonaudit.cli import terminal
from tritonaudit.cli.notices import complain, warn_of_nothing
from tritonaudit.finding import Audit, Problem
from tritonaudit.shown import shown_path

if TYPE_CHECKING:
    from tritonaudit.config import Config

_NO_KEYS = ("root", "source", "extended", "nearest", "warnings", "per_file_ignores")


def show_files(sources: tuple[Path, ...], config: Config, *, quiet: bool) -> int:
    """The files that an audit would read, a line each; 2 where a path is none that can be read."""
    from tritonaudit.source.discover import discover

    found = discover(sources, config)
    complain(found.problems)
    if not quiet and not found.sources:
        warn_of_nothing(Audit(problems=found.problems), sources)
    terminal.write("".join(f"{shown_path(path)}\n" for path in found.sources))
    return 2 if found.problems else 0


def show_settings(source: Path, config: Config, *, is_text: bool) -> int:
    """The configuration that governs a file or a folder, in TOML; 2 where it is neither, nor the name of a text."""
    if not is_text and not source.exists():
        complain([Problem(str(source), "no such file or folder")])
        return 2
    governing = config.of_folder(str(source)) if source.is_dir() else config.of(source)
    terminal.write("".join(f"{line}\n" for line in (*_origin(source, governing), *_settings(governing))))
    return 0


def _origin(source: Path, config: Config) -> list[str]:
    said_in = "the defaults: no file configures it" if config.source is None else shown_path(config.source)
    return [f"# What governs {shown_path(source)}: {said_in}", f"# Patterns are relative to {config.root.absolute()}"]


def _settings(config: Config) -> list[str]:
    values = {
        one.name.replace("_", "-"): getattr(config, one.name) for one in fields(config) if one.name not in _NO_KEYS
    }
    lines = [f"{key} = {_written(value)}" for key, value in values.items() if value is not None]
    if config.per_file_ignores:
        lines += ["", "[per-file-ignores]"]
        lines += [f"{json.dumps(glob)} = {_written(rules)}" for glob, rules in config.per_file_ignores]
    return lines


def _written(value: Any) -> str:
    """A string, a boolean or a list is written alike in JSON and in TOML."""
    return json.dumps(value.value if isinstance(value, Enum) else value, ensure_ascii=False)
