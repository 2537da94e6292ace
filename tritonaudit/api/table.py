"""Every public name of Triton in every release that is known, read from a table that a script makes of the wheels.

`tools/api_table` writes table.json: for each module and class its names, and for each name the stretches of releases
in which its definition stays the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from tritonaudit.target import Version

TENSOR = "triton.language.tensor"
"""The scope of a block's own methods and attributes."""

_CALLED = ("function", "builtin", "jit", "class")


@dataclass(frozen=True)
class Parameter:
    """One parameter: `default` as its source text, None where it must be given; `star` is `*` or `**` or empty."""

    name: str
    default: str | None = None
    keyword_only: bool = False
    star: str = ""
    deprecated: bool = False

    def __str__(self) -> str:
        return f"{self.star}{self.name}" + ("" if self.default is None else f"={self.default}")


@dataclass(frozen=True)
class Definition:
    """What a name is in some releases. `state` is `deprecated`, `removed` (calling it only raises) or empty."""

    kind: str
    text: str = "?"
    state: str = ""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...] | None:
        """What a call may pass; None where it is not called, or how is not known."""
        if self.kind not in _CALLED or self.text == "?":
            return None
        return tuple(_parameters(self.text))

    @property
    def signature(self) -> str:
        """The parameters as Python writes them, in parentheses; empty where they are not known."""
        return "" if self.parameters is None else f"({self.text.replace('~', '').replace('; ', ', ')})"


def _parameters(text: str) -> Iterator[Parameter]:
    keyword_only = False
    for part in filter(None, text.split("; ")):
        if part == "*":
            keyword_only = True
            continue
        name, has_default, default = part.partition("=")
        bare = name.lstrip("~*")
        star = "*" * name.count("*")
        yield Parameter(bare, default if has_default else None, keyword_only, star, "~" in name)
        keyword_only = keyword_only or star == "*"


UNLISTED = Definition("unknown")
"""A name that the table does not list: it may be anything."""

_MODULE = Definition("module")


@dataclass(frozen=True)
class Name:
    """One name through the releases. Where it does not exist, `definitions` lacks the release."""

    dotted: str
    definitions: Mapping[Version, Definition]

    def missing(self, versions: tuple[Version, ...]) -> tuple[Version, ...]:
        """Those of the releases that do not have it, or where calling it only raises."""
        return tuple(version for version in versions if not self.usable(version))

    def usable(self, version: Version) -> bool:
        definition = self.definitions.get(version)
        return definition is not None and definition.state != "removed"


class Table:
    """Looks names up."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.releases: tuple[Version, ...] = tuple(_minor(text) for text in data["releases"])
        self._definitions = [Definition(*written) for written in data["definitions"]]
        self._modules: Mapping[str, list[int]] = data["modules"]
        self._names: Mapping[str, Mapping[str, list[int]]] = data["names"]
        self._found: dict[str, Name] = {}

    def name(self, dotted: str) -> Name:
        """What `dotted`, which begins with `triton`, is; one that no release has gives a Name without definitions."""
        if dotted not in self._found:
            resolved = {version: self._resolved(dotted, at) for at, version in enumerate(self.releases)}
            self._found[dotted] = Name(dotted, {v: found for v, found in resolved.items() if found is not None})
        return self._found[dotted]

    def names(self, scope: str, version: Version) -> list[str]:
        """The public names that a module or a class has in a release."""
        at = self.releases.index(version)
        return [name for name in self.ever(scope) if self._at(scope, name, at)]

    def ever(self, scope: str) -> list[str]:
        """The public names that a module or a class has in some release."""
        return [name for name in self._names.get(scope, ()) if not name.startswith("_")]

    def _resolved(self, dotted: str, release: int) -> Definition | None:
        """The definition in one release; UNLISTED where a part on the way has attributes that are not listed."""
        first, *parts = dotted.split(".")
        scope: str | None = first if first == "triton" else None
        found: Definition | None = _MODULE
        for part in parts:
            if scope is None:
                return UNLISTED
            inner = f"{scope}.{part}"
            found = self._at(scope, part, release) if scope in self._names else self._submodule(inner, release)
            if found is None:
                return None
            scope = self._scope(inner, found)
        return found if first == "triton" else UNLISTED

    def _scope(self, dotted: str, found: Definition) -> str | None:
        """Where the attributes of what was found are listed."""
        if found.kind == "module":
            return dotted if found.text == "?" else found.text
        return dotted if found.kind == "class" and dotted in self._names and dotted not in self._modules else None

    def _submodule(self, dotted: str, release: int) -> Definition | None:
        """A name in a module whose names are not listed: known where it is a module."""
        if dotted not in self._modules:
            return UNLISTED
        return _MODULE if _within(self._modules[dotted], release, 2) is not None else None

    def _at(self, scope: str, name: str, release: int) -> Definition | None:
        history = self._names[scope].get(name)
        if history is None:
            return None
        start = _within(history, release, 3)
        return None if start is None else self._definitions[history[start + 2]]


def _within(history: list[int], release: int, width: int) -> int | None:
    """Where the stretch that holds the release begins in a history."""
    for start in range(0, len(history), width):
        if history[start] <= release <= history[start + 1]:
            return start
    return None


def _minor(release: str) -> Version:
    major, minor = release.split(".")[:2]
    return int(major), int(minor)


@cache
def table() -> Table:
    """The table of the releases that are known, read when it is first asked for."""
    return Table(json.loads(Path(__file__).with_name("table.json").read_bytes()))
