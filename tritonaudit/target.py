"""Which Triton versions a project means to run on."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Version = tuple[int, int]

KNOWN: tuple[Version, ...] = (*((2, minor) for minor in range(4)), *((3, minor) for minor in range(10)))
"""The releases that the rules know about."""

DEFAULT = ">=3.2"

_COMPARISONS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "": operator.eq,
}
_CLAUSE = re.compile(r"(>=|<=|==|!=|>|<|)\s*([0-9]+)\.([0-9]+)")


class TargetError(ValueError):
    """The text does not name Triton versions."""


@dataclass(frozen=True)
class Target:
    """The known releases that a specifier such as `>=3.2,<3.8` admits, oldest first; never none.

    `asked_in` is the file that asks for them, empty where nobody did and they are the default.
    """

    text: str
    versions: tuple[Version, ...]
    asked_in: str = ""

    @classmethod
    def parse(cls, text: str = DEFAULT) -> Target:
        """Reads comparisons with major.minor versions, joined by commas; a bare version means that one."""
        clauses = [_clause(part.strip(), text) for part in text.split(",")]
        versions = tuple(
            known for known in KNOWN if all(_COMPARISONS[sign](known, version) for sign, version in clauses)
        )
        if not versions:
            first, last = (written(KNOWN[index]) for index in (0, -1))
            raise TargetError(f"{text!r} admits none of the known Triton releases, {first} to {last}")
        return cls(text, versions)

    @classmethod
    def of(cls, versions: tuple[Version, ...], asked_in: str) -> Target:
        """These releases, at least one, oldest first; the text is a specifier that admits them and no others."""
        clauses = [f">={written(versions[0])}"]
        if versions[-1] != KNOWN[-1]:
            clauses.append(f"<={written(versions[-1])}")
        between = (known for known in KNOWN if versions[0] < known < versions[-1] and known not in versions)
        clauses += [f"!={written(known)}" for known in between]
        text = f"=={written(versions[0])}" if len(versions) == 1 else ",".join(clauses)
        return cls(text, versions, asked_in)

    def supports(self, since: Version | None, until: Version | None = None) -> Literal["all", "some", "none"]:
        """How many of the versions have what came in `since` (None: always there) and went in `until` (None: never)."""
        having = [
            version
            for version in self.versions
            if (since is None or version >= since) and (until is None or version < until)
        ]
        if not having:
            return "none"
        return "all" if len(having) == len(self.versions) else "some"


def written(version: Version) -> str:
    """`3.2`."""
    return f"{version[0]}.{version[1]}"


def _clause(part: str, text: str) -> tuple[str, Version]:
    found = _CLAUSE.fullmatch(part)
    if found is None:
        raise TargetError(
            f"{text!r} is not a version specifier: {part!r} should be a major.minor version such as 3.2,"
            " after one of >= <= == != > < or nothing"
        )
    return found[1], (int(found[2]), int(found[3]))
