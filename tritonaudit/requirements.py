"""Which Triton versions a project's own metadata ask for, so that nobody has to say it twice."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonaudit.target import KNOWN, Target, Version
from tritonaudit.vendors import names_vendor

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TRITON_OF_TORCH: dict[Version, Version] = {
    (2, 0): (2, 0),
    (2, 1): (2, 1),
    (2, 2): (2, 2),
    (2, 3): (2, 3),
    (2, 4): (3, 0),
    (2, 5): (3, 1),
    (2, 6): (3, 2),
    (2, 7): (3, 3),
    (2, 8): (3, 4),
    (2, 9): (3, 5),
    (2, 10): (3, 6),
    (2, 11): (3, 6),
    (2, 12): (3, 7),
    (2, 13): (3, 7),
    (2, 14): (3, 8),
    (2, 15): (3, 9),
}
"""What torch's releases require: `Requires-Dist: triton==…` in the metadata of their Linux wheels on PyPI."""

_PATCHES = range(10)
_DEVELOPMENT = re.compile(r"dev|test|lint|doc|bench|ci$|example|typing", re.IGNORECASE)

_VENDOR = re.compile(r"\+(?!cpu|cu\d|rocm|xpu)", re.IGNORECASE)
"""A vendor's build of torch, which comes with a Triton of the vendor's own."""
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)""")

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*\(?\s*((?:[<>=!~]=?=?\s*[^,;()\s]+\s*,?\s*)*)\)?")
_CLAUSE = re.compile(r"(===|==|>=|<=|!=|~=|>|<)\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([^,\s]*)")

Release = tuple[int, int, int]


_Groups = Mapping[str, Sequence[str]]
"""Requirements by the extra that asks for them; those under the empty name are asked for in any case."""


def asked_target(root: Path) -> Target | None:
    """The releases that the project at `root` asks for; None where it names no version of triton or of torch.

    Of a folder, the first that says something counts: pyproject.toml, setup.cfg, the literals in setup.py,
    requirements*.txt, and the METADATA of a package that is unpacked there alone. A `root` that is neither a checkout
    nor has a pyproject.toml may be a part of something: then the folders above it are looked at as well.
    """
    for folder in (root, *root.parents):
        for read in (_pyproject, _setup_cfg, _setup_py, _requirements, _metadata):
            for name, groups in read(folder):
                if (versions := _asked(groups)) is not None:
                    return Target.of(versions, name)
        if any((folder / mark).exists() for mark in ("pyproject.toml", ".git")) or folder.name.endswith("-packages"):
            break
    return None


def _asked(groups: _Groups) -> tuple[Version, ...] | None:
    """What is asked for in any case; where that says nothing, what one extra or another asks for."""
    if (always := _admitted(groups.get("", ()))) is not None:
        return always
    counting = (extra for extra in groups if not _DEVELOPMENT.search(extra) and not names_vendor(extra))
    extras = [_admitted(groups[extra]) for extra in counting]
    return tuple(sorted({version for versions in extras for version in versions or ()})) or None


def _pyproject(root: Path) -> Iterator[tuple[str, _Groups]]:
    try:
        table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    project = table.get("project", {})
    if isinstance(project, dict):
        extras = project.get("optional-dependencies", {})
        groups = {"": project.get("dependencies"), **(extras if isinstance(extras, dict) else {})}
        yield "pyproject.toml", {extra: _strings(listed) for extra, listed in groups.items()}


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _setup_cfg(root: Path) -> Iterator[tuple[str, _Groups]]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string((root / "setup.cfg").read_text(encoding="utf-8"))
    except (OSError, ValueError, configparser.Error):
        return
    extras = parser["options.extras_require"] if parser.has_section("options.extras_require") else {}
    required = {"": parser.get("options", "install_requires", fallback=""), **extras}
    yield "setup.cfg", {extra: text.splitlines() for extra, text in required.items()}


def _setup_py(root: Path) -> Iterator[tuple[str, _Groups]]:
    try:
        tree = ast.parse((root / "setup.py").read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return
    groups: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "install_requires":
            groups[""] = _strings(_literal(node.value))
        elif isinstance(node, ast.keyword) and node.arg == "extras_require":
            extras = _literal(node.value)
            if isinstance(extras, dict):
                groups |= {str(extra): _strings(listed) for extra, listed in extras.items()}
    yield "setup.py", groups


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _requirements(root: Path) -> Iterator[tuple[str, _Groups]]:
    for path in sorted(root.glob("requirements*.txt")):
        if not _DEVELOPMENT.search(path.stem):
            yield path.name, {"": _lines(path)}


def _metadata(root: Path) -> Iterator[tuple[str, _Groups]]:
    unpacked = list(root.glob("*.dist-info/METADATA"))  # one; a folder of installed packages has many
    for path in (*unpacked[: len(unpacked) == 1], root / "PKG-INFO"):
        groups: dict[str, list[str]] = {}
        for line in _lines(path):
            if line.startswith("Requires-Dist:"):
                extra = _EXTRA.search(line)
                groups.setdefault(extra[1] if extra else "", []).append(line.removeprefix("Requires-Dist:"))
        yield path.name, groups


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


# -- specifiers --------------------------------------------------------------------------------------------------


def _admitted(requirements: Iterable[str]) -> tuple[Version, ...] | None:
    """The known releases that all requirements admit; None where none says anything, or they contradict each other."""
    admitted: set[Version] | None = None
    for text in requirements:
        versions = _of_requirement(text)
        if versions is not None:
            admitted = versions if admitted is None else admitted & versions
    return tuple(sorted(admitted)) if admitted else None


def _of_requirement(text: str) -> set[Version] | None:
    found = _REQUIREMENT.match(text)
    if found is None or found[1].lower() not in ("triton", "torch") or _VENDOR.search(found[2]):
        return None
    clauses = [_clause(clause) for clause in _CLAUSE.finditer(found[2])]
    if not clauses:
        return None
    of_triton = found[1].lower() == "triton"
    admitted = {
        minor
        for minor in (KNOWN if of_triton else _TRITON_OF_TORCH)
        if any(all(clause((*minor, patch)) for clause in clauses) for patch in _PATCHES)
    }
    return admitted if of_triton else {_TRITON_OF_TORCH[release] for release in admitted}


@dataclass(frozen=True)
class _Clause:
    """One comparison of a specifier with a release; `parts` are those numbers that it gives."""

    sign: str
    parts: tuple[int, ...]

    def __call__(self, release: Release) -> bool:
        given = (*self.parts, 0, 0)[:3]
        if self.sign == "~=":
            return release >= given and release[: len(self.parts) - 1] == self.parts[:-1]
        return _SIGNS[self.sign](release, given) if self.sign not in ("==*", "!=*") else self._prefixed(release)

    def _prefixed(self, release: Release) -> bool:
        return (release[: len(self.parts)] == self.parts) is (self.sign == "==*")


_SIGNS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "===": lambda release, given: release == given,
    "==": lambda release, given: release == given,
    "!=": lambda release, given: release != given,
    ">=": lambda release, given: release >= given,
    "<=": lambda release, given: release <= given,
    ">": lambda release, given: release > given,
    "<": lambda release, given: release < given,
}


def _clause(found: re.Match[str]) -> _Clause:
    parts = tuple(int(part) for part in found.groups()[1:4] if part is not None)
    sign = found[1]
    prefixed = sign in ("==", "!=") and found[5].startswith(".*")
    return _Clause(f"{sign}*" if prefixed else sign, parts)
