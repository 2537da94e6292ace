"""`tritonaudit history`: audits that were kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonaudit.cli import terminal
from tritonaudit.cli.notices import complain

if TYPE_CHECKING:
    from tritonaudit.history.folder import History

FOLDER = "memory"
_NOT_REACHED = 3


@click.group(invoke_without_command=True)
@click.option(
    "--folder", type=click.Path(path_type=Path), default=FOLDER, show_default=True, help="Where the history is."
)
@click.pass_context
def command(context: click.Context, folder: Path) -> int | None:
    """List, compare and mask the audits that `tritonaudit audit --keep` kept.

    Each is a file v1.json, v2.json, … that follows `tritonaudit/report/history.schema.json`. Masked ones are skipped
    everywhere except in `list --all`. A file that is truncated or does not follow the schema is named and skipped, and
    the exit code is 2. It is 3 where `trend` finds that the target of the roof is not reached yet.
    """
    return _list(folder, False) if context.invoked_subcommand is None else None


@command.command("list")
@click.option("--all", "shows_masked", is_flag=True, help="Include masked ones.")
@click.pass_context
def list_command(context: click.Context, shows_masked: bool) -> int:
    """List the versions, one line each."""
    return _list(_folder(context), shows_masked)


def _list(folder: Path, shows_masked: bool) -> int:
    from tritonaudit.history.reporting import list_text

    history = _read(folder)
    return _write(history, list_text(history.every if shows_masked else history.versions))


@command.command("show")
@click.argument("number", type=click.IntRange(min=1))
@click.pass_context
def show_command(context: click.Context, number: int) -> int:
    """Show all figures and findings of version NUMBER."""
    from tritonaudit.history.folder import HistoryError
    from tritonaudit.history.reporting import show_text

    history = _read(_folder(context))
    try:
        return _write(history, show_text(history.version(number)))
    except HistoryError as error:
        raise click.ClickException(str(error)) from error


@command.command("compare")
@click.argument("earlier", type=click.IntRange(min=1))
@click.argument("later", type=click.IntRange(min=1))
@click.pass_context
def compare_command(context: click.Context, earlier: int, later: int) -> int:
    """Show what got better, worse, new or gone from version EARLIER to LATER.

    A time or a speed-up has moved where its 95 % intervals do not meet, the worst error where it has by more than
    10 %. Times of different devices are not compared.
    """
    from tritonaudit.history.compare import compared
    from tritonaudit.history.folder import HistoryError
    from tritonaudit.history.reporting import compared_text

    history = _read(_folder(context))
    try:
        one, other = history.version(earlier), history.version(later)
    except HistoryError as error:
        raise click.ClickException(str(error)) from error
    return _write(history, compared_text(one, other, compared(one, other)))


@command.command("trend")
@click.argument("subject", required=False)
@click.pass_context
def trend_command(context: click.Context, subject: str | None) -> int:
    """Show each figure over all versions, for SUBJECT or for every subject.

    The exit code is 0 if every subject has reached the target in the latest version: no check of it fails, and its
    size with the longest roof comes as close to it as the target asks. It is 3 where one has not.
    """
    from tritonaudit.history.folder import HistoryError
    from tritonaudit.history.reporting import trend_text
    from tritonaudit.history.trend import trends

    history = _read(_folder(context))
    try:
        found = trends(history.versions, subject)
    except HistoryError as error:
        raise click.ClickException(str(error)) from error
    is_reached = bool(found) and all(one.standing.is_reached for one in found)
    return _write(history, trend_text(history.versions, found)) or (0 if is_reached else _NOT_REACHED)


@command.command("mask")
@click.argument("number", type=click.IntRange(min=1))
@click.pass_context
def mask_command(context: click.Context, number: int) -> None:
    """Mask version NUMBER, so that it is skipped."""
    _set_masked(_folder(context), number, True)


@command.command("unmask")
@click.argument("number", type=click.IntRange(min=1))
@click.pass_context
def unmask_command(context: click.Context, number: int) -> None:
    """Unmask version NUMBER, so that it counts again."""
    _set_masked(_folder(context), number, False)


def _folder(context: click.Context) -> Path:
    assert context.parent is not None
    folder: Path = context.parent.params["folder"]
    return folder


def _read(folder: Path) -> History:
    from tritonaudit.history.folder import HistoryError, read_history

    try:
        return read_history(folder)
    except HistoryError as error:
        raise click.ClickException(str(error)) from error


def _write(history: History, text: str) -> int:
    """Write the text, and the problems to stderr; 2 where there are any, else 0."""
    terminal.write(text)
    complain(history.problems)
    return 2 if history.problems else 0


def _set_masked(folder: Path, number: int, masked: bool) -> None:
    from tritonaudit.history.folder import HistoryError, set_masked

    try:
        is_changed = set_masked(folder, number, masked)
    except HistoryError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"cannot write v{number}.json: {error.strerror}") from error
    word = "masked" if masked else "unmasked"
    terminal.write(f"v{number} is {word if is_changed else f'{word} already'}.\n")
