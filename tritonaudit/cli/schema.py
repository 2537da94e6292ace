"""`tritonaudit schema`: the JSON schemas of what tritonaudit reads and writes."""

from __future__ import annotations

from pathlib import Path

import click

from tritonaudit.cli import terminal

_HERE = Path(__file__).resolve().parents[1]
_FILES = {
    "config": _HERE / "config.schema.json",
    "findings": _HERE / "report" / "findings.schema.json",
    "audit": _HERE / "report" / "audit.schema.json",
    "baseline": _HERE / "baseline.schema.json",
}


@click.command()
@click.argument("name", type=click.Choice(list(_FILES)), default="config")
def command(name: str) -> None:
    """Print a JSON schema: that of the configuration, or of another kind of file.

    `config` describes a tritonaudit.toml and [tool.tritonaudit] of a pyproject.toml, `findings` what `check` writes
    with --output-format json, `audit` what `audit` does, and `baseline` a file of --write-baseline.
    """
    terminal.write(_FILES[name].read_text(encoding="utf-8"))
