"""`tritonaudit init`: spec files to begin with."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonaudit.cli import terminal

if TYPE_CHECKING:
    from tritonaudit.source.discover import Discovery
    from tritonaudit.subject.specs import Spec


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write all specs there, not beside the modules.",
)
def command(paths: tuple[Path, ...], output_dir: Path | None) -> int:
    """Write a spec for each module that launches Triton kernels.

    `audit_MODULE.py` has a Subject for each public function that launches a kernel, with inputs guessed from its code;
    what is only a guess is marked. None of your code is run, and nothing that exists is overwritten.

    The exit code is 2 if something could not be read or written.
    """
    from tritonaudit.subject.specs import Fate, write_specs

    found = _discover(paths)
    for problem in found.problems:
        _complain(Path(problem.path), problem.message)
    fates: set[Fate] = set()
    for spec in write_specs(found.files, output_dir):
        fates.add(spec.fate)
        if spec.fate is Fate.FAILED:
            _complain(spec.module, spec.reason)
        else:
            terminal.write(f"{_line(spec)}\n")
    for notebook in found.notebooks:
        terminal.write(f"no spec for {_shown(notebook)}: nothing can import a notebook\n")
    if not fates and not found.problems and not found.notebooks:
        terminal.write("nothing to write: no function there launches a Triton kernel\n")
    return 2 if found.problems or Fate.FAILED in fates else 0


def _discover(paths: tuple[Path, ...]) -> Discovery:
    from tritonaudit.cli.options import project_of
    from tritonaudit.config import project_config
    from tritonaudit.source.discover import discover

    return discover(paths, project_config(project_of(paths)))


def _line(spec: Spec) -> str:
    from tritonaudit.subject.specs import Fate

    wrappers = ", ".join(spec.wrappers)
    if spec.path is None:
        return f"no spec for {_shown(spec.module)}: {spec.reason}"
    if spec.fate is Fate.EXISTS:
        return f"{_shown(spec.path)} exists and is left as it is; it would cover {wrappers}"
    return f"wrote {_shown(spec.path)}: {wrappers}"


def _complain(path: Path, reason: str) -> None:
    print(f"tritonaudit: {_shown(path)}: {reason}", file=sys.stderr)


def _shown(path: Path) -> str:
    """The path from the working directory where it is below it."""
    relative = os.path.relpath(path, Path.cwd())
    return str(path) if relative.startswith("..") else relative
