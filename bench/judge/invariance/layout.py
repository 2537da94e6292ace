"""`uncommented`, `reformatted` and `reordered`: what Python does not see, or not where it stands."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence

from bench.judge.invariance.changes import Change, Edit, Kept, New, inserted, replaced
from bench.judge.invariance.scopes import loaded
from bench.judge.invariance.source import Source
from tritonaudit.source.nodes import statements_in

_PRAGMA = re.compile(r"#\s*(!|type:|noqa|tritonaudit:|pragma|pylint|fmt:|isort|ruff|mypy|pyright|yapf|.*coding[:=])")
_PLAIN_STRING = re.compile(r"""'[^'"\\\n]*'|"[^'"\\\n]*\"""")
_SIMPLE_DECORATORS = ("triton.jit", "triton.autotune", "triton.heuristics", "triton.Config")


def uncommented(source: Source) -> Edit:
    """Without comments and docstrings, but for comments that tools read."""
    changes = list(_comments(source))
    if "__doc__" not in source.words:
        changes.extend(_docstrings(source))
    return Edit(tuple(changes))


def reformatted(source: Source) -> Edit:
    """Strings in the other quotes, values of assignments on a line of their own, and blank lines in between."""
    texts = [token for token in _tokens(source) if token.type == tokenize.STRING]
    docstrings = {node.lineno for node in source.nodes if _is_text(node)}
    quoted = [
        replaced(start, start + len(token.string), _requoted(token.string))
        for token in texts
        if _PLAIN_STRING.fullmatch(token.string) and token.start[0] not in docstrings
        for start in (_start(source, token),)
    ]
    return Edit((*_outside(quoted, broken := list(_broken(source))), *broken))


def reordered(source: Source) -> Edit:
    """Functions that stand one after the other in the opposite order, where none needs another to be defined."""
    changes = [change for run in _runs(source) if len(run) > 1 for change in _reversed(source, run)]
    return Edit(tuple(changes))


def _tokens(source: Source) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(source.text).readline))


def _start(source: Source, token: tokenize.TokenInfo) -> int:
    return source.starts[token.start[0] - 1] + token.start[1]


def _comments(source: Source) -> Iterator[Change]:
    for token in _tokens(source):
        if token.type != tokenize.COMMENT or _PRAGMA.match(token.string):
            continue
        start = _start(source, token)
        line = source.starts[token.start[0] - 1]
        before = source.text[line:start]
        end = start + len(token.string)
        if before.strip():
            yield Change(line + len(before.rstrip()), end, ())
        else:
            yield Change(line, min(end + 1, len(source.text)), ())


def _docstrings(source: Source) -> Iterator[Change]:
    for node in source.nodes:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)) or not node.body:
            continue
        first = node.body[0]
        if (
            _is_text(first)
            and source.is_alone(first)
            and "#" not in source.text[source.span(first)[1] :].split("\n")[0]
        ):
            if len(node.body) > 1 or isinstance(node, ast.Module):
                yield Change(*source.lines_of(first), ())
            else:
                yield replaced(*source.span(first), "pass")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _requoted(text: str) -> str:
    quote = '"' if text[0] == "'" else "'"
    return quote + text[1:-1] + quote


def _broken(source: Source) -> Iterator[Change]:
    """Values in parentheses, and a blank line before; of a part of the file's statements that is always the same."""
    for node in statements_in(source.tree):
        if not isinstance(node, ast.Assign) or node.lineno != node.end_lineno or not source.is_alone(node):
            continue
        begin, end = source.span(node.value)
        about = source.span(node)
        indent = source.indent(node)
        opening, closing = New(f"(\n{indent}    ", *about), New(f"\n{indent})", *about)
        if isinstance(node.value, (ast.BinOp, ast.Call, ast.Compare)):
            yield inserted(source.lines_of(node)[0], "\n")
            yield Change(begin, end, (opening, Kept(begin, end), closing))


def _outside(changes: Sequence[Change], others: Sequence[Change]) -> Iterator[Change]:
    """The changes that are in none of the others."""
    taken = sorted((one.start, one.end) for one in others if one.end > one.start)
    ends = iter(taken)
    current = next(ends, None)
    for change in sorted(changes, key=lambda one: one.start):
        while current is not None and current[1] <= change.start:
            current = next(ends, None)
        if current is None or change.end <= current[0]:
            yield change


def _runs(source: Source) -> Iterator[list[ast.FunctionDef]]:
    """Functions in a row of which none is used before all of them are there."""
    run: list[ast.FunctionDef] = []
    for statement in source.tree.body:
        if isinstance(statement, ast.FunctionDef) and _may_move(source, statement):
            run.append(statement)
        else:
            yield run
            run = []
    yield run


def _may_move(source: Source, function: ast.FunctionDef) -> bool:
    early = [*function.decorator_list, *function.args.defaults, *filter(None, function.args.kw_defaults)]
    annotations = [one.annotation for one in ast.walk(function.args) if isinstance(one, ast.arg) and one.annotation]
    own = {one.name for one in source.tree.body if isinstance(one, ast.FunctionDef)}
    calls = [decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in function.decorator_list]
    ready = [*early, *annotations, *([function.returns] if function.returns else [])]
    return (
        source.bindings[function.name] == 1
        and all(source.origin_of(call) in _SIMPLE_DECORATORS for call in calls)
        and not any(loaded(node) & own for node in ready)
        and source.is_alone(function)
    )


def _reversed(source: Source, run: Sequence[ast.FunctionDef]) -> Iterator[Change]:
    """The functions in each other's places; what stands between them stays."""
    spans = [source.lines_of(function) for function in run]
    if any(source.text[end - 1 : end] != "\n" for _, end in spans):
        return
    for place, taken in zip(spans, reversed(spans), strict=True):
        if place != taken:
            yield Change(*place, (Kept(*taken),))
