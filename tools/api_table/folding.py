"""The names of all releases in one table, in which what stays the same is written once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from tools.api_table.names import MODULE, Entry, Release
from tools.api_table.sources import Sources

# Modules whose names are listed; of the others only that they exist.
_LISTED = (
    "triton",
    "triton.compiler",
    "triton.errors",
    "triton.knobs",
    "triton.language",
    "triton.runtime",
    "triton.testing",
    "triton.tools",
    "triton.experimental.gluon",
)
_NOT_LISTED = (
    "triton.tools.triton_to_gluon_translator",
    "triton.runtime.interpreter",
    "triton.compiler.code_generator",
)
_CLASSES = {
    "triton.language.dtype": ("triton.language.core", "dtype"),
    "triton.language.constexpr": ("triton.language.core", "constexpr"),
    "triton.language.tensor_descriptor": ("triton.language.core", "tensor_descriptor"),
    "triton.Config": ("triton.runtime.autotuner", "Config"),
}
TENSOR = "triton.language.tensor"

History = list[int]
"""First release, last release and definition of each stretch in which a name stays the same, as numbers."""


def folded(releases: dict[str, Sources]) -> str:
    """The table as JSON: `releases`, `definitions`, `modules` and, by module or class, `names`."""
    table = _Table()
    for number, sources in enumerate(releases.values()):
        for module in sources.modules:
            table.modules.setdefault(module, set()).add(number)
        for scope, names in _scopes(sources):
            for name, entry in names.items():
                table.add(scope, name, number, entry)
    return table.text(list(releases))


def _scopes(sources: Sources) -> Iterator[tuple[str, dict[str, Entry]]]:
    release = Release(sources)
    for module in sorted(sources.modules):
        if _is_listed(module):
            yield module, release.names(module)
    for scope, (module, class_name) in _CLASSES.items():
        yield scope, release.members(module, class_name)
    yield TENSOR, release.tensor_members()


def _is_listed(module: str) -> bool:
    def within(roots: tuple[str, ...]) -> bool:
        return any(module == root or (module.startswith(f"{root}.") and root != "triton") for root in roots)

    return within(_LISTED) and not within(_NOT_LISTED)


class _Table:
    """Collects the names of the releases, in their order."""

    def __init__(self) -> None:
        self.modules: dict[str, set[int]] = {}
        self._names: dict[str, dict[str, History]] = {}
        self._definitions: dict[tuple[str, ...], int] = {}

    def add(self, scope: str, name: str, release: int, entry: Entry) -> None:
        definition = self._definitions.setdefault(_written(scope, name, entry), len(self._definitions))
        history = self._names.setdefault(scope, {}).setdefault(name, [])
        if history[-2:] == [release - 1, definition]:
            history[-2] = release
        else:
            history += [release, release, definition]

    def text(self, releases: list[str]) -> str:
        rows: list[str] = []
        for key, value in (
            ("releases", releases),
            ("definitions", [list(definition) for definition in self._definitions]),
            ("modules", {module: _stretches(numbers) for module, numbers in sorted(self.modules.items())}),
            ("names", {scope: dict(sorted(names.items())) for scope, names in sorted(self._names.items())}),
        ):
            rows.append(f'"{key}":{_lines(value)}')
        return "{" + ",\n".join(rows) + "}\n"


def _written(scope: str, name: str, entry: Entry) -> tuple[str, ...]:
    """Kind, parameters and state; of a module that is not where its name says, where it is."""
    if entry.kind == MODULE:
        return (MODULE,) if entry.target == f"{scope}.{name}" else (MODULE, entry.target)
    parameters = "?" if entry.parameters is None else "; ".join(entry.parameters)
    return (entry.kind, parameters, entry.state) if entry.state else (entry.kind, parameters)


def _stretches(numbers: set[int]) -> list[int]:
    found: list[int] = []
    for number in sorted(numbers):
        if found and found[-1] == number - 1:
            found[-1] = number
        else:
            found += [number, number]
    return found


def _lines(value: object) -> str:
    """JSON with a line for each entry of the outermost level."""
    dumps: Callable[[object], str] = lambda item: json.dumps(item, separators=(",", ":"))  # noqa: E731
    if isinstance(value, dict):
        return "{" + ",\n".join(f"{dumps(key)}:{dumps(item)}" for key, item in value.items()) + "}"
    return dumps(value)
