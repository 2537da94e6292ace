"""What the source brain states of the variables of a kernel: the one place that knows how it says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonaudit.domains.affine import Affine, Atom, AtomKind
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.machine import Machine
from tritonaudit.ir.analysis import FrontEnd
from tritonaudit.ir.model import Assign, Kernel
from tritonaudit.kernel.launch import LaunchFacts, launches_of
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.decode import decode
from tritonaudit.source.outline import outline
from tritonaudit.target import Target

_TARGET = Target.parse()


@dataclass(frozen=True)
class Stated:
    """What is stated of a variable that a statement of these lines sets: None in a field where nothing is.

    `shape` has sizes, each None where it is not known; `number` is a polynomial of what a launch gives, of program ids
    and of lanes.
    """

    name: str
    first: int
    last: int
    dtype: str | None
    shape: tuple[Affine | None, ...] | None
    number: Affine | None
    lower: float | None
    upper: float | None


class _Noting(Machine):
    """Notes what is assigned, where it holds each time that the statement runs."""

    def __init__(self, flow: KernelFlow, kernel: Kernel) -> None:
        super().__init__(flow, kernel)
        self.stated: list[Stated] = []

    def assign(self, node: Assign) -> None:
        super().assign(node)
        source: Any = getattr(node.node, "value", None)
        if self.recording and source is not None:
            value = self.fact(node.value)
            facts = (value.dtype, value.shape, value.affine, value.lower, value.upper)
            self.stated.append(Stated(node.name, source.lineno, source.end_lineno, *facts))


def stated_of(root: Path, path: str, name: str, line: int) -> list[Stated]:
    """What is stated of the kernel of that name nearest to the line. Raises Unparsable, NotRead and RecursionError."""
    project = Project(root)
    module = outline(path, decode(Path(path).read_bytes()))
    named = [jit for jit in module.jit if jit.name == name]
    jit = min(named, key=lambda one: abs(one.node.lineno - line), default=None)
    function = None if jit is None else Function(module, jit)
    tree = None if function is None else project.tree(function)
    if jit is None or function is None or tree is None:
        return []
    launches = launches_of(module).get(jit) or project.launches_elsewhere(function)
    facts = LaunchFacts(module, jit, launches, project)
    kernel, _ = FrontEnd(project, _TARGET).read(function, facts, {}, helper=False)
    machine = _Noting(KernelFlow(module, jit, tree, facts, _TARGET), kernel)
    machine.run()
    return machine.stated


class NotKnown(Exception):
    """A polynomial has something in it that no launch gives."""


def evaluated(number: Affine, given: Mapping[str, int], ids: tuple[Any, Any, Any], rank: int) -> Any:
    """The polynomial's value for all programs: a number, or a tensor of shape (programs, *sizes). Raises NotKnown.

    `given` are parameters and constants by name, `ids` the program ids by axis, each of shape (programs, 1, …, 1).
    """
    total: Any = 0
    for product, factor in number.terms.items():
        part: Any = factor
        for atom in product:
            part = part * _atom(atom, given, ids, rank)
        total = total + part
    return total


def _atom(atom: Atom, given: Mapping[str, int], ids: tuple[Any, Any, Any], rank: int) -> Any:
    import torch

    if atom.kind in (AtomKind.PARAM, AtomKind.CONSTEXPR) and atom.name in given:
        return given[atom.name]
    if atom.kind is AtomKind.PID and atom.grid_axis is not None:
        return ids[atom.grid_axis]
    if atom.kind is AtomKind.LANE and atom.start is not None and atom.size is not None and -atom.axis <= rank:
        start, size = (evaluated(one, given, ids, rank) for one in (atom.start, atom.size))
        if isinstance(start, int) and isinstance(size, int):
            shape = [1] * (rank + 1)
            shape[atom.axis] = size
            return torch.arange(start, start + size).reshape(shape)
    raise NotKnown(atom.name)


def sizes(shape: tuple[Affine | None, ...], given: Mapping[str, int]) -> Iterator[int | None]:
    """Of each dimension its size, None where that is not stated or depends on what no launch gives."""
    for dim in shape:
        try:
            size = None if dim is None else evaluated(dim, given, (_NOWHERE,) * 3, 0)
        except NotKnown:
            size = None
        yield size if isinstance(size, int) else None


class _Nowhere:
    def __mul__(self, other: object) -> Any:
        raise NotKnown("a program id in a size")

    __rmul__ = __mul__


_NOWHERE = _Nowhere()
