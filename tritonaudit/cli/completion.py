"""`tritonaudit completion`: what makes a shell complete commands, options, files and rules."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tritonaudit.cli import terminal

_PROGRAM = "tritonaudit"
_VARIABLE = "_TRITONAUDIT_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
@click.option("--install", is_flag=True, help="Write it where the shell looks for it, and say where that is.")
def command(shell: str | None, install: bool) -> None:
    """Print the completion script for a shell, by default the one you are using.

    `--install` writes it to a file of its own, and changes none of yours.
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in _SHELLS:
        raise click.UsageError(f"name the shell: {', '.join(_SHELLS)}")
    script = _script(shell)
    if not install:
        terminal.write(script)
        return
    place, hint = _place(shell)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot make {place.parent}: {error.strerror}") from error
    terminal.write_file(place, script)
    terminal.write(f"wrote {place}\n{hint}\n")


def _script(shell: str) -> str:
    from click.shell_completion import get_completion_class

    from tritonaudit.cli.app import app

    kind = get_completion_class(shell)
    assert kind is not None
    # Not `source()`, which for bash runs the shell to see how old it is.
    completion = kind(app, {}, _PROGRAM, _VARIABLE)
    return completion.source_template % completion.source_vars()


def _place(shell: str) -> tuple[Path, str]:
    """Where the shell looks for it, and what is to be done to have it at once."""
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    if shell == "bash":
        return data / "bash-completion" / "completions" / _PROGRAM, "bash-completion loads it in a new shell"
    if shell == "fish":
        return config / "fish" / "completions" / f"{_PROGRAM}.fish", "fish loads it in a new shell"
    folder = data / "zsh" / "site-functions"
    return folder / f"_{_PROGRAM}", f"for a new zsh, ~/.zshrc needs this line before `compinit`: fpath+=({folder})"
