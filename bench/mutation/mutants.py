"""Makes the mutants of a kernel: its file with one fault put in, the same ones whenever they are made."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from bench.mutation import in_kernels, in_wrappers
from bench.mutation.in_kernels import Operator
from bench.mutation.kernels import Kernel
from bench.mutation.sites import Function, Site, code, functions, sites

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
            found: list[Mutant] = []
            for mutant in _of_operator(operator, name, wrapper.module, inside, positions):
                meaning = _meaning(mutant.source)
                if meaning is not None and meaning not in seen:
                    seen.add(meaning)
                    found.append(mutant)
            chosen += found if operator.__name__ in _RARE else _spread(found, most)
    return tuple(chosen)


def _of_operator(
    operator: Operator, name: str, module: cst.Module, inside: Sequence[Function], positions: object
) -> Iterator[Mutant]:
    numbers: defaultdict[int, int] = defaultdict(int)
    for site in (site for function in inside for site in sites(function)):
        for replacement in operator(site):
            line = positions[site.node].start.line  # type: ignore[index]
            numbers[line] += 1
            after = _node(replacement, site)
            yield Mutant(
                name,
                operator.__name__,
                line,
                numbers[line],
                _shown(site.node),
                _shown(after),
                module.deep_replace(site.node, after).code,
                site.function.is_kernel,
            )


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


def _spread(found: Sequence[Mutant], most: int) -> list[Mutant]:
    """At most so many, evenly spread."""
    most = min(most, len(found))
    return [found[(2 * place + 1) * len(found) // (2 * most)] for place in range(most)]


def _shown(node: cst.CSTNode) -> str:
    return " ".join(code(node).split())
