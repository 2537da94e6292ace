"""`tritonaudit trace`: runs a command without a GPU, records the launches that it makes, and checks them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from tritonaudit.cli.compile import require_compiler
from tritonaudit.cli.options import audit_options, configure, exit_code, project_of
from tritonaudit.cli.replay import LIMIT, TARGETS, checked, read, write_report

_MIB = 1 << 20
_FOR_PEOPLE = ("full", "concise")


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option(
    "--trace",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    default="tritonaudit.trace",
    show_default=True,
    help="Write the trace to this file.",
)
@click.option(
    "--keep-whole",
    "mebibytes",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    metavar="MIB",
    help="Keep samples of a tensor of floating-point numbers that is larger than this.",
)
@LIMIT
@TARGETS
@audit_options()
def command(
    words: tuple[str, ...],
    file: Path,
    mebibytes: int,
    seconds: float,
    targets: tuple[str, ...],
    exit_zero: bool,
    output_format: str,
    output_file: Path | None,
    config_file: Path | None,
    jobs: int | None,
    **overrides: Any,
) -> int:
    """Run a command without a GPU, record its Triton launches, and check them.

    What the COMMAND puts on `cuda` is on the CPU, though it says that it is on a GPU; launches are executed by the CPU
    engine, so that tests that need a GPU run, and show what they would there. The first launch of each kind is
    recorded with its arguments and then checked: memory, races, another order of its programs, other configs. What
    needs a GPU nevertheless, such as NCCL, is skipped, and the report says so. RULES are codes, beginnings of codes or
    names, separated by commas.

    The exit code is that of the COMMAND if it is not 0; else it is 0 if nothing is found at the level of --fail-on, 1
    if something is, 2 if something could not be read or done.
    """
    require_compiler("trace")
    from tritonaudit.trace.running import CannotRun, Request, run_traced
    from tritonaudit.trace.stage import ReplayRequest

    _keep_others(file)
    config = configure(project_of((Path(),)), config_file, overrides)
    is_taken = output_file is None and output_format not in _FOR_PEOPLE
    request = Request(words, Path(os.path.abspath(file)), seconds, mebibytes * _MIB, is_taken)
    try:
        ended = run_traced(request)
    except CannotRun as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from error
    result = checked(read(file), config, ReplayRequest(seconds, jobs or os.cpu_count() or 1, targets))
    write_report(result, config, output_format, output_file)
    if ended:
        return ended if ended > 0 else 128 - ended
    return exit_code(result.audit, config, exit_zero)


def _keep_others(file: Path) -> None:
    """Raise where the trace would replace a file that is none."""
    from tritonaudit.trace.writing import KIND

    if not file.exists():
        return
    with open(file, "rb") as other:
        begin = other.read(len(KIND))
    if begin and begin != KIND:
        raise click.UsageError(f"--trace would overwrite {file}, which is no trace")
