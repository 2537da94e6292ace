"""`tritonaudit api`: what a name of Triton is, in which releases."""

from __future__ import annotations

import click

from tritonaudit.api.listing import lines_of
from tritonaudit.api.lookup import find, similar
from tritonaudit.api.table import table
from tritonaudit.cli import terminal
from tritonaudit.target import Target, TargetError


@click.command()
@click.argument("name")
@click.option("--triton", "target", metavar="VERSION", help="The releases to look at, such as 3.3 or '>=3.2,<3.8'.")
def command(name: str, target: str | None) -> int:
    """Say which releases of Triton have a name, with which parameters.

    NAME is written as in a kernel: tl.load, libdevice.tanh, triton.Config, or load alone. The exit code is 1 if some
    of the releases do not have it.
    """
    known = table()
    try:
        versions = known.releases if target is None else Target.parse(target).versions
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    found = find(known, name)
    if not found:
        close = similar(known, name)
        raise click.ClickException(
            f"no release of Triton has {name!r}" + (f"; did you mean {' or '.join(close)}?" if close else "")
        )
    terminal.write("\n".join("".join(lines_of(known, one, versions)) for one in found))
    return 0 if target is None or not found[0].missing(versions) else 1
