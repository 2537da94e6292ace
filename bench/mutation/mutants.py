"""Makes the mutants of a kernel: its file with one fault put in, the same ones whenever they are made."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from bench.mutation import in_kernels, in_wrappers
from bench.mutation.in_kernels import Operator
from bench.mutation.kernels import Kernel
from bench.mutation.sites import Function, Site, code, functions

MOST = 1
"""How many mutants one operator makes of a kernel, of all that it could make, evenly spread."""

_RARE = frozenset(
    ("order_weakened", "atomic_lost", "atomic_changed", "maximum_not_subtracted", "precision_lowered", "buffer_in_half")
)
"""The operators for which few kernels have a place: they make all that they can."""

UNSEEN_BY_LAUNCHES = frozenset(("buffer_not_cleared",))
"""The operators whose mutants launch what the original launches, on other memory."""


@dataclass(frozen=True)
class Mutant:
    """A kernel's file with one fault: `before` became `after` at a line."""

    kernel: str
    operator: str
    line: int
    number: int
    before: str
    after: str
    source: str
    is_in_kernel: bool

    @property
    def id(self) -> str:
        """Its name, which is one for Python, too."""
        return f"{self.kernel}__{self.operator}_{self.line}_{self.number}"


def mutants(kernel: Kernel, most: int = MOST) -> tuple[Mutant, ...]:
    """The mutants of a kernel, in the order of the operators and the lines; no two of them are equal."""
    return mutants_of(kernel.name, kernel.file.read_text(), most)


def mutants_of(name: str, text: str, most: int) -> tuple[Mutant, ...]:
    """The mutants of the text of a file."""
    wrapper = MetadataWrapper(cst.parse_module(text))
    positions = wrapper.resolve(PositionProvider)
    seen = {_meaning(text)}
    chosen: list[Mutant] = []
    for is_kernel, operators in ((True, in_kernels.OPERATORS), (False, in_wrappers.OPERATORS)):
        inside = [function for function in functions(wrapper.module) if function.is_kernel == is_kernel]
        for operator in operators:
            edits = list(_edits(operator, inside, positions))
            count = len(edits) if operator.__name__ in _RARE else min(most, len(edits))
            for edit in _spread(edits, count):
                mutant = edit.mutant(name, operator.__name__, wrapper.module)
                meaning = _meaning(mutant.source)
                if meaning is not None and meaning not in seen:
                    seen.add(meaning)
                    chosen.append(mutant)
    return tuple(chosen)


@dataclass(frozen=True, eq=False)
class _Edit:
    """What may stand in a node's place; `number` tells it from others of the same operator and line."""

    site: Site
    line: int
    number: int
    after: cst.CSTNode

    def mutant(self, name: str, operator: str, module: cst.Module) -> Mutant:
        return Mutant(
            name,
            operator,
            self.line,
            self.number,
            _shown(self.site.node),
            _shown(self.after),
            module.deep_replace(self.site.node, self.after).code,
            self.site.function.is_kernel,
        )


def _edits(
    operator: Operator, inside: Sequence[Function], positions: Mapping[cst.CSTNode, CodeRange]
) -> Iterator[_Edit]:
    numbers: defaultdict[int, int] = defaultdict(int)
    for site in (site for function in inside for site in function.sites):
        for replacement in operator(site):
            line = positions[site.node].start.line
            numbers[line] += 1
            yield _Edit(site, line, numbers[line], _node(replacement, site))


def _node(replacement: str | cst.CSTNode, site: Site) -> cst.CSTNode:
    if isinstance(replacement, cst.CSTNode):
        return replacement
    if isinstance(site.node, cst.BaseSmallStatement):
        line = cst.parse_statement(replacement)
        assert isinstance(line, cst.SimpleStatementLine)
        return line.body[0]
    return cst.parse_expression(f"({replacement})")  # whatever binds more strongly around it


def _meaning(source: str) -> str | None:
    """The file without its layout, line numbers and needless parentheses; None where it is no Python."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return None


def _spread(edits: Sequence[_Edit], count: int) -> list[_Edit]:
    """So many of them, evenly spread."""
    return [edits[(2 * place + 1) * len(edits) // (2 * count)] for place in range(count)]


def _shown(node: cst.CSTNode) -> str:
    return " ".join(code(node).split())
