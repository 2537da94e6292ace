"""What a name of Triton is in one release after the other, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.api.table import UNLISTED, Definition, Name, Table
from tritonaudit.target import Version, written


def lines_of(known: Table, name: Name, versions: tuple[Version, ...]) -> Iterator[str]:
    """The dotted name, and below it a line for each stretch of these releases in which it is the same."""
    yield f"{name.dotted}\n"
    stretches = list(_stretches(known, name, versions))
    width = max(len(releases) for releases, _ in stretches)
    for releases, definition in stretches:
        yield f"  {releases.ljust(width)}  {_described(name, definition)}\n"


def _stretches(known: Table, name: Name, versions: tuple[Version, ...]) -> Iterator[tuple[str, Definition | None]]:
    """The releases in groups of neighbours for which it is the same."""
    first: Version | None = None
    for position, version in enumerate(versions):
        first = version if first is None else first
        following = versions[position + 1] if position + 1 < len(versions) else None
        definition = name.definitions.get(version)
        if following is None or name.definitions.get(following) != definition:
            releases = written(first) if first == version else f"{written(first)} to {written(version)}"
            yield releases, definition
            first = None


def _described(name: Name, definition: Definition | None) -> str:
    if definition is None:
        return "not there"
    if definition is UNLISTED:
        return "not listed"
    last = name.dotted.rpartition(".")[2]
    marks = [definition.kind, *filter(None, [definition.state])]
    deprecated = [f"`{p.name}`" for p in definition.parameters or () if p.deprecated]
    if deprecated:
        marks.append(f"{' and '.join(deprecated)} deprecated")
    return f"{last}{definition.signature}  [{', '.join(marks)}]"
