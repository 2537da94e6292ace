"""The decorators above a kernel, and the configs in them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tritonaudit.finding import Edit, Fix, Span
from tritonaudit.fixes.applying import edited
from tritonaudit.kernel.tuning import Config
from tritonaudit.source.edits import inserted
from tritonaudit.source.outline import Module, span_of


def innermost(module: Module, decorators: Sequence[ast.expr]) -> Fix | None:
    """The first of the decorators after the others; what stands beside them in the text stays where it is."""
    spans = [span_of(node, module.lines) for node in decorators]
    texts = [_text(module, node) for node in decorators]
    edits = tuple(Edit(span, text) for span, text in zip(spans, [*texts[1:], texts[0]], strict=True))
    return Fix("put `@triton.jit` next to the function", edits, safe=True)


def option_beside(module: Module, config: Config, name: str, value: ast.expr) -> Fix | None:
    """An option taken from a config's constants and passed by name."""
    given = config.node.args[0] if len(config.node.args) == 1 else None
    if not isinstance(given, ast.Dict) or name in config.options or None in (one.arg for one in config.node.keywords):
        return None
    place = next(number for number, one in enumerate(given.values) if one is value)
    left_out = _left_out(module, given, place)
    beside = inserted(span_of(given, module.lines), after=f", {name}={_text(module, value)}")
    return None if left_out is None else Fix(f"pass `{name}` beside them", (left_out, *beside), safe=True)


def _left_out(module: Module, given: ast.Dict, place: int) -> Edit | None:
    """The constants without one, and without its comma; none where a comment stands there."""
    if len(given.values) == 1:
        span = span_of(given, module.lines)
        edit = Edit(Span(span.line, span.column + 1, span.end_line, span.end_column - 1), "")
    elif place + 1 < len(given.values):
        start, end = _start(module, given, place), _start(module, given, place + 1)
        edit = Edit(Span(start.line, start.column, end.line, end.column), "")
    else:
        before, last = span_of(given.values[place - 1], module.lines), span_of(given.values[place], module.lines)
        edit = Edit(Span(before.end_line, before.end_column, last.end_line, last.end_column), "")
    return None if edited(module.text, [edit]).count("#") < module.text.count("#") else edit


def _start(module: Module, given: ast.Dict, place: int) -> Span:
    return span_of(given.keys[place] or given.values[place], module.lines)


def _text(module: Module, node: ast.expr) -> str:
    return ast.get_source_segment(module.text, node) or ast.unparse(node)
