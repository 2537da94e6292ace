"""What a project says about its audit, in `[tool.tritonaudit]` of pyproject.toml or in a tritonaudit.toml."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tritonaudit.finding import Problem, Severity
from tritonaudit.rule import Rule
from tritonaudit.selection import ALL, unknown_selector
from tritonaudit.target import DEFAULT, Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT_EXCLUDE = (
    ".*/",
    "__pycache__/",
    "__pypackages__/",
    "_build/",
    "buck-out/",
    "build/",
    "dist/",
    "node_modules/",
    "site-packages/",
)
"""Folders that hold no source of the project itself; `.*/` are the hidden ones."""


@dataclass(frozen=True)
class Config:
    """A configuration. Each field is a key, with `-` for `_`; patterns are those of a .gitignore in `root`."""

    root: Path
    select: tuple[str, ...] = (ALL,)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    pedantic: bool = False
    fail_on: Severity = Severity.ERROR
    target_triton: str | None = None
    hardware: str | None = None

    @property
    def hardware_file(self) -> Path | None:
        """The file with GPUs of the project's own."""
        return None if self.hardware is None else self.root / self.hardware

    @property
    def target(self) -> Target:
        """The Triton versions that the project means to run on; the default where the configuration names none."""
        if self.target_triton is None:
            return Target.parse(DEFAULT)
        return replace(Target.parse(self.target_triton), asked_in="the configuration")


class ConfigError(Exception):
    """A configuration that cannot be used, and everything that is wrong with it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(_sentence(problem) for problem in problems))


def load_config(root: Path, file: Path | None = None, rules: Sequence[type[Rule]] | None = None) -> Config:
    """The configuration of the project at `root`: that of `file`, or else of its tritonaudit.toml or pyproject.toml.

    Selectors are checked against `rules`, by default all that are installed. Raises ConfigError.
    """
    candidates = (root / "tritonaudit.toml", root / "pyproject.toml")
    source = file or next((path for path in candidates if path.is_file()), None)
    return Config(root) if source is None else _Loader.of(source, rules).config(root)


@dataclass(frozen=True)
class _Loader:
    """Reads the table of one file; `header` is the table's name there."""

    source: Path
    lines: tuple[str, ...]
    header: str
    table: dict[str, Any]
    rules: Sequence[type[Rule]] | None

    @classmethod
    def of(cls, source: Path, rules: Sequence[type[Rule]] | None) -> _Loader:
        try:
            text = source.read_bytes().decode("utf-8-sig")
            table: Any = tomllib.loads(text)
        except OSError as error:
            raise ConfigError([Problem(str(source), f"cannot read it: {error.strerror}")]) from error
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise ConfigError([Problem(str(source), "not UTF-8, as TOML must be", line)]) from error
        except tomllib.TOMLDecodeError as error:
            raise ConfigError([_syntax_problem(source, str(error))]) from error
        header = "tool.tritonaudit" if source.name == "pyproject.toml" else ""
        for part in filter(None, header.split(".")):
            table = table.get(part, {})
            if not isinstance(table, dict):
                raise ConfigError([Problem(str(source), f"{header} should be a table")])
        return cls(source, tuple(text.splitlines()), header, table, rules)

    def config(self, root: Path) -> Config:
        values: dict[str, Any] = {}
        problems: list[Problem] = []
        for key, value in self.table.items():
            try:
                values[key.replace("-", "_")] = _reader(key)(value)
            except ValueError as error:
                problems.append(self._problem(key, str(error)))
            else:
                problems += self._unknown_selectors(key, value)
        if problems:
            raise ConfigError(sorted(problems, key=lambda problem: problem.line or 0))
        return Config(root, **values)

    def _unknown_selectors(self, key: str, value: Any) -> Iterator[Problem]:
        if key not in ("select", "ignore", "extend-select", "per-file-ignores"):
            return
        lists = value.items() if isinstance(value, dict) else [("", value)]
        for glob, selectors in lists:
            for selector in selectors:
                if message := unknown_selector(selector, self._rules()):
                    yield self._problem(key, f"{glob!r}: {message}" if glob else message, selector)

    def _rules(self) -> Sequence[type[Rule]]:
        if self.rules is not None:
            return self.rules
        # Importing every rule is slow, and most configurations name none.
        from tritonaudit.rules import all_rules

        rules: Sequence[type[Rule]] = all_rules()
        return rules

    def _problem(self, key: str, message: str, selector: str | None = None) -> Problem:
        line = self._line_of(key)
        if line is not None and selector is not None:
            quoted = re.compile(f"([\"']){re.escape(selector)}\\1")
            rest = enumerate(self.lines[line - 1 :], line)
            line = next((number for number, text in rest if quoted.search(text)), line)
        return Problem(str(self.source), f"{key}: {message}", line)

    def _line_of(self, key: str) -> int | None:
        """The line of a key, or of the table that is its value; None where it is written in another way."""
        sought = re.compile(rf"\s*([\"']?){re.escape(key)}\1\s*[=.]")
        table_of_key = f"{self.header}.{key}".removeprefix(".")
        header = ""
        for number, text in enumerate(self.lines, 1):
            if found := re.match(r"\s*\[([^\[\]]+)\]", text):
                header = re.sub(r"[\s\"']", "", found[1])
                if header == table_of_key:
                    return number
            elif header == self.header and sought.match(text):
                return number
        return None


def _reader(key: str) -> Callable[[Any], Any]:
    if key in _READERS:
        return _READERS[key]
    close = difflib.get_close_matches(key.replace("_", "-").lower(), _READERS, 1)
    raise ValueError("there is no such key" + (f"; did you mean {close[0]!r}?" if close else ""))


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of strings, got {value!r}")
    return tuple(value)


def _per_file_ignores(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table of globs with a list of selectors each, got {value!r}")
    return tuple((glob, _strings(selectors)) for glob, selectors in value.items())


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {value!r}")
    return value


def _severity(value: Any) -> Severity:
    names = [severity.value for severity in Severity]
    if value not in names:
        raise ValueError(f"expected one of {', '.join(names)}, got {value!r}")
    return Severity(value)


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"expected the path of a file, got {value!r}")
    return value


def _target(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a version specifier such as '{DEFAULT}', got {value!r}")
    return Target.parse(value).text


_READERS: dict[str, Callable[[Any], Any]] = {
    "select": _strings,
    "ignore": _strings,
    "extend-select": _strings,
    "per-file-ignores": _per_file_ignores,
    "exclude": _strings,
    "extend-exclude": _strings,
    "respect-gitignore": _boolean,
    "force-exclude": _boolean,
    "pedantic": _boolean,
    "fail-on": _severity,
    "target-triton": _target,
    "hardware": _path,
}


def _syntax_problem(source: Path, message: str) -> Problem:
    found = re.search(r" \(at line (\d+), column \d+\)", message)
    line = int(found[1]) if found else None
    return Problem(str(source), f"not TOML: {message[: found.start()] if found else message}", line)


def _sentence(problem: Problem) -> str:
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return f"{place}: {problem.message}"
