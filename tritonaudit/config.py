"""What a project says about its audit, in `[tool.tritonaudit]` of pyproject.toml or in a tritonaudit.toml.

The nearest such file at or above a file of the project governs it; with `extend` it builds on another one.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

from tritonaudit.finding import Problem, Severity, sentence_of
from tritonaudit.rule import Rule
from tritonaudit.selection import ALL, unknown_selector
from tritonaudit.target import DEFAULT, Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "tritonaudit"
_HINT = re.compile(rb"triton|audit", re.IGNORECASE)
"""What a file holds that may have to do with us; the others are not read any further."""
_ALIKE = 0.85
"""How like it a name has to be that was meant for it."""
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
    """A configuration. Each field is a key, with `-` for `_`; patterns are those of a .gitignore in `root`.

    `source` is the file that says it, `extended` are those that it extends, `nearest` finds what governs files below
    folders with one of their own, and `warnings` are what is odd about it: none of these is a key, and none makes two
    configurations different.
    """

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
    source: Path | None = field(default=None, repr=False, compare=False)
    extended: tuple[Path, ...] = field(default=(), repr=False, compare=False)
    nearest: Nearest | None = field(default=None, repr=False, compare=False)
    warnings: tuple[Problem, ...] = field(default=(), repr=False, compare=False)

    def of(self, path: Path) -> Config:
        """The configuration that governs a file. Raises ConfigError."""
        return self.of_folder(os.path.dirname(os.path.abspath(path)))

    def of_folder(self, folder: str) -> Config:
        """The one that governs the files of a folder. Raises ConfigError."""
        return self if self.nearest is None else self.nearest.of(os.path.abspath(folder), self)

    @property
    def every(self) -> tuple[Config, ...]:
        """It, and those of folders below that have been asked for."""
        return (self, *(self.nearest.found if self.nearest is not None else ()))

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
        super().__init__("\n".join(map(sentence_of, problems)))


def project_config(root: Path, file: Path | None = None, said: Mapping[str, Any] | None = None) -> Config:
    """The configuration of the project at `root`, with what is `said` on top of it.

    Folders with a configuration of their own are governed by that, unless `file` is to govern all. Raises ConfigError.
    """
    config = load_config(root, file)
    return overlaid(config if file is not None else replace(config, nearest=Nearest()), said or {})


def load_config(root: Path, file: Path | None = None, rules: Sequence[type[Rule]] | None = None) -> Config:
    """The configuration at `root`, without those of folders below: that of `file`, or else the nearest at or above.

    Selectors are checked against `rules`, by default all that are installed. Raises ConfigError.
    """
    if file is not None:
        return _loaded(_Loader.of(file, rules), root)
    warnings: list[Problem] = []
    for folder in (root, *Path(os.path.abspath(root)).parents):
        found = _in_folder(folder, rules, is_own=folder is root)
        warnings += found.warnings
        if found.loader is not None:
            return replace(_loaded(found.loader, folder), warnings=tuple(warnings))
    return Config(root, warnings=tuple(warnings))


def overlaid(config: Config, said: Mapping[str, Any]) -> Config:
    """The configuration with what is said on top of it.

    What extends a list is added to it, and so is what is ignored, unless `select` starts afresh. It is said on top of
    the configurations of folders below, too.
    """
    values = dict(said)
    adding = ["extend_exclude", "per_file_ignores", *(() if "select" in said else ("ignore", "extend_select"))]
    for name in adding:
        if name in said:
            values[name] = (*getattr(config, name), *said[name])
    if "select" in said:
        values = {"ignore": (), "extend_select": (), **values}
    nearest = None if config.nearest is None else config.nearest.saying(said)
    return replace(config, nearest=nearest, **values)


class Nearest:
    """The configurations of folders below a project, each read once; each that was `said` is on top of every one.

    `warnings` are what is odd about the files that were read.
    """

    def __init__(self, *said: Mapping[str, Any]) -> None:
        self._said = said
        self._found: dict[str, Config | None] = {}
        self.warnings: list[Problem] = []

    def saying(self, said: Mapping[str, Any]) -> Nearest:
        """The same folders' configurations with this said on top, too."""
        return Nearest(*self._said, said)

    @property
    def found(self) -> tuple[Config, ...]:
        """The configurations that have been read."""
        return tuple(dict.fromkeys(filter(None, self._found.values())))

    def of(self, folder: str, top: Config) -> Config:
        """What governs the files of a folder: the nearest configuration, `top` where there is none nearer."""
        return self._at(folder, top) or top

    def _at(self, folder: str, top: Config) -> Config | None:
        if folder == os.path.abspath(top.root):
            return None
        if folder not in self._found:
            above = os.path.dirname(folder)
            inherited = None if above == folder else self._at(above, top)
            self._found[folder] = self._read(Path(folder)) or inherited
        return self._found[folder]

    def _read(self, folder: Path) -> Config | None:
        found = _in_folder(folder, None, is_own=False)
        self.warnings += found.warnings
        return None if found.loader is None else reduce(overlaid, self._said, _loaded(found.loader, folder))


