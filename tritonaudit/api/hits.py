"""From what is wrong with a file's names to hits, with the fix where there is one."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tritonaudit.api.advice import Advice, advice
from tritonaudit.api.facts import ApiFacts, Misuse
from tritonaudit.api.problems import Problem, ProblemKind
from tritonaudit.api.table import table
from tritonaudit.api.wording import sentence
from tritonaudit.finding import Edit, Fix, Span
from tritonaudit.fixes.library import from_library
from tritonaudit.rule import Hit
from tritonaudit.source.outline import span_of
from tritonaudit.target import Version

_OF_BLOCK_POINTERS = ("boundary_check", "padding_option")


def hits(file: ApiFacts, kinds: Collection[ProblemKind]) -> Iterator[tuple[Misuse, Hit]]:
    """The hits of these kinds, each where the name or the keyword stands."""
    misuses = [misuse for misuse in file.misuses if misuse.problem.kind in kinds]
    has_block_pointers = any(_makes_block_pointers(misuse.problem) for misuse in misuses)
    known: dict[object, Advice | None] = {}
    for misuse in misuses:
        problem = misuse.problem
        if has_block_pointers and _needs_block_pointers(problem):
            continue
        key = problem.kind, problem.name.dotted, problem.parameter, problem.versions
        if key not in known:
            known[key] = advice(table(), problem, file.target.versions)
        yield misuse, _hit(file, problem, known[key])


def _makes_block_pointers(problem: Problem) -> bool:
    return problem.name.dotted.endswith(".make_block_ptr")


def _needs_block_pointers(problem: Problem) -> bool:
    """Whether it goes away with the block pointers."""
    return problem.parameter in _OF_BLOCK_POINTERS or problem.name.dotted.endswith(".advance")


def _hit(file: ApiFacts, problem: Problem, found: Advice | None) -> Hit:
    return Hit(
        _span(file, problem),
        sentence(table(), problem, file.target),
        remedy=None if found is None else found.text,
        fix=_fix(file, problem, found),
    )


def _span(file: ApiFacts, problem: Problem) -> Span:
    keyword = _keyword(problem)
    return _span_of(file, problem.use.node if keyword is None else keyword)


def _span_of(file: ApiFacts, node: ast.expr | ast.alias | ast.keyword) -> Span:
    return span_of(node, file.module.lines)


def _keyword(problem: Problem) -> ast.keyword | None:
    if problem.use.call is None or problem.parameter is None:
        return None
    return next((keyword for keyword in problem.use.call.keywords if keyword.arg == problem.parameter), None)


def _fix(file: ApiFacts, problem: Problem, found: Advice | None) -> Fix | None:
    keyword = _keyword(problem)
    if keyword is not None and problem.name.dotted == "triton.language.dot" and problem.parameter == "allow_tf32":
        return _fix_precision(file, problem, keyword)
    if found is not None and found.in_library:
        return from_library(file.module, problem.use.node, problem.name.dotted)
    if found is None or found.name is None:
        return None
    if keyword is not None:
        return _renamed(_start(_span_of(file, keyword), len(problem.parameter or "")), found.name, found)
    node = problem.use.node
    if isinstance(node, ast.Attribute) and problem.use.origin == problem.name.dotted:
        return _renamed(_end(_span_of(file, node), len(node.attr)), found.name, found)
    return None


def _fix_precision(file: ApiFacts, problem: Problem, keyword: ast.keyword) -> Fix | None:
    """`allow_tf32=True` is `input_precision="tf32"`, wherever there is that parameter."""
    constant = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    if not isinstance(constant, bool) or not all(
        _takes_precision(problem, version) for version in file.target.versions
    ):
        return None
    text = f'input_precision="{"tf32" if constant else "ieee"}"'
    return Fix(f"write `{text}`", (Edit(_span_of(file, keyword), text),), safe=True)


def _takes_precision(problem: Problem, version: Version) -> bool:
    definition = problem.name.definitions.get(version)
    given = {keyword.arg for keyword in problem.use.call.keywords} if problem.use.call is not None else set()
    parameters = () if definition is None else definition.parameters or ()
    return "input_precision" not in given and any(parameter.name == "input_precision" for parameter in parameters)


def _renamed(span: Span, name: str, found: Advice) -> Fix:
    return Fix(f"write `{name}`", (Edit(span, name),), safe=found.safe)


def _start(span: Span, length: int) -> Span:
    return Span(span.line, span.column, span.line, span.column + length)


def _end(span: Span, length: int) -> Span:
    return Span(span.end_line, span.end_column - length, span.end_line, span.end_column)
