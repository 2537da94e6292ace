"""`tritonaudit check`, the default command: audits the source."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonaudit.cli import terminal
from tritonaudit.cli.options import about, audit_options, configure, deliver, exit_code, keep_inputs, project_of
from tritonaudit.finding import Audit, Stage
from tritonaudit.report import render

if TYPE_CHECKING:
    from tritonaudit.config import Config

_STDIN = Path("-")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@audit_options
@click.option("--stdin-filename", type=click.Path(path_type=Path), help="What the text of `-` is called.")
def command(
    paths: tuple[Path, ...],
    exit_zero: bool,
    output_format: str,
    output_file: Path | None,
    config_file: Path | None,
    jobs: int | None,
    stdin_filename: Path | None,
    **overrides: Any,
) -> int:
    """Audit the Triton kernels in files and folders.

    Without PATHS that is the current folder; `-` is the standard input. RULES are codes, beginnings of codes or
    names, separated by commas.

    The exit code is 0 if nothing is found at the level of --fail-on, 1 if something is, 2 if something could not
    be read or done.
    """
    _refuse(paths, stdin_filename)
    is_stdin = paths == (_STDIN,)
    sources = (stdin_filename or Path("<stdin>"),) if is_stdin else paths or (Path(),)
    config = configure(project_of(sources), config_file, overrides)
    keep_inputs(output_file, sources, config)
    audit = _audit_stdin(sources[0], config) if is_stdin else _audit(sources, config, jobs)
    color = not output_file and terminal.wants_color()
    deliver(render(audit, output_format, color=color, about=about(config, Stage.SOURCE)), output_file)
    return exit_code(audit, config.fail_on, exit_zero)


def _refuse(paths: tuple[Path, ...], stdin_filename: Path | None) -> None:
    """Raise where the arguments contradict each other."""
    if _STDIN in paths and len(paths) > 1:
        raise click.UsageError("`-` (the standard input) cannot be audited together with other paths")
    if stdin_filename and _STDIN not in paths:
        raise click.UsageError("--stdin-filename needs the path `-`")


def _audit(paths: tuple[Path, ...], config: Config, jobs: int | None) -> Audit:
    from tritonaudit.engine import check

    return check(paths, config, jobs=jobs)


def _audit_stdin(name: Path, config: Config) -> Audit:
    from tritonaudit.engine import check_text

    return check_text(sys.stdin.buffer.read(), name, config)
