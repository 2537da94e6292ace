"""Integers kept from wrapping, and from becoming floats."""

from __future__ import annotations

import ast

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Edit, Fix, Span
from tritonaudit.ir.mistakes import Mistake
from tritonaudit.source.edits import inserted
from tritonaudit.source.outline import span_of

_CAST = "to"
_ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript)


def widened_factor(kernel: KernelFlow, mistake: Mistake) -> Fix | None:
    """A factor cast before the product is, unless it is a parameter: 1 passed for it is a number without `.to`."""
    call = mistake.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != _CAST:
        return None
    product, dtypes = call.func.value, [*call.args, *(one.value for one in call.keywords if one.arg == "dtype")]
    parameters = {parameter.name for parameter in kernel.function.parameters}
    if not isinstance(product, ast.BinOp) or len(dtypes) != 1:
        return None
    named = ast.parse(str(mistake.words["factor"]), mode="eval").body
    factor = next((one for one in (product.left, product.right) if ast.dump(one) == ast.dump(named)), None)
    if factor is None or (isinstance(factor, ast.Name) and factor.id in parameters):
        return None
    cast = f".to({ast.unparse(dtypes[0])})"
    place = _with_parentheses(kernel, bare := span_of(factor, kernel.module.lines))
    if place == bare and not isinstance(factor, _ATOMS):
        edits = inserted(place, before="(", after=f"){cast}")
    else:
        edits = inserted(place, after=cast)
    return Fix(f"cast `{ast.unparse(factor)}` before the product", edits, safe=True)


def divided_down(kernel: KernelFlow, mistake: Mistake) -> Fix | None:
    """`//` in an offset: nothing else makes an integer of it."""
    return _floor(kernel, mistake, safe=True)


def divided_down_bound(kernel: KernelFlow, mistake: Mistake) -> Fix | None:
    """`//` in a loop's bound; unsafe, for rounding up may be meant."""
    return _floor(kernel, mistake, safe=False)


def _floor(kernel: KernelFlow, mistake: Mistake, *, safe: bool) -> Fix | None:
    divisions = mistake.words.get("divisions")
    if not isinstance(divisions, tuple) or not divisions:
        return None
    edits = [_floored(kernel, division) for division in divisions]
    whole = tuple(edit for edit in edits if edit is not None)
    return Fix("write `//`", whole, safe) if len(whole) == len(edits) else None


def _floored(kernel: KernelFlow, division: ast.BinOp) -> Edit | None:
    """The sign of a division, where it stands in a line with its operands' ends."""
    lines = kernel.module.lines
    left, right = span_of(division.left, lines), span_of(division.right, lines)
    if left.end_line != right.line:
        return None
    between = lines[left.end_line - 1][left.end_column - 1 : right.column - 1]
    if between.count("/") != 1:
        return None
    column = left.end_column + between.index("/")
    return Edit(Span(left.end_line, column, left.end_line, column + 1), "//")


def _with_parentheses(kernel: KernelFlow, place: Span) -> Span:
    """The place with the parentheses directly around it, on its lines."""
    before = kernel.module.lines[place.line - 1][: place.column - 1]
    after = kernel.module.lines[place.end_line - 1][place.end_column - 1 :]
    if before.endswith("(") and after.startswith(")"):
        return Span(place.line, place.column - 1, place.end_line, place.end_column + 1)
    return place
