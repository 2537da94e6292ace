"""Small projects whose kernels nobody wrote a subject for."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from tritonaudit.capture.infer import Inference, launch_sites
from tritonaudit.capture.lift import Lifted, lift
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.outline import outline

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


def write(root: Path, files: Mapping[str, str]) -> Path:
    """A project with these files, each with Triton imported unless it is a package's `__init__.py`."""
    (root / "pyproject.toml").touch()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = "" if name.endswith("__init__.py") or text.startswith("# bare") else IMPORTS
        path.write_text(before + textwrap.dedent(text))
    return root


def function(path: Path, name: str) -> Function:
    """The first kernel of that name in a file."""
    module = outline(str(path), path.read_text())
    return next(Function(module, jit) for jit in module.jit if jit.name == name)


def lifted(root: Path, place: str = "ops.py", kernel: str = "kernel") -> Lifted:
    return lift(Project(root), function(root / place, kernel))


def inference(root: Path, place: str = "ops.py", kernel: str = "kernel") -> Inference:
    project = Project(root)
    found = function(root / place, kernel)
    return Inference(project, found, launch_sites(project, found))


def guesses_that_count(root: Path) -> tuple[str, ...]:
    """What is assumed of the kernel of `tuned.py`, in a process with a stand-in GPU."""
    from tritonaudit.capture.arguments import assumptions_of
    from tritonaudit.capture.load import load

    return assumptions_of(inference(root, "tuned.py").call(), load(lifted(root, "tuned.py")).kernel)


def indented(text: str) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n"), "    ") + "\n"
