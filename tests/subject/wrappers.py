"""Wrappers to guess the inputs of."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

from tritonaudit.kernel.project import Project
from tritonaudit.source.outline import outline
from tritonaudit.subject.guess.parameters import Guess, guesses
from tritonaudit.subject.guess.roles import KernelRoles
from tritonaudit.subject.wrappers import Host

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"

COPY = """\
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


"""


def host_of(code: str, path: Path = Path("/nowhere/ops.py")) -> Host:
    """The host code of a module that begins with the usual imports."""
    return Host(outline(str(path), IMPORTS + code), Project(path.parent))


def function(signature: str, body: str) -> str:
    return f"def {signature}:\n{indent(dedent(body).strip(), '    ')}\n"


def all_guesses(code: str) -> list[Guess]:
    """The guesses for the only wrapper of the code."""
    host = host_of(code)
    (wrapper,) = host.wrappers()
    return list(guesses(wrapper, KernelRoles(host.project)))


def guess(code: str) -> Guess:
    """The likeliest guess for the only wrapper of the code."""
    return all_guesses(code)[0]
