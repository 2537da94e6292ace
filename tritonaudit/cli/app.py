"""The command group: commands are found by name and imported only when they are called."""

from __future__ import annotations

from importlib import import_module

import click

from tritonaudit import __version__

_DEFAULT = "check"
_COMMANDS = (
    *("api", "audit", "check", "compile", "explain", "gate", "hardware", "history", "init", "new", "roofline", "rules"),
    "select",
)
_OWN_OPTIONS = ("--help", "--version")


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
        """Anything that is neither a command nor an option of ours is for the default command."""
        if not args or args[0] not in (*_COMMANDS, *_OWN_OPTIONS):
            args = [_DEFAULT, *args]
        ctx.obj = tuple(args)
        return super().parse_args(ctx, args)


@click.group(cls=App)
@click.version_option(__version__, message="%(prog)s %(version)s")
def app() -> None:
    """The audit linter for Triton GPU kernels.

    `tritonaudit PATH…` is `tritonaudit check PATH…`; a path that is named like a command is given as `./check`.
    """
