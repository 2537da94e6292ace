"""Patterns as a .gitignore holds them, matched as git matches them.

The libraries for it were compared with `git check-ignore`: they take a pattern for a folder's contents to match the
folder too, so that `out/**` followed by `!out/keep.py` loses the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class Pattern:
    """One pattern: it ignores, or with `negated` takes back, the paths or only the `folders` that `regex` matches."""

    regex: re.Pattern[str]
    whole_path: bool
    folders: bool
    negated: bool


@dataclass(frozen=True)
class Patterns:
    """The patterns of one file, or of one list, in order."""

    patterns: tuple[Pattern, ...]
    _names: re.Pattern[str] = field(repr=False, compare=False)
    _paths: re.Pattern[str] = field(repr=False, compare=False)

    @classmethod
    def of(cls, lines: Iterable[str]) -> Patterns:
        """The patterns of these lines; blank lines, comments and patterns that git finds malformed match nothing."""
        patterns = tuple(pattern for line in lines if (pattern := _parse(line)))
        return cls(patterns, _either(patterns, whole_path=False), _either(patterns, whole_path=True))

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """True where the path is ignored, False where it is taken back, None where no pattern speaks of it.

        `path` is relative to where the patterns stand. Its parents are not looked at.
        """
        name = path[path.rfind("/") + 1 :]
        # Nearly no path matches anything, and one alternation tells so far sooner than a loop over the patterns.
        if not (self._names.fullmatch(name) or self._paths.fullmatch(path)):
            return None
        for pattern in reversed(self.patterns):
            subject = path if pattern.whole_path else name
            if (folder or not pattern.folders) and pattern.regex.fullmatch(subject):
                return not pattern.negated
        return None

    def covers(self, path: str) -> bool:
        """Whether the file, or a folder that it lies in, is ignored."""
        slashes = [index for index, letter in enumerate(path) if letter == "/"]
        return any(self.verdict(path[:index], folder=True) for index in slashes) or bool(
            self.verdict(path, folder=False)
        )


def _either(patterns: tuple[Pattern, ...], *, whole_path: bool) -> re.Pattern[str]:
    sources = [pattern.regex.pattern for pattern in patterns if pattern.whole_path is whole_path]
    return re.compile("|".join(sources), re.DOTALL) if sources else _NEVER


def _parse(line: str) -> Pattern | None:
    text = _trimmed(line.rstrip("\n").removesuffix("\r"))
    if text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text.removeprefix("!")
    folders = text.endswith("/")
    text = text.removesuffix("/")
    whole_path = "/" in text
    source = _translate(text.removeprefix("/"))
    return Pattern(re.compile(source, re.DOTALL), whole_path, folders, negated) if source else None


def _trimmed(text: str) -> str:
    """Without the spaces at the end, but for the first one where a backslash keeps it."""
    trimmed = text.rstrip(" ")
    backslashes = len(trimmed) - len(trimmed.rstrip("\\"))
    return trimmed + " " if backslashes % 2 and trimmed != text else trimmed


def _translate(glob: str) -> str | None:
    """The regular expression of a glob, None for one that can match nothing."""
    parts: list[str] = []
    position = 0
    while position < len(glob):
        letter = glob[position]
        if letter == "*":
            part, position = _stars(glob, position)
        elif letter == "?":
            part, position = "[^/]", position + 1
        elif letter == "[":
            bracket = _bracket(glob, position + 1)
            if bracket is None:
                return None
            part, position = bracket
        else:
            position += letter == "\\"
            if position == len(glob):
                return None
            part, position = re.escape(glob[position]), position + 1
        parts.append(part)
    return "".join(parts)


def _stars(glob: str, start: int) -> tuple[str, int]:
    """Two stars that stand alone between slashes match any folders; all others stay within a name."""
    end = start
    while glob[end : end + 1] == "*":
        end += 1
    alone = (start == 0 or glob[start - 1] == "/") and glob[end : end + 1] in ("", "/")
    if end - start < 2 or not alone:
        return "[^/]*", end
    return (".*", end) if end == len(glob) else ("(?:.*/)?", end + 1)


def _bracket(glob: str, position: int) -> tuple[str, int] | None:
    """The class after a `[` and the position behind it, None when it never ends."""
    negated = glob[position : position + 1] in ("!", "^")
    position += negated
    members: list[str] = []
    first = True
    while first or glob[position : position + 1] != "]":
        first = False
        if named := re.compile(r"\[:([^\]]*):\]").match(glob, position):
            if named[1] not in _CLASSES:
                return None
            members.append(_CLASSES[named[1]])
            position = named.end()
            continue
        low, position = _member(glob, position)
        high = low
        if glob[position : position + 1] == "-" and glob[position + 1 : position + 2] not in ("", "]"):
            high, position = _member(glob, position + 1)
        if not low or not high:
            return None
        # A range that runs backwards still holds its first letter.
        members.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low))
    inside = "".join(members)
    if negated:
        return f"[^/{inside}]", position + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), position + 1


def _member(glob: str, position: int) -> tuple[str, int]:
    position += glob[position : position + 1] == "\\"
    return glob[position : position + 1], position + 1
