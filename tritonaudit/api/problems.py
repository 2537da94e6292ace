"""What is wrong with a use of a name, in which of the targeted releases."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from tritonaudit.api.table import Name, Parameter, Table
from tritonaudit.api.uses import Use
from tritonaudit.target import Version


class ProblemKind(Enum):
    UNKNOWN = auto()
    """No release has it."""
    NOT_YET = auto()
    """It came later than the oldest of the releases."""
    GONE = auto()
    """It went before the newest of the releases."""
    DEPRECATED = auto()
    TOO_MANY = auto()
    """More positional arguments than it takes."""
    MISSING = auto()
    """A parameter without a default is not given."""
    BY_PATH = auto()
    """It is there, and works only under a name of its own."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a use; `versions` are the releases, oldest first, in which it is.

    `name` is the part of the dotted name that is wrong, `parameter` the parameter where it is one.
    """

    kind: ProblemKind
    use: Use
    name: Name
    versions: tuple[Version, ...]
    parameter: str | None = None
    limit: int = 0

    @property
    def documented(self) -> bool:
        """Whether only Triton's documentation says it: it does not warn of parameters that are deprecated."""
        return self.kind is ProblemKind.DEPRECATED and self.parameter is not None


Versions = tuple[Version, ...]


def problems(table: Table, use: Use, versions: Versions) -> Iterator[Problem]:
    """All that is wrong with a use in these releases."""
    name = table.name(use.origin)
    missing = name.missing(versions)
    if isinstance(use.node, ast.Name):  # whether it is there is asked where it is imported
        versions = tuple(version for version in versions if version not in missing)
    elif missing:
        culprit = _culprit(table, use.origin, missing)
        yield Problem(_absence(culprit, missing), use, culprit, culprit.missing(versions))
        return
    deprecated = tuple(version for version in versions if name.definitions[version].state == "deprecated")
    if deprecated:
        yield Problem(ProblemKind.DEPRECATED, use, name, deprecated)
    if by_path := tuple(version for version in versions if _fails_by_path(use, version)):
        yield Problem(ProblemKind.BY_PATH, use, name, by_path)
    if use.call is not None:
        yield from _of_call(use, use.call, name, versions)


def _fails_by_path(use: Use, version: Version) -> bool:
    """`tl.extra.libdevice.tanh(…)`: these releases put the target's own library only in an imported module's place."""
    by_path = use.origin.startswith("triton.language.extra.libdevice.") and ".libdevice." in use.written
    return by_path and use.call is not None and (3, 2) <= version <= (3, 5)


def _culprit(table: Table, origin: str, missing: Versions) -> Name:
    """The first part of a dotted name that the releases do not have."""
    parts = origin.split(".")
    for count in range(1, len(parts)):
        name = table.name(".".join(parts[:count]))
        if name.missing(missing):
            return name
    return table.name(origin)


def _absence(name: Name, missing: Versions) -> ProblemKind:
    having = [version for version in name.definitions if name.usable(version)]
    if not having:
        return ProblemKind.UNKNOWN if not name.definitions else ProblemKind.GONE
    return ProblemKind.GONE if missing[-1] > max(having) else ProblemKind.NOT_YET


def _of_call(use: Use, call: ast.Call, name: Name, versions: Versions) -> Iterator[Problem]:
    known = {version: found for version in versions if (found := name.definitions[version].parameters) is not None}
    if not known or any(isinstance(argument, ast.Starred) for argument in call.args):
        return
    every = {
        version: parameters
        for version, definition in name.definitions.items()
        if (parameters := definition.parameters) is not None
    }
    keywords = [keyword.arg for keyword in call.keywords]
    for keyword in keywords:
        if keyword is not None:
            yield from _of_keyword(use, name, keyword, known, every)
    yield from _of_count(use, name, len(call.args), known)
    if None not in keywords:
        yield from _of_missing(use, name, call, known)


Signatures = dict[Version, tuple[Parameter, ...]]


def _of_keyword(use: Use, name: Name, keyword: str, known: Signatures, every: Signatures) -> Iterator[Problem]:
    bad = tuple(version for version, parameters in known.items() if not _takes(parameters, keyword))
    if bad:
        having = [version for version, parameters in every.items() if _takes(parameters, keyword)]
        kind = ProblemKind.UNKNOWN if not having else ProblemKind.GONE if bad[-1] > max(having) else ProblemKind.NOT_YET
        yield Problem(kind, use, name, bad, keyword)
        return
    deprecated = tuple(
        version for version, parameters in known.items() if any(p.name == keyword and p.deprecated for p in parameters)
    )
    if deprecated:
        yield Problem(ProblemKind.DEPRECATED, use, name, deprecated, keyword)


def _takes(parameters: tuple[Parameter, ...], keyword: str) -> bool:
    return any(p.star == "**" or (p.name == keyword and not p.star) for p in parameters)


def _of_count(use: Use, name: Name, given: int, known: Signatures) -> Iterator[Problem]:
    limits = {version: _most(parameters) for version, parameters in known.items()}
    bad = tuple(version for version, limit in limits.items() if limit is not None and given > limit)
    if bad:
        yield Problem(ProblemKind.TOO_MANY, use, name, bad, limit=limits[bad[-1]] or 0)


def _most(parameters: tuple[Parameter, ...]) -> int | None:
    """How many positional arguments it takes; None where any number."""
    if any(p.star == "*" for p in parameters):
        return None
    return sum(not p.keyword_only and not p.star for p in parameters)


def _of_missing(use: Use, name: Name, call: ast.Call, known: Signatures) -> Iterator[Problem]:
    given = {keyword.arg for keyword in call.keywords}
    missing: dict[str, list[Version]] = {}
    for version, parameters in known.items():
        for position, parameter in enumerate(parameters):
            by_place = not parameter.keyword_only and position < len(call.args)
            if parameter.default is None and not parameter.star and not by_place and parameter.name not in given:
                missing.setdefault(parameter.name, []).append(version)
    for parameter_name, versions in missing.items():
        yield Problem(ProblemKind.MISSING, use, name, tuple(versions), parameter_name)