@dataclass(frozen=True)
class _InFolder:
    """What a folder has of configurations: the one that counts, and what is odd about it or about others."""

    loader: _Loader | None
    warnings: tuple[Problem, ...] = ()


def _in_folder(folder: Path, rules: Sequence[type[Rule]] | None, *, is_own: bool) -> _InFolder:
    own, shared = folder / "tritonaudit.toml", folder / "pyproject.toml"
    has_own = own.is_file()
    loader, warnings = _in_pyproject(shared, rules, is_own=is_own and not has_own) if shared.is_file() else (None, ())
    if not has_own:
        return _InFolder(loader, warnings)
    if loader is not None:
        said = f"[tool.{NAME}] is ignored, because {own.name} in the same folder takes precedence"
        warnings = (*warnings, Problem(str(shared), said, loader.line_of_header))
    return _InFolder(_Loader.of(own, rules), warnings)


def _in_pyproject(
    file: Path, rules: Sequence[type[Rule]] | None, *, is_own: bool
) -> tuple[_Loader | None, tuple[Problem, ...]]:
    """The table of a pyproject.toml, where it has one, and tables that were meant for it.

    One that is no TOML is an error where it is the project's own, or has to do with us.
    """
    if not is_own and _HINT.search(_bytes(file)) is None:
        return None, ()
    try:
        loader = _Loader.of(file, rules)
    except ConfigError:
        if is_own or NAME.encode() in _bytes(file):
            raise
        return None, ()
    warnings = tuple(loader.misspelt())
    return (loader if loader.is_there else None), warnings


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _loaded(loader: _Loader, root: Path, above: tuple[Path, ...] = ()) -> Config:
    """The configuration of a file, on top of what it extends."""
    said = loader.values()
    extended = said.pop("extend", None)
    if extended is None:
        return replace(overlaid(Config(root), said), source=loader.source)
    here = loader.source.parent
    file = Path(os.path.normpath(here / os.path.expanduser(extended)))
    chain = (*above, Path(os.path.abspath(loader.source)))
    if Path(os.path.abspath(file)) in chain:
        raise ConfigError([loader.problem("extend", f"{extended} already extends this file")])
    if not file.is_file():
        raise ConfigError([loader.problem("extend", f"there is no file {file}")])
    other = _Loader.of(file, loader.rules)
    if not other.is_there:
        raise ConfigError([loader.problem("extend", f"there is no [{other.header}] in {file}")])
    base = _loaded(other, root, chain)
    if base.hardware is not None:
        base = replace(base, hardware=str(Path(os.path.abspath(file)).parent / base.hardware))
    return replace(overlaid(base, said), source=loader.source, extended=(*base.extended, file))


