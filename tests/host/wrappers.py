"""Small wrappers as the host evaluator sees them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from tritonaudit.host.host import Host, LaunchSite
from tritonaudit.host.values import Symbol, Tensor
from tritonaudit.kernel.project import Project
from tritonaudit.source.outline import Module, outline

IMPORTS = "import functools\nimport math\nimport torch\nimport torch.nn.functional as F\nimport triton\n"
KERNEL = """\
import triton.language as tl


@triton.jit
def kernel(x, out, n, m, stride, BLOCK: tl.constexpr = 128, FLAG: tl.constexpr = False):
    pass


"""


def module(text: str, path: str = "/nowhere/m.py") -> Module:
    return outline(path, IMPORTS + KERNEL + textwrap.dedent(text))


def sites(text: str) -> tuple[LaunchSite, ...]:
    """The launches of `kernel`, or of the last one that the text has itself, in a file that ends with this text."""
    found = module(text)
    return Project(Path("/nowhere")).host.launches(found, found.jit[-1], [])


def site(text: str) -> LaunchSite:
    (one,) = sites(text)
    return one


def replayed(text: str, **sizes: int) -> object:
    """The one launch with numbers put in; `x_0` stands for `x.shape[0]`."""
    found = module(text)
    host: Host = Project(Path("/nowhere")).host
    (one,) = host.launches(found, found.jit[0], [])
    named = dict(_named(sizes))
    return host.replay(one, named)


def _named(sizes: dict[str, int]) -> Iterator[tuple[str, int]]:
    for name, size in sizes.items():
        tensor, _, index = name.rpartition("_")
        yield (f"{tensor}.shape[{index}]" if tensor and index.isdigit() else name), size


def grid(one: LaunchSite) -> list[str]:
    """The axes of a grid, as text."""
    return [one.grid.reason] if isinstance(one.grid, Symbol) else [str(axis) for axis in one.grid]


def passed(one: LaunchSite, parameter: str) -> str:
    """What a launch passes, as text: of a tensor its shape."""
    value = one.arguments[parameter]
    if isinstance(value, Tensor):
        return str(tuple(map(str, value.shape))) if isinstance(value.shape, tuple) else "a tensor of unknown shape"
    return value.name if isinstance(value, Symbol) else str(value)


def conditions(one: LaunchSite) -> list[str]:
    return [str(condition) for condition in one.conditions]
