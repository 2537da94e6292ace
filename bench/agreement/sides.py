"""Runs each side in a process of its own: neither sees what the other compiled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from bench.corpus import ROOT

_LIMIT = 300.0


class Failed(Exception):
    """A side's process that failed, and the end of what it said."""


def run(command: Sequence[str], variables: Mapping[str, str]) -> str:
    """What a command says; it finds this checkout first. Raises Failed."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace", timeout=_LIMIT
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{command[0]} took longer than {_LIMIT:g} s") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-20:]
        raise Failed("\n".join(said) or f"exit code {done.returncode}")
    return done.stdout
