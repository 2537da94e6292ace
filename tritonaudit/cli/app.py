"""The command group: commands are found by name and imported only when they are called."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

import click

from tritonaudit import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_DEFAULT = "check"
_COMMANDS = (
    *(
        "api",
        "audit",
        "check",
        "compile",
        "completion",
        "explain",
        "farm",
        "gate",
        "hardware",
        "history",
        "init",
        "new",
    ),
    *("replay", "roofline", "rules", "schema", "select", "server", "trace"),
)
_OWN_OPTIONS = ("-h", "--help", "-V", "--version")


class App(click.Group):
    """Every command is the attribute `command` of the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"tritonaudit.cli.{cmd_name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Anything that is neither a command nor an option of ours is for the default command.

        While a shell completes a line, its first word may still become either.
        """
        is_unfinished = ctx.resilient_parsing and not args
        if not is_unfinished and (not args or args[0] not in (*_COMMANDS, *_OWN_OPTIONS)):
            _refuse_mistyped(args)
            args = [_DEFAULT, *args]
        ctx.obj = tuple(args)
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that a line may begin with, and files, which are for the default one."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            check = self.get_command(ctx, _DEFAULT)
            own = super().shell_complete(ctx, incomplete)
            return own if check is None else [*own, *check.shell_complete(ctx, incomplete)]
        commands = [CompletionItem(name) for name in _COMMANDS if name.startswith(incomplete)]
        return [*commands, CompletionItem(incomplete, type="file")]


def _refuse_mistyped(args: list[str]) -> None:
    """Raise where the first word is like a command, and there is no such file."""
    word = args[0] if args else ""
    if not word.isalpha() or os.path.lexists(word):
        return
    from difflib import get_close_matches

    if close := get_close_matches(word.lower(), _COMMANDS, 1, 0.75):
        raise click.UsageError(f"there is no command or path {word!r}; did you mean `{close[0]}`?")


@click.group(cls=App, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def app() -> None:
    """The audit linter for Triton GPU kernels.

    `tritonaudit PATH…` is `tritonaudit check PATH…`; a path named like a command is written `./check`.
    """
