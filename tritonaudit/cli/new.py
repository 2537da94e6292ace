"""`tritonaudit new`: the files of a new rule."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tritonaudit.cli import terminal


@click.command()
@click.argument("code")
@click.argument("name")
def command(code: str, name: str) -> None:
    """Write the files of a new rule.

    `tritonaudit new TAM110 some-name` writes the rule, its page and its fixtures into the checkout that tritonaudit
    runs from. Nothing that exists is overwritten.
    """
    from tritonaudit.cli.scaffold import ScaffoldError, scaffold

    try:
        written = scaffold(code, name)
    except ScaffoldError as error:
        raise click.ClickException(str(error)) from error
    terminal.write("".join(f"wrote {os.path.relpath(path, Path.cwd())}\n" for path in written))
