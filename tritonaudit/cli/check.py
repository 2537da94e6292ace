"""`tritonaudit check`, the default command: audits the source."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonaudit.cli import terminal
from tritonaudit.finding import Audit, Severity
from tritonaudit.report import FORMATS, render

if TYPE_CHECKING:
    from tritonaudit.config import Config

_STDIN = Path("-")


def _selectors(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    selectors = tuple(part.strip() for value in values for part in value.split(",") if part.strip())
    if selectors:
        from tritonaudit.rules import all_rules
        from tritonaudit.selection import unknown_selector

        for message in filter(None, (unknown_selector(selector, all_rules()) for selector in selectors)):
            raise click.BadParameter(message)
    return selectors


def _severity(_: click.Context, __: click.Parameter, value: str | None) -> Severity | None:
    return Severity(value) if value else None


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--select", multiple=True, callback=_selectors, metavar="RULES", help="Run these rules alone.")
@click.option("--extend-select", multiple=True, callback=_selectors, metavar="RULES", help="Run these rules too.")
@click.option("--ignore", multiple=True, callback=_selectors, metavar="RULES", help="Leave these rules out.")
@click.option("--pedantic", is_flag=True, help="Show findings of low confidence too.")
@click.option(
    "--fail-on",
    type=click.Choice([severity.value for severity in Severity]),
    callback=_severity,
    help="The least severity that makes the exit code 1.",
)
@click.option("--exit-zero", is_flag=True, help="Leave with 0 where findings would make it 1.")
@click.option("--output-format", type=click.Choice(list(FORMATS)), default="full", show_default=True)
@click.option("--output-file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report there.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="The configuration file.")
@click.option("--force-exclude", is_flag=True, help="Apply the exclusions to files named on the command line too.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many processes to use.")
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
    config = _configure(_root(sources), config_file, overrides)
    if output_file:
        _keep_inputs(output_file, sources, config)
    audit = _audit_stdin(sources[0], config) if is_stdin else _audit(sources, config, jobs)
    text = render(audit, output_format, color=not output_file and terminal.wants_color())
    if output_file:
        terminal.write_file(output_file, text)
    else:
        terminal.write(text)
    return _exit_code(audit, config.fail_on, exit_zero)


def _refuse(paths: tuple[Path, ...], stdin_filename: Path | None) -> None:
    """Raise where the arguments contradict each other."""
    if _STDIN in paths and len(paths) > 1:
        raise click.UsageError("`-` (the standard input) cannot be audited together with other paths")
    if stdin_filename and _STDIN not in paths:
        raise click.UsageError("--stdin-filename needs the path `-`")


def _root(sources: tuple[Path, ...]) -> Path:
    """The project that all of them belong to."""
    from tritonaudit.source.discover import project_root

    places = (Path(os.path.abspath(source)) for source in sources)
    return project_root(Path(os.path.commonpath([place if place.is_dir() else place.parent for place in places])))


def _keep_inputs(output_file: Path, sources: tuple[Path, ...], config: Config) -> None:
    """Raise where the report would replace a file that is audited."""
    from tritonaudit.source.discover import discover

    if output_file.is_file():
        found = discover(sources, config)
        if any(output_file.samefile(source) for source in (*found.files, *found.templates)):
            raise click.UsageError(f"--output-file would overwrite the source file {output_file}")


def _configure(root: Path, config_file: Path | None, overrides: dict[str, Any]) -> Config:
    """The project's configuration with what the command line says.

    `--ignore` and `--extend-select` add to the project's, unless `--select` starts afresh.
    """
    from tritonaudit.config import ConfigError, load_config

    try:
        config = load_config(root, config_file)
    except ConfigError as error:
        raise click.ClickException(str(error)) from error
    given = {name: value for name, value in overrides.items() if value}
    for name in ("ignore", "extend_select"):
        inherited = () if "select" in given else getattr(config, name)
        given[name] = (*inherited, *overrides[name])
    return replace(config, **given)


def _audit(paths: tuple[Path, ...], config: Config, jobs: int | None) -> Audit:
    from tritonaudit.engine import check

    return check(paths, config, jobs=jobs)


def _audit_stdin(name: Path, config: Config) -> Audit:
    from tritonaudit.engine import check_text

    return check_text(sys.stdin.buffer.read(), name, config)


def _exit_code(audit: Audit, fail_on: Severity, exit_zero: bool) -> int:
    if audit.problems:
        return 2
    failing = any(finding.severity.rank <= fail_on.rank for finding in audit.findings)
    return int(failing and not exit_zero)
