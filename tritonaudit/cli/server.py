"""`tritonaudit server`: the language server, for editors."""

from __future__ import annotations

from importlib.util import find_spec

import click

_NEEDED = ("lsprotocol", "pygls")


@click.command()
def command() -> int:
    """Speak the language server protocol over standard input and output.

    An editor starts this; see docs/editors.md.
    """
    if any(find_spec(name) is None for name in _NEEDED):
        raise click.ClickException("the language server needs pygls: pip install 'tritonaudit[server]'")
    from tritonaudit.server.app import make

    make().start_io()
    return 0
