"""`tritonaudit audit --keep`: the audit becomes the next entry of a history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tritonaudit.cli.history import FOLDER
from tritonaudit.cli.options import rules_on

if TYPE_CHECKING:
    from tritonaudit.audit import FullAudit
    from tritonaudit.config import Config

Command = TypeVar("Command", bound=Callable[..., Any])


def keep_options(command: Command) -> Command:
    """Adds --keep and --note."""
    command = click.option("--note", metavar="TEXT", help="A note to keep with the audit.")(command)
    return click.option(
        "--keep",
        "keep_folder",
        is_flag=False,
        flag_value=FOLDER,
        type=click.Path(path_type=Path),
        metavar="[FOLDER]",
        help=f"Keep the audit as the next one of the history in FOLDER, by default {FOLDER}.",
    )(command)


def require_history(folder: Path | None, note: str | None) -> None:
    """Raise where the audit could not be kept: before it is made, and where FOLDER was meant to be audited."""
    from tritonaudit.history.folder import is_history

    if folder is None:
        if note is not None:
            raise click.UsageError("--note needs --keep")
        return
    try:
        if not is_history(folder):
            raise click.UsageError(f"--keep {folder}: not a history; write --keep={FOLDER} before a path")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"--keep {folder}: {error.strerror}") from error


def keep(folder: Path, config: Config, sources: Sequence[Path], result: FullAudit, note: str | None) -> None:
    """Write the audit of the sources as the next entry and say where; one that was interrupted is not kept."""
    from tritonaudit.history import folder as history
    from tritonaudit.history.asked import asked_of
    from tritonaudit.history.commit import commit_of
    from tritonaudit.history.entry import entry_of
    from tritonaudit.rules import all_rules

    if result.is_interrupted:
        click.echo("tritonaudit: not kept, for it was interrupted", err=True)
        return
    rules = rules_on(config, sources)
    codes = (rule.code for rule in all_rules()) if rules is None else rules
    asked = asked_of(result.stages, codes, pedantic=config.pedantic)
    entry = entry_of(result.audit, result.sections, commit_of(config.root, folder), note, asked)
    try:
        path = history.keep(folder, entry)
    except history.HistoryError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"cannot keep the audit in {folder}: {error.strerror}") from error
    click.echo(f"tritonaudit: kept as {path}", err=True)
