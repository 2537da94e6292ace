"""`tritonaudit server`: the language server, for editors."""

from __future__ import annotations

import click

from tritonaudit import __version__
from tritonaudit.cli import terminal


@click.command()
@click.option("--check", is_flag=True, help="Check one document without an editor, say whether that works, and exit.")
def command(check: bool) -> int:
    """Speak the language server protocol over standard input and output.

    An editor starts this; see docs/editors.md.
    """
    try:
        from tritonaudit.server.app import make
    except ImportError as error:
        what = f"the language server needs pygls 2 and lsprotocol ({error})"
        raise click.ClickException(f"{what}: pip install 'tritonaudit[server]'") from error
    if check:
        return _check()
    make().start_io()
    return 0


def _check() -> int:
    from importlib.metadata import version

    from tritonaudit.server.self_check import NoDiagnostics, check_one_document

    try:
        check_one_document()
    except NoDiagnostics as error:
        raise click.ClickException(f"the language server does not work: {error}; please report it") from error
    terminal.write(f"the language server works: tritonaudit {__version__}, pygls {version('pygls')}\n")
    return 0
