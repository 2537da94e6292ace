"""`tritonaudit select`: of the variants of an operation, the best of those that are right."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import click

from tritonaudit.cli import INTERRUPTED, terminal
from tritonaudit.cli.compile import require_compiler
from tritonaudit.cli.notices import complain
from tritonaudit.cli.options import CONFIG, DEVICE, JOBS, SECONDS, SEED, budget_option, configure, project_of, split
from tritonaudit.cli.progress import shown_progress

_REPAIR_SECONDS = 120.0
_TARGET = "sm_90"


def _target(_: click.Context, __: click.Parameter, value: str) -> str:
    from tritonaudit.hardware.targets import gpu_target

    try:
        return gpu_target(value).name
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _command(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    if value is None:
        return ()
    try:
        words = tuple(shlex.split(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    if not words or shutil.which(words[0]) is None:
        raise click.BadParameter(f"{words[0] if words else value!r} is not a program that can be started")
    return words


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="OP...")
@click.option(
    "--logs",
    type=click.Path(path_type=Path, file_okay=False),
    default="logs",
    show_default=True,
    help="Write the logs to this folder.",
)
@click.option(
    "--regenerate",
    "regenerate",
    callback=_command,
    metavar="CMD",
    help="Let this program rewrite a variant that fails, at most three times.",
)
@click.option(
    "--regenerate-timeout",
    type=SECONDS,
    default=_REPAIR_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="How long CMD may take for one attempt.",
)
@budget_option("variant")
@SEED
@DEVICE
@click.option(
    "--target",
    callback=_target,
    default=_TARGET,
    show_default=True,
    metavar="ARCH",
    help="The target to compile for without a GPU.",
)
@CONFIG
@JOBS
def command(
    folders: tuple[str, ...],
    logs: Path,
    regenerate: tuple[str, ...],
    regenerate_timeout: float,
    budget: float,
    seed: int,
    device: str,
    target: str,
    config_file: Path | None,
    jobs: int | None,
) -> int:
    """Choose among the variants of operations: the best of those that are right.

    OP is the folder of an operation, or its name below kernels/; several are separated by commas or spaces. Its
    variants are the files v1….py, v2….py, … there, each with a function triton_OP. All are validated as `audit`
    validates them, correct ones are timed, and one is chosen; without a GPU, by what the compiler makes of them. LOGS
    gets an OP_log.md for each, and summary.md.

    CMD is started without a shell and gets one JSON object on its standard input: file, op, attempt, source, reasons,
    previous, findings and errors (as those of `audit --output-format json`). It writes the new file to its standard
    output. What it writes is kept in LOGS/attempts; the variant's own file stays as it is.

    The exit code is 0 if every operation has a choice, 1 if one has none, 2 if something could not be read or done.
    Ctrl-C makes it 130: operations that were done by then have their logs.
    """
    require_compiler("select")
    from tritonaudit.audit import AuditRequest
    from tritonaudit.cli.hardware import parts_of
    from tritonaudit.execute.starting import warm_up
    from tritonaudit.port.folders import operations_named
    from tritonaudit.port.repairing import Repairer
    from tritonaudit.port.selecting import SelectRequest
    from tritonaudit.port.session import run_session
    from tritonaudit.port.validating import PARTS

    warm_up()
    operations, problems = operations_named(split(folders))
    root = project_of(tuple(operation.folder for operation in operations) or (Path(),))
    config = configure(root, config_file, {"ignore": (), "extend_select": ()})
    parts = parts_of(config.hardware_file, root, config_file)
    gpu = _gpu(device)
    audit = AuditRequest(PARTS, budget, jobs or os.cpu_count() or 1, "gpu" if gpu else "cpu", seed=seed)
    repairer = Repairer(regenerate, regenerate_timeout) if regenerate else None
    request = SelectRequest(audit, logs, target, gpu, repairer)
    with shown_progress(lines=True) as progress:
        session = run_session(operations, config, request, parts, problems, progress)
    terminal.write(session.summary)
    complain(session.problems)
    if session.is_interrupted:
        return INTERRUPTED
    return 2 if session.problems else int(not session.has_choices)


def _gpu(device: str) -> str:
    from tritonaudit.suites.stage import NoGpu, Where, gpu_for

    try:
        return gpu_for(Where(device))
    except NoGpu as error:
        raise click.ClickException(f"--device gpu: {error}") from error
