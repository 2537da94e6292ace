"""What the commands that audit have in common: options, the configuration, where the report goes, the exit code."""

from __future__ import annotations

import math
import os
import secrets
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from tritonaudit.cli import terminal
from tritonaudit.finding import Audit, Severity, Stage
from tritonaudit.report import FORMATS
from tritonaudit.report.about import About
from tritonaudit.report.shortfall import not_analysed
from tritonaudit.report.status import Exit, exit_of

if TYPE_CHECKING:
    from tritonaudit.config import Config

Command = TypeVar("Command", bound=Callable[..., Any])


def _selectors(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    selectors = split(values)
    if selectors:
        from tritonaudit.rules import all_rules, broken_packages
        from tritonaudit.selection import unknown_selector

        for message in (
            ()
            if broken_packages()
            else filter(None, (unknown_selector(selector, all_rules()) for selector in selectors))
        ):
            raise click.BadParameter(message)
    return selectors


def complete_rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The codes, or else the names, that the last of several rules with commas may become."""
    from tritonaudit.rules import all_rules

    before, comma, last = incomplete.rpartition(",")
    rules = all_rules()
    codes = [rule.code for rule in rules if rule.code.startswith(last.upper())]
    names = codes or [rule.name for rule in rules if rule.name.startswith(last.lower())]
    return [f"{before}{comma}{name}" for name in names]


def _severity(_: click.Context, __: click.Parameter, value: str | None) -> Severity | None:
    return Severity(value) if value else None


def _rules_option(name: str, text: str) -> Callable[[Command], Command]:
    return click.option(
        name, multiple=True, callback=_selectors, metavar="RULES", shell_complete=complete_rules, help=text
    )


OUTPUT_FILE = click.option(
    "--output-file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to this file."
)
CONFIG = click.option("--config", "config_file", type=click.Path(path_type=Path), help="The configuration file.")
JOBS = click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many processes to use.")
DEVICE = click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "gpu"]),
    default="auto",
    show_default=True,
    help="Run on the GPU, if there is one, or on the CPU engine.",
)
_SECONDS = 30.0
_OPTIONS = (
    _rules_option("--select", "Run only these rules."),
    _rules_option("--extend-select", "Run these rules too."),
    _rules_option("--ignore", "Leave these rules out."),
    click.option("--pedantic", is_flag=True, help="Show findings of low confidence too."),
    click.option(
        "--fail-on",
        type=click.Choice([severity.value for severity in Severity]),
        callback=_severity,
        help="The least severity that makes the exit code 1.",
    ),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings."),
    OUTPUT_FILE,
    CONFIG,
    click.option("--force-exclude", is_flag=True, help="Apply the exclusions to files named on the command line too."),
    JOBS,
)


_FORMAT_AT = _OPTIONS.index(OUTPUT_FILE)


def audit_options(*more_formats: str) -> Callable[[Command], Command]:
    """Adds the options that every audit takes; the report may be written in these formats, too."""
    formats = click.option(
        "--output-format", type=click.Choice([*FORMATS, *more_formats]), default="full", show_default=True
    )

    def add(command: Command) -> Command:
        for option in reversed((*_OPTIONS[:_FORMAT_AT], formats, *_OPTIONS[_FORMAT_AT:])):
            command = option(command)
        return command

    return add


def _seed(_: click.Context, __: click.Parameter, value: int | None) -> int:
    return secrets.randbits(32) if value is None else value


SEED = click.option(
    "--seed",
    type=click.IntRange(min=0),
    callback=_seed,
    metavar="N",
    help="Repeat the random cases of an earlier audit, by the number in its report.",
)


def seed_is_asked_for() -> bool:
    """Whether the command that runs was given a seed, rather than drawing one."""
    return click.get_current_context().get_parameter_source("seed") is ParameterSource.COMMANDLINE


class _Seconds(click.FloatRange):
    """More than none, and not for ever."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


SECONDS = _Seconds()


def budget_option(each: str) -> Callable[[Command], Command]:
    """How long each of what the command runs is tried."""
    return click.option(
        "--budget",
        type=SECONDS,
        default=_SECONDS,
        show_default=True,
        metavar="SECONDS",
        help=f"How long to try each {each}, and to time it on a GPU.",
    )


def split(values: tuple[str, ...]) -> tuple[str, ...]:
    """The values of an option that may be given several times, or once with commas."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def project_of(sources: tuple[Path, ...]) -> Path:
    """The project that all of them belong to."""
    from tritonaudit.source.discover import project_root

    places = (Path(os.path.abspath(source)) for source in sources)
    return project_root(Path(os.path.commonpath([place if place.is_dir() else place.parent for place in places])))


def configure(root: Path, config_file: Path | None, overrides: dict[str, Any]) -> Config:
    """The project's configuration with what the command line says.

    `--ignore` and `--extend-select` add to the project's, unless `--select` starts afresh. Raises ConfigError.
    """
    from tritonaudit.config import project_config

    return project_config(root, config_file, {name: value for name, value in overrides.items() if value})


def about(config: Config, sources: Sequence[Path], *stages: Stage, is_brief: bool = False) -> About:
    """What a report says of the command that is running, which does these stages of the sources."""
    arguments = click.get_current_context().find_root().obj
    here = Path.cwd()
    checkout = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
    return About(
        shlex.join(("tritonaudit", *arguments)),
        frozenset(stages),
        rules_on(config, sources),
        is_brief=is_brief,
        checkout=checkout,
        here="" if checkout in (None, here) else str(here.relative_to(checkout)),
    )


def rules_on(config: Config, sources: Sequence[Path]) -> frozenset[str] | None:
    """The codes of the rules that are on in every file of the sources; None where all are, which asks no rule."""
    from tritonaudit.selection import ALL, Selection

    governing = _governing(config, sources)
    if all(ALL in map(str.upper, one.select) and not one.ignore for one in governing):
        return None
    from tritonaudit.rules import all_rules

    return frozenset.intersection(*(Selection.of(one, all_rules()).codes for one in governing))


def _governing(config: Config, sources: Sequence[Path]) -> set[Config]:
    """The configurations of the files of the sources, which were read before."""
    if config.every == (config,):
        return {config}
    from tritonaudit.source.discover import discover

    return {config.of(path) for path in discover(sources, config).sources or sources}


def keep_inputs(output_file: Path | None, sources: tuple[Path, ...], config: Config) -> None:
    """Raise where the report would replace a file that is audited."""
    from tritonaudit.source.discover import discover

    if output_file and output_file.is_file():
        found = discover(sources, config)
        if any(output_file.samefile(source) for source in (*found.sources, *found.templates)):
            raise click.UsageError(f"--output-file would overwrite the source file {output_file}")


def deliver(report: str, output_file: Path | None) -> None:
    """Write the report to the file, or else to the standard output."""
    if output_file:
        terminal.write_file(output_file, report)
    else:
        terminal.write(report)


def exit_code(audit: Audit, config: Config, exit_zero: bool, strict: bool = False) -> int:
    """2 where something could not be read or done, 1 where something new was found at the level of its file.

    Else 3 where a subject's verdict is incomplete, 0 otherwise. What was not analysed was not done, if `strict`.
    """
    if strict and not_analysed(audit):
        return int(Exit.ERROR)
    return int(exit_of(replace(audit, findings=()) if exit_zero else audit, config))
