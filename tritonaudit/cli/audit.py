"""`tritonaudit audit`: source, compiler and execution, in one report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from tritonaudit.cli import INTERRUPTED, terminal
from tritonaudit.cli.compile import require_compiler
from tritonaudit.cli.keeping import keep, keep_options, require_history
from tritonaudit.cli.notices import warn_of_config
from tritonaudit.cli.options import (
    DEVICE,
    SEED,
    about,
    audit_options,
    budget_option,
    configure,
    deliver,
    exit_code,
    keep_inputs,
    project_of,
    seed_is_asked_for,
    split,
)
from tritonaudit.cli.progress import shown_progress
from tritonaudit.cli.streaming import JSONL, streamed
from tritonaudit.report import render

_STAGES = ("source", "compile", "correctness", "memory", "stability", "integrity", "performance")
_EXECUTED = frozenset(_STAGES) - {"source", "compile"}
"""Parts that need workers, whatever is known from earlier audits."""


def parts(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> frozenset[str]:
    """The parts of an audit that an option names, all where it names none."""
    chosen = split(values)
    for name in chosen:
        if name not in _STAGES:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(_STAGES)}")
    return frozenset(chosen or _STAGES)


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--only",
    multiple=True,
    callback=parts,
    metavar="PARTS",
    help=f"Do only these parts: {', '.join(_STAGES)}. Of a run, only the checks of these parts are shown.",
)
@budget_option("subject")
@SEED
@DEVICE
@click.option(
    "--cross-check",
    is_flag=True,
    help="Run a few cases in Triton's interpreter as well, and compare; needs the CPU engine.",
)
@click.option("--resume", is_flag=True, help="Continue an audit that was killed: what it finished is not run again.")
@keep_options
@audit_options(JSONL)
def command(
    paths: tuple[Path, ...],
    only: frozenset[str],
    budget: float,
    seed: int,
    device: str,
    cross_check: bool,
    resume: bool,
    keep_folder: Path | None,
    note: str | None,
    exit_zero: bool,
    output_format: str,
    output_file: Path | None,
    config_file: Path | None,
    jobs: int | None,
    **overrides: Any,
) -> int:
    """Audit Triton kernels: their source, what the compiler makes of them, what they do when they run, and how fast.

    PATHS defaults to the current folder. Subjects are run on many sizes, dtypes, layouts and fills and compared
    with their references: on the GPU if there is one, else on the CPU engine, which watches every access to memory.

    Whatever the budget, the core of each subject is tried: ordinary cases, sizes around the blocks, special values,
    layouts, tests of numerical stability, memory and integrity. Without all of it the verdict is incomplete, which is
    not a pass. Some cases are drawn at random each time, so that no kernel can be tuned to pass them; --seed repeats
    them.

    In the jsonl format each file is one line, written as soon as its result is known; --resume then continues after
    the lines in --output-file.

    The exit code is 0 if nothing is found at the level of --fail-on, 1 if something is, 2 if something could not be
    read or done, 3 if nothing is found and a verdict is incomplete, or if --only asks for performance without a part
    that runs kernels and there is no GPU. Ctrl-C makes it 130, and the report covers what was
    done by then.
    """
    require_compiler("audit")
    sources = paths or (Path(),)
    config = configure(project_of(sources), config_file, overrides)
    keep_inputs(output_file, sources, config)
    require_history(keep_folder, note)
    if output_format == JSONL and keep_folder is not None:
        raise click.UsageError("--keep needs a single report: choose a format other than jsonl")
    if only & _EXECUTED:
        from tritonaudit.execute.starting import warm_up

        warm_up()  # before the rest is imported here, which takes a while, too
    from tritonaudit.audit import AuditRequest, audit_paths, with_unmeasured
    from tritonaudit.hardware.part_file import PartFileError
    from tritonaudit.suites.stage import NoGpu

    if cross_check:
        _check_engine(only, device)
    jobs = jobs or os.cpu_count() or 1
    request = AuditRequest(
        only,
        budget,
        jobs,
        device,
        resume,
        cross_checks=cross_check,
        seed=seed,
        seed_is_asked_for=seed_is_asked_for(),
    )
    try:
        with shown_progress(lines=True) as progress:
            if output_format == JSONL:
                return streamed(sources, config, request, output_file, progress, exit_zero=exit_zero)
            result = with_unmeasured(audit_paths(sources, config, request, progress), only)
    except NoGpu as error:
        raise click.ClickException(f"--device gpu: {error}") from error
    except PartFileError as error:
        raise click.ClickException(str(error)) from error
    warn_of_config(config)
    color = not output_file and terminal.wants_color()
    what_ran = about(config, sources, *result.stages)
    deliver(render(result.audit, output_format, color=color, sections=result.sections, about=what_ran), output_file)
    if keep_folder is not None:
        keep(keep_folder, config, sources, result, note)
    return INTERRUPTED if result.is_interrupted else exit_code(result.audit, config, exit_zero)


def _check_engine(only: frozenset[str], device: str) -> None:
    """Refuse to cross-check where nothing is run on the CPU engine."""
    from tritonaudit.audit import RUN_PARTS
    from tritonaudit.suites.stage import Where, gpu_for

    if not only & RUN_PARTS:
        raise click.UsageError(f"--cross-check compares runs: it needs one of {', '.join(sorted(RUN_PARTS))}")
    if device == Where.GPU.value or gpu_for(Where(device)):
        raise click.UsageError("--cross-check compares the CPU engine with Triton's interpreter: give --device cpu")
