"""`tritonaudit hardware`: the figures of GPUs, with their sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonaudit.cli import terminal

if TYPE_CHECKING:
    from tritonaudit.hardware.parts import Part


def hardware_option(command: click.decorators.FC) -> click.decorators.FC:
    """Adds --hardware, a file with the user's own parts."""
    return click.option(
        "--hardware", "hardware_file", type=click.Path(path_type=Path), metavar="FILE", help="A file with more GPUs."
    )(command)


def parts_of(hardware_file: Path | None, root: Path, config_file: Path | None = None) -> Mapping[str, Part]:
    """The parts there are, with those of the file, or else of the one that the project at `root` names."""
    from tritonaudit.config import ConfigError, load_config
    from tritonaudit.hardware.part_file import PartFileError
    from tritonaudit.hardware.parts import known_parts

    try:
        return known_parts(hardware_file or load_config(root, config_file).hardware_file)
    except (ConfigError, PartFileError) as error:
        raise click.ClickException(str(error)) from error


def part_called(name: str, parts: Mapping[str, Part]) -> Part:
    """The part of that name, given on the command line."""
    from tritonaudit.hardware.parts import part_named

    try:
        return part_named(name, parts)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


@click.command()
@click.argument("part", required=False)
@hardware_option
@click.option("--output-format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(part: str | None, hardware_file: Path | None, output_format: str) -> None:
    """List the GPUs whose figures are known, or all figures of PART with their sources.

    PART is a name from the list, or torch's name for the GPU. A figure without a source is UNKNOWN.
    """
    from tritonaudit.cli.options import project_of
    from tritonaudit.hardware.formatting import part_data, part_text, parts_table

    parts = parts_of(hardware_file, project_of((Path(),)))
    chosen = part_called(part, parts) if part else None
    if output_format == "json":
        listed = [part_data(one) for one in ([chosen] if chosen else parts.values())]
        terminal.write(json.dumps({"parts": listed}, indent=2) + "\n")
    else:
        terminal.write(part_text(chosen) if chosen else parts_table(parts))
