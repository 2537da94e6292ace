"""`tritonaudit farm`: a line of JSON for each of very many subjects, from all the GPUs and cores there are."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonaudit.cli import INTERRUPTED
from tritonaudit.cli.audit import parts
from tritonaudit.cli.compile import require_compiler
from tritonaudit.cli.options import (
    CONFIG,
    DEVICE,
    JOBS,
    SEED,
    budget_option,
    configure,
    deliver,
    project_of,
    seed_is_asked_for,
)
from tritonaudit.cli.streaming import Lines, opened_lines, print_totals

if TYPE_CHECKING:
    from tritonaudit.farm.driving import Driver
    from tritonaudit.farm.events import Places
    from tritonaudit.farm.job import Asked

_RUN, _REPORT = "run", "report"


class _Farm(click.Group):
    """What is not the word `report`, nor asks for help, is for the farm itself."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (_RUN, _REPORT, "-h", "--help"):
            args = [_RUN, *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Farm)
def command() -> None:
    """Audit very many subjects, on all GPUs and cores of this machine, or of a cluster.

    `tritonaudit farm PATH…` is `tritonaudit farm run PATH…`.
    """


@command.command(_RUN)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a line for each subject there; what was in it goes, unless --resume keeps it.",
)
@click.option(
    "--stages", multiple=True, callback=parts, metavar="PARTS", help="Do only these parts, as in `audit --only`."
)
@budget_option("subject")
@click.option(
    "--cases", type=click.IntRange(min=0), metavar="N", help="Try at most N cases of each subject beside its core."
)
@SEED
@DEVICE
@click.option("--resume", is_flag=True, help="Keep the lines that are there, and audit what they do not tell of.")
@click.option("--stop-on", type=click.Choice(["fail"]), help="End with the first subject of this verdict.")
@click.option("--ray", metavar="ADDRESS", help="Run on this Ray cluster; `auto` is the one that this machine is in.")
@CONFIG
@JOBS
def run_command(
    paths: tuple[Path, ...],
    output: Path,
    stages: frozenset[str],
    budget: float,
    cases: int | None,
    seed: int,
    device: str,
    resume: bool,
    stop_on: str | None,
    ray: str | None,
    config_file: Path | None,
    jobs: int | None,
) -> int:
    """Audit every subject below the PATHS, and write a line for each as soon as it is known.

    A path that is a text file is a list of paths. A subject whose process or machine dies is tried again elsewhere, at
    most twice. With --seed and --cases two runs say the same, whatever the order and the machines are, unless a
    subject takes longer than its --budget.

    The exit codes are those of `tritonaudit audit`.
    """
    require_compiler("farm")
    from tritonaudit.audit import AuditRequest
    from tritonaudit.farm.events import FarmError
    from tritonaudit.farm.job import Asked
    from tritonaudit.farm.subjects import ListError, listed
    from tritonaudit.suites.stage import NoGpu

    try:
        sources = listed(paths)
        _keep_inputs(output, (*paths, *sources))
        config = configure(project_of(sources or paths), config_file, {})
        request = AuditRequest(stages, budget, 1, device, most_cases=cases, seed=seed)
        return _run(sources, Asked(config, request), output, resume, stop_on, ray, jobs or os.cpu_count() or 1)
    except (FarmError, ListError, NoGpu) as error:
        raise click.ClickException(str(error)) from error


def _run(
    sources: tuple[Path, ...], asked: Asked, output: Path, resume: bool, stop_on: str | None, ray: str | None, jobs: int
) -> int:
    from tritonaudit.farm.driving import Driver
    from tritonaudit.farm.subjects import found
    from tritonaudit.shown import shown_path
    from tritonaudit.stream import digests_of

    began = time.monotonic()
    subjects = found(sources, asked.config)
    _keep_inputs(output, subjects.files)
    where = None if ray is None else f"ray, {asked.request.device}"
    digests = digests_of(subjects.files, asked.config, asked.request, where)
    seed = asked.request.seed if seed_is_asked_for() else None
    with opened_lines(output, resumes=resume, seed=seed) as (lines, known):
        lines.note(subjects.problems)
        files = [(shown_path(path), digests[path]) for path in subjects.files]
        left = [(path, digest) for path, digest in files if known.get(path) != digest]
        is_interrupted = False
        if left:
            places = _places(asked, min(jobs, len(left)) if ray is None else jobs, ray, sources)
            try:
                _drive(Driver(left, asked.config, places), lines, stop_on)
            except KeyboardInterrupt:
                is_interrupted = True
            finally:
                places.close()
        print_totals(lines, time.monotonic() - began)
        return INTERRUPTED if is_interrupted else lines.exit_code(exit_zero=False)


def _keep_inputs(output: Path, inputs: Sequence[Path]) -> None:
    if output.is_file() and any(one.is_file() and one.samefile(output) for one in inputs):
        raise click.UsageError(f"--output would overwrite {output}, which is read")


def _drive(driver: Driver, lines: Lines, stop_on: str | None) -> None:
    for reported in driver.lines():
        lines.add_text(reported.line, reported.path, reported.verdict)
        if reported.verdict == stop_on:
            return


def _places(asked: Asked, jobs: int, ray: str | None, sources: tuple[Path, ...]) -> Places:
    if ray is None:
        from tritonaudit.farm.local import LocalPlaces

        return LocalPlaces(asked, jobs)
    from tritonaudit.farm.on_ray import ray_places

    return ray_places(asked, ray, sources)


@command.command(_REPORT)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--output-format", type=click.Choice(["full", "html"]), default="full", show_default=True)
@click.option("--output-file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report there.")
def report_command(file: Path, output_format: str, output_file: Path | None) -> int:
    """Summarise the lines of FILE: verdicts, what failed, speed-ups, the slowest."""
    from tritonaudit.farm.page import page
    from tritonaudit.farm.summary import LineError, summary_of
    from tritonaudit.farm.table import text

    try:
        summary = summary_of(file)
    except LineError as error:
        raise click.ClickException(str(error)) from error
    if output_file is not None and output_file.exists() and output_file.samefile(file):
        raise click.UsageError(f"--output-file would overwrite {file}")
    deliver(page(summary) if output_format == "html" else text(summary), output_file)
    return 0