@dataclass(frozen=True)
class _Loader:
    """Reads the table of one file; `header` is the table's name there, and `whole` all that the file says."""

    source: Path
    lines: tuple[str, ...]
    header: str
    table: dict[str, Any]
    rules: Sequence[type[Rule]] | None
    whole: dict[str, Any]

    @classmethod
    def of(cls, source: Path, rules: Sequence[type[Rule]] | None) -> _Loader:
        try:
            text = source.read_bytes().decode("utf-8-sig")
            table: Any = tomllib.loads(text)
            whole = table
        except OSError as error:
            raise ConfigError([Problem(str(source), f"cannot read it: {error.strerror}")]) from error
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise ConfigError([Problem(str(source), "not UTF-8, as TOML must be", line)]) from error
        except tomllib.TOMLDecodeError as error:
            raise ConfigError([_syntax_problem(source, str(error))]) from error
        header = f"tool.{NAME}" if source.name == "pyproject.toml" else ""
        for part in filter(None, header.split(".")):
            table = table.get(part, {})
            if not isinstance(table, dict):
                raise ConfigError([Problem(str(source), f"{header} should be a table")])
        return cls(source, tuple(text.splitlines()), header, table, rules, whole)

    @property
    def is_there(self) -> bool:
        """Whether the file has the table at all."""
        return not self.header or NAME in self.whole.get("tool", {})

    @property
    def line_of_header(self) -> int | None:
        return next((number for number, text in enumerate(self.lines, 1) if _header(text) == self.header), None)

    def misspelt(self) -> Iterator[Problem]:
        """The tables of a pyproject.toml that were meant to be ours and are not."""
        tools = self.whole.get("tool")
        for name in (f"tool.{name}" for name in tools if _is_meant(name)) if isinstance(tools, dict) else ():
            yield self._unread_table(name)
        if isinstance(self.whole.get(NAME), dict):
            yield self._unread_table(NAME)

    def _unread_table(self, name: str) -> Problem:
        line = next((number for number, text in enumerate(self.lines, 1) if _header(text) == name), None)
        return Problem(str(self.source), f"[{name}] is not read; did you mean [{self.header}]?", line)

    def values(self) -> dict[str, Any]:
        """What the table says, each key by the name of its field. Raises ConfigError."""
        values: dict[str, Any] = {}
        problems: list[Problem] = []
        for key, value in self.table.items():
            try:
                values[key.replace("-", "_")] = self._reader(key)(value)
            except ValueError as error:
                problems.append(self.problem(key, str(error)))
            else:
                problems += self._unknown_selectors(key, value)
        if problems:
            raise ConfigError(sorted(problems, key=lambda problem: problem.line or 0))
        return values

    def _reader(self, key: str) -> Callable[[Any], Any]:
        if key == "tool" and not self.header:
            raise ValueError(f"keys stand at the top level of a {self.source.name}, not in [tool.{NAME}]")
        return _reader(key)

    def _unknown_selectors(self, key: str, value: Any) -> Iterator[Problem]:
        if key not in ("select", "ignore", "extend-select", "per-file-ignores"):
            return
        lists = value.items() if isinstance(value, dict) else [("", value)]
        for glob, selectors in lists:
            for selector in selectors:
                if (message := unknown_selector(selector, self._rules())) and not self._may_be_left_out():
                    yield self.problem(key, f"{glob!r}: {message}" if glob else message, selector)

    def _rules(self) -> Sequence[type[Rule]]:
        if self.rules is not None:
            return self.rules
        # Importing every rule is slow, and most configurations name none.
        from tritonaudit.rules import all_rules

        rules: Sequence[type[Rule]] = all_rules()
        return rules

    def _may_be_left_out(self) -> bool:
        """Whether an installed package could not be loaded: the rules that are named may be its."""
        from tritonaudit.rules import broken_packages

        return self.rules is None and bool(broken_packages())

    def problem(self, key: str, message: str, selector: str | None = None) -> Problem:
        """What is wrong with a key, and the line that it stands in."""
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
            if (found := _header(text)) is not None:
                header = found
                if header == table_of_key:
                    return number
            elif header == self.header and sought.match(text):
                return number
        return None


def _header(line: str) -> str | None:
    """The name of the table that begins with a line."""
    found = re.match(r"\s*\[([^\[\]]+)\]", line)
    return None if found is None else re.sub(r"[\s\"']", "", found[1])


def _is_meant(name: str) -> bool:
    """Whether a table of that name was meant to be ours."""
    plain = re.sub(r"[-_.]", "", name.lower())
    return name != NAME and (plain == NAME or bool(difflib.get_close_matches(plain, [NAME], cutoff=_ALIKE)))


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


def _file(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"expected the path of a configuration file, got {value!r}")
    return value


def _target(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a version specifier such as '{DEFAULT}', got {value!r}")
    return Target.parse(value).text


_READERS: dict[str, Callable[[Any], Any]] = {
    "extend": _file,
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
