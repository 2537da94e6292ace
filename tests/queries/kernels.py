"""Small kernels as flow sees them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tritonaudit.domains.analysis import NotAnalysed, analyse
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.kernel.project import Project
from tritonaudit.source.outline import outline
from tritonaudit.target import DEFAULT, Target

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
PARAMETERS = "x_ptr, y_ptr, n, m, stride, BLOCK: tl.constexpr, FLAG: tl.constexpr"


def flows(text: str) -> list[KernelFlow]:
    """The kernels of a file."""
    module = outline("/nowhere/m.py", IMPORTS + textwrap.dedent(text))
    found = list(analyse(module, Project(Path("/nowhere")), Target.parse(DEFAULT)))
    assert not [facts for facts in found if isinstance(facts, NotAnalysed)]
    return [facts for facts in found if isinstance(facts, KernelFlow)]


def flow(body: str, before: str = "", after: str = "") -> KernelFlow:
    """The kernel with this body, in a file that has more before and after it."""
    kernel = f"@triton.jit\ndef kernel({PARAMETERS}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
    parts = (textwrap.dedent(before), kernel, textwrap.dedent(after))
    return next(found for found in flows("\n\n".join(parts)) if found.name == "kernel")


def addresses(found: KernelFlow) -> list[str]:
    """The addresses of the accesses, as polynomials."""
    return [str(access.pointer.affine) for access in found.accesses]


def same_address(body: str, before: str = "") -> bool:
    """Whether all accesses of the kernel have one address that is known."""
    found = {access.pointer.affine for access in flow(body, before).accesses}
    return len(found) == 1 and None not in found
