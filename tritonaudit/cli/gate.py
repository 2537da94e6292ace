"""`tritonaudit gate`: whether a port has come through a stage."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonaudit.cli import INTERRUPTED
from tritonaudit.cli.compile import require_compiler
from tritonaudit.cli.keeping import keep, keep_options, require_history
from tritonaudit.cli.options import (
    CONFIG,
    DEVICE,
    JOBS,
    OUTPUT_FILE,
    SEED,
    budget_option,
    configure,
    deliver,
    keep_inputs,
    project_of,
)
from tritonaudit.cli.progress import shown_progress
from tritonaudit.finding import Status
from tritonaudit.gate.checklist import STAGES

if TYPE_CHECKING:
    from tritonaudit.gate.gate import Gated
    from tritonaudit.history.entry import Data

_FAILED, _COULD_NOT, _NOT_RUN = 1, 2, 3


@click.command()
@click.argument("subject")
@click.option("--stage", type=click.Choice([str(stage) for stage in STAGES]), required=True, help="The stage to check.")
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The result of stage 1: a file v<N>.json that --keep wrote.",
)
@budget_option("subject")
@SEED
@DEVICE
@keep_options
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@OUTPUT_FILE
@CONFIG
@JOBS
def command(
    subject: str,
    stage: str,
    against: Path | None,
    budget: float,
    seed: int,
    device: str,
    keep_folder: Path | None,
    note: str | None,
    output_format: str,
    output_file: Path | None,
    config_file: Path | None,
    jobs: int | None,
) -> int:
    """Check whether a port has passed a stage; SUBJECT is a file with subjects, or FILE::NAME for one of them.

    Stage 1: compiles, matches the reference, edge cases, all shapes. Stage 2: these, coalesced, blocks of powers of 2,
    autotuned, faster than the result of stage 1. Stage 3: these, measured, compared with torch.compile, bandwidth
    analysed, no needless synchronisation. Each item is PASS, FAIL, or NOT RUN where that is not known.

    The exit code is 0 if every item passes, 1 if one fails, 3 if none fails and one was not run, 2 if something could
    not be read or done.
    """
    require_compiler("gate")
    file, _, name = subject.partition("::")
    path = Path(file)
    config = configure(project_of((path,)), config_file, {"ignore": (), "extend_select": ()})
    keep_inputs(output_file, (path,), config)
    require_history(keep_folder, note)
    earlier = _read(against) if against else None
    from tritonaudit.gate.gate import GateRequest, NoSuchSubject, gate
    from tritonaudit.gate.reporting import data_of, text_of
    from tritonaudit.hardware.part_file import PartFileError
    from tritonaudit.suites.stage import NoGpu, Where

    request = GateRequest(
        int(stage),
        budget,
        jobs or os.cpu_count() or 1,
        Where(device),
        name or None,
        earlier,
        keep_folder is not None,
        seed,
    )
    try:
        with shown_progress(lines=True) as progress:
            gated = gate(path, config, request, progress)
    except NoGpu as error:
        raise click.ClickException(f"--device gpu: {error}") from error
    except (NoSuchSubject, PartFileError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        return INTERRUPTED
    report = json.dumps(data_of(gated), indent=2) + "\n" if output_format == "json" else text_of(gated)
    deliver(report, output_file)
    if keep_folder is not None:
        keep(keep_folder, config, (path,), gated.full, note)
    return _exit_code(gated)


def _read(against: Path) -> Data:
    from tritonaudit.gate.against import NoEntry, entry_in

    try:
        return entry_in(against)
    except NoEntry as error:
        raise click.BadParameter(str(error), param_hint="--against") from error


def _exit_code(gated: Gated) -> int:
    if gated.problems:
        return _COULD_NOT
    if any(one.count(Status.FAIL) for one in gated.subjects):
        return _FAILED
    return 0 if gated.holds else _NOT_RUN
