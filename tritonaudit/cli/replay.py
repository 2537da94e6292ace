"""`tritonaudit replay`: checks the launches of a trace, without the code that made them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonaudit.cli import terminal
from tritonaudit.cli.compile import require_compiler, targets_of
from tritonaudit.cli.notices import warn_of_config
from tritonaudit.cli.options import SECONDS, about, audit_options, configure, deliver, exit_code, project_of
from tritonaudit.cli.progress import shown_progress
from tritonaudit.finding import Stage
from tritonaudit.report import render

if TYPE_CHECKING:
    from tritonaudit.config import Config
    from tritonaudit.trace.reading import Trace
    from tritonaudit.trace.stage import ReplayRequest, TraceAudit

TARGETS = click.option(
    "--target",
    "targets",
    multiple=True,
    callback=targets_of,
    metavar="ARCH",
    help="Compile the launches for this target, too: sm_90, gfx942, …",
)
LIMIT = click.option(
    "--launch-seconds",
    "seconds",
    type=SECONDS,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long executing one launch may take.",
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--launch", "numbers", multiple=True, type=click.IntRange(min=0), metavar="N", help="Check only this launch."
)
@LIMIT
@TARGETS
@audit_options()
def command(
    file: Path,
    numbers: tuple[int, ...],
    seconds: float,
    targets: tuple[str, ...],
    exit_zero: bool,
    output_format: str,
    output_file: Path | None,
    config_file: Path | None,
    jobs: int | None,
    **overrides: Any,
) -> int:
    """Check the launches in a trace, a FILE that `tritonaudit trace` wrote.

    Each recorded launch is executed again on the CPU engine, from its program and its arguments alone: nothing of
    the traced command is imported or run. RULES are codes, beginnings of codes or names, separated by commas.

    The exit code is 0 if nothing is found at the level of --fail-on, 1 if something is, 2 if the trace cannot be
    read or something could not be done.
    """
    require_compiler("replay")
    from tritonaudit.trace.stage import ReplayRequest

    trace = read(file)
    if unknown := set(numbers) - {one.number for one in trace.recorded}:
        raise click.BadParameter(f"the trace has no launch {min(unknown)}", param_hint="--launch")
    config = configure(project_of((Path(),)), config_file, overrides)
    request = ReplayRequest(seconds, jobs or os.cpu_count() or 1, targets, numbers)
    result = checked(trace, config, request)
    write_report(result, config, output_format, output_file)
    return exit_code(result.audit, config, exit_zero)


def read(file: Path) -> Trace:
    """The trace in a file, whole. Raises where it is none."""
    from tritonaudit.trace.reading import NotATrace, read_trace, verify

    try:
        trace = read_trace(Path(os.path.abspath(file)))
        verify(trace)
    except NotATrace as error:
        raise click.ClickException(str(error)) from error
    return trace


def checked(trace: Trace, config: Config, request: ReplayRequest) -> TraceAudit:
    """What checking a trace comes to, with its progress shown."""
    from tritonaudit.trace.stage import check_trace

    with shown_progress(lines=False) as progress:
        return check_trace(trace, config, request, progress)


def write_report(result: TraceAudit, config: Config, output_format: str, output_file: Path | None) -> None:
    """Write the report."""
    from tritonaudit.audit import united
    from tritonaudit.report.compiled import CompiledSection
    from tritonaudit.report.traced import TracedSection

    warn_of_config(config)
    audits = [result.audit] if result.compiled is None else [result.audit, result.compiled.audit]
    sections = [TracedSection(result), *(() if result.compiled is None else (CompiledSection(result.compiled),))]
    stages = [Stage.RUN] if result.compiled is None else [Stage.COMPILE, Stage.RUN]
    color = not output_file and terminal.wants_color()
    what = about(config, (), *stages)
    deliver(render(united(audits), output_format, color=color, sections=sections, about=what), output_file)
