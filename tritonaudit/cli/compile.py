"""`tritonaudit compile`: audits what the compiler makes of each launch, without a GPU."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonaudit.cli import terminal
from tritonaudit.cli.notices import warn_of_config
from tritonaudit.cli.options import about, audit_options, configure, deliver, exit_code, keep_inputs, project_of, split
from tritonaudit.cli.progress import shown_progress
from tritonaudit.finding import Stage
from tritonaudit.report import render

if TYPE_CHECKING:
    from tritonaudit.compile.audit import CompileAudit
    from tritonaudit.compile.budget import Budget
    from tritonaudit.compile.record import Record
    from tritonaudit.config import Config
    from tritonaudit.report.compiled import CompiledSection

_BUDGET_RULE = "TAP306"


def targets_of(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """The targets that an option names."""
    from tritonaudit.hardware.targets import gpu_target

    targets = split(values)
    for target in targets:
        try:
            gpu_target(target)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    return tuple(dict.fromkeys(targets))


def _budget(_: click.Context, __: click.Parameter, value: str | None) -> Budget | None:
    if value is None:
        return None
    from tritonaudit.compile.budget import BudgetError, parse_budget

    try:
        return parse_budget(value)
    except BudgetError as error:
        raise click.BadParameter(str(error)) from error


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--target",
    "targets",
    multiple=True,
    callback=targets_of,
    metavar="ARCH",
    help="A target to compile for: sm_90, gfx942, …  [default: sm_80, sm_90, sm_100 and gfx942]",
)
@click.option(
    "--budget",
    callback=_budget,
    metavar="LIMITS",
    help="Limits on what kernels need: spills=0,shared<=227KiB,sm_90:registers<=128",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Say what changed since this report, which --output-format json wrote.",
)
@audit_options()
def command(
    paths: tuple[Path, ...],
    targets: tuple[str, ...],
    budget: Budget | None,
    against: Path | None,
    exit_zero: bool,
    output_format: str,
    output_file: Path | None,
    config_file: Path | None,
    jobs: int | None,
    **overrides: Any,
) -> int:
    """Audit what the compiler makes of the Triton kernels in files and folders.

    PATHS defaults to the current folder. Each launch of a subject, or else each launch that can be inferred from
    the source, is compiled for every target; no GPU is needed. RULES are codes, beginnings of codes or names,
    separated by commas.

    The exit code is 0 if nothing is found at the level of --fail-on, 1 if something is or the budget is exceeded,
    2 if something could not be read or done.
    """
    require_compiler("compile")
    earlier = _read(against) if against else None
    sources = paths or (Path(),)
    if budget is not None:
        overrides["extend_select"] = (*overrides["extend_select"], _BUDGET_RULE)
    config = configure(project_of(sources), config_file, overrides)
    keep_inputs(output_file, sources, config)
    result = _compile(sources, config, targets, budget, jobs)
    warn_of_config(config)
    section = _section(result, against, earlier)
    color = not output_file and terminal.wants_color()
    what_ran = about(config, sources, Stage.COMPILE)
    deliver(render(result.audit, output_format, color=color, sections=[section], about=what_ran), output_file)
    return exit_code(result.audit, config, exit_zero)


def require_compiler(name: str) -> None:
    """Raise where what compiles is not installed, for the command of that name."""
    missing = [package for package in ("torch", "triton") if find_spec(package) is None]
    if missing:
        names = " and ".join(missing)
        raise click.ClickException(f"`tritonaudit {name}` needs {names}: pip install 'tritonaudit[audit]'")


def _read(against: Path) -> Record:
    from tritonaudit.compile.compare import NotAReport, read_report

    try:
        return read_report(against)
    except NotAReport as error:
        raise click.BadParameter(str(error), param_hint="--against") from error


def _compile(
    sources: tuple[Path, ...], config: Config, targets: tuple[str, ...], budget: Budget | None, jobs: int | None
) -> CompileAudit:
    from tritonaudit.compile.audit import CompileRequest
    from tritonaudit.compile.stage import compile_paths

    with shown_progress(lines=False) as progress:
        return compile_paths(sources, config, CompileRequest(targets, budget, jobs), progress)


def _section(result: CompileAudit, against: Path | None, earlier: Record | None) -> CompiledSection:
    from tritonaudit.compile.compare import compare
    from tritonaudit.compile.record import read_record, record
    from tritonaudit.report.compiled import CompiledSection

    if against is None or earlier is None:
        return CompiledSection(result)
    return CompiledSection(result, str(against), compare(earlier, read_record(record(result))))
