"""Whether the kernels of files compile: the compile stage on them, for their launches or as it infers them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from bench.processes import run, tritonaudit

_TARGET = "sm_90"
_SECONDS = 1200


def complaints(folder: Path) -> Mapping[tuple[str, str], str]:
    """For each kernel of each file, by their names, why it does not compile; empty where it does in every variant.

    What could not be launched goes by its qualified name.
    """
    command = tritonaudit("compile", folder, "--target", _TARGET, "--output-format", "json", "--exit-zero")
    path = os.pathsep.join(part for part in (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")) if part)
    ran = run(command, cwd=folder, limit=_SECONDS, variables={"PYTHONPATH": path})
    if not ran.out:
        raise RuntimeError(ran.err.decode("utf-8", "replace"))
    reported = json.loads(ran.out)
    found: dict[tuple[str, str], str] = {}
    for one in reported["not_analysed"]:
        named = re.search(r"`([\w.]+)`", one["reason"])
        if named is not None:
            found[Path(one["subject"]).name, named[1]] = one["reason"]
    for kernel in reported["compiled"]["kernels"]:
        errors = [variant["error"]["message"] for variant in kernel["variants"] if variant["error"]]
        found[Path(kernel["path"]).name, kernel["name"]] = errors[0] if errors else ""
    return found
