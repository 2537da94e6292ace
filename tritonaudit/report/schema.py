"""Whether data is as one of the schemas beside this module says; what they are written with is understood here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda data: data is None,
    "boolean": lambda data: isinstance(data, bool),
    "integer": lambda data: isinstance(data, int) and not isinstance(data, bool),
    "number": lambda data: isinstance(data, (int, float)) and not isinstance(data, bool),
    "string": lambda data: isinstance(data, str),
    "array": lambda data: isinstance(data, list),
    "object": lambda data: isinstance(data, dict),
}


def breach(data: Any, file: str) -> str | None:
    """The first thing in data, as json.loads gives it, that the schema of that file forbids, and where; None if none.

    `subjects[0].path: is no string`.
    """
    return next(_Schema(file).breaches(data, schema(file), ""), None)


@cache
def schema(file: str) -> dict[str, Any]:
    """The schema in a file beside this module."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / file).read_text("utf-8"))
    return loaded


class _Schema:
    """The schemas as seen from one file."""

    def __init__(self, file: str) -> None:
        self._file = file

    def breaches(self, data: Any, said: Mapping[str, Any], at: str) -> Iterator[str]:
        if "$ref" in said:
            file, _, pointer = said["$ref"].partition("#")
            file = file or self._file
            yield from _Schema(file).breaches(data, _found(schema(file), pointer), at)
        if "type" in said and not _is_of(said["type"], data):
            yield f"{_shown(at)}: is not {_either(said['type'])}"
            return
        if "enum" in said and data not in said["enum"]:
            yield f"{_shown(at)}: is none of {', '.join(map(json.dumps, said['enum']))}"
        if "oneOf" in said:
            yield from self._one_of(data, said["oneOf"], at)
        if isinstance(data, dict):
            yield from self._of_object(data, said, at)
        elif isinstance(data, list) and "items" in said:
            for number, item in enumerate(data):
                yield from self.breaches(item, said["items"], f"{at}[{number}]")
        elif isinstance(data, str) and "pattern" in said and not re.search(said["pattern"], data):
            yield f"{_shown(at)}: does not match {said['pattern']}"
        elif _TYPES["number"](data) and data < said.get("minimum", data):
            yield f"{_shown(at)}: is less than {said['minimum']}"

    def _one_of(self, data: Any, ways: Sequence[Mapping[str, Any]], at: str) -> Iterator[str]:
        told = [next(self.breaches(data, way, at), None) for way in ways]
        if told.count(None) != 1:
            # What the last of them says: the others are mostly null.
            yield told[-1] or f"{_shown(at)}: fits several of what it may be"

    def _of_object(self, data: Mapping[str, Any], said: Mapping[str, Any], at: str) -> Iterator[str]:
        for key in said.get("required", ()):
            if key not in data:
                yield f"{_shown(at)}: lacks {key!r}"
        known = said.get("properties", {})
        others = said.get("additionalProperties", True)
        for key, value in data.items():
            if key in known:
                yield from self.breaches(value, known[key], f"{at}.{key}" if at else key)
            elif others is False:
                yield f"{_shown(at)}: has {key!r}, which is none of its keys"
            elif isinstance(others, dict):
                yield from self.breaches(value, others, f"{at}.{key}" if at else key)


def _found(said: Mapping[str, Any], pointer: str) -> Mapping[str, Any]:
    for part in filter(None, pointer.split("/")):
        said = said[part]
    return said


def _is_of(types: str | Sequence[str], data: Any) -> bool:
    return any(_TYPES[name](data) for name in ([types] if isinstance(types, str) else types))


def _either(types: str | Sequence[str]) -> str:
    return types if isinstance(types, str) else " or ".join(types)


def _shown(at: str) -> str:
    return at or "the whole"
