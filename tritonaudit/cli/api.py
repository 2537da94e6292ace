"""`tritonaudit api`: what a name of Triton is, in which releases."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tritonaudit.api.lookup import find, similar
from tritonaudit.api.table import UNTOLD, Definition, Name, Table, table
from tritonaudit.cli import terminal
from tritonaudit.target import Target, TargetError, Version, written


@click.command()
@click.argument("name")
@click.option("--triton", "target", metavar="VERSION", help="The releases to look at, such as 3.3 or '>=3.2,<3.8'.")
def command(name: str, target: str | None) -> int:
    """Say which releases of Triton have a name, with which parameters.

    NAME is written as in a kernel: tl.load, libdevice.tanh, triton.Config, or load alone. The exit code is 1 where the
    releases do not all have it.
    """
    known = table()
    try:
        versions = known.releases if target is None else Target.parse(target).versions
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    found = find(known, name)
    if not found:
        close = similar(known, name)
        raise click.ClickException(
            f"no release of Triton has {name!r}" + (f"; did you mean {' or '.join(close)}?" if close else "")
        )
    terminal.write("\n".join("".join(_lines(known, one, versions)) for one in found))
    return 0 if target is None or not found[0].missing(versions) else 1


def _lines(known: Table, name: Name, versions: tuple[Version, ...]) -> Iterator[str]:
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
    if definition is UNTOLD:
        return "not listed"
    last = name.dotted.rpartition(".")[2]
    marks = [definition.kind, *filter(None, [definition.state])]
    deprecated = [f"`{p.name}`" for p in definition.parameters or () if p.deprecated]
    if deprecated:
        marks.append(f"{' and '.join(deprecated)} deprecated")
    return f"{last}{definition.signature}  [{', '.join(marks)}]"
