"""Shapes and dtypes that people write beside parameters: in docstrings, comments and annotations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.source.outline import Module
from tritonaudit.subject.dimension import Dimension, check_dimension
from tritonaudit.subject.model import FLOATING, INTEGER


@dataclass(frozen=True)
class Note:
    """What is written of a tensor: its dimensions (a leading `...` left out, `is_partial`) and maybe its dtype."""

    dims: tuple[Dimension, ...] | None = None
    dtype: str | None = None
    is_partial: bool = False


def notes_on(module: Module, node: ast.FunctionDef) -> dict[str, Note]:
    """The notes on a function's parameters, by the parameter; a later source only fills in what is missing."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    names = [argument.arg for argument in arguments]
    found: dict[str, Note] = {}
    for name, text in (
        *((argument.arg, _annotated(argument)) for argument in arguments),
        *_comments_beside(module, arguments),
        *_docstring_parts(ast.get_docstring(node) or "", names),
        *_comments_in(module, node, names),
    ):
        note = _read(text)
        known = found.get(name, Note())
        if known.dims is None and note.dims is not None:
            known = Note(note.dims, known.dtype or note.dtype, note.is_partial)
        elif known.dtype is None and note.dtype is not None:
            known = Note(known.dims, note.dtype, known.is_partial)
        if known != Note():
            found[name] = known
    return found


# -- where notes stand ---------------------------------------------------------------------------------------------


def _annotated(argument: ast.arg) -> str:
    """The words of `Float[Tensor, "batch size"]` as a shape; dtypes that an annotation names."""
    node = argument.annotation
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        last = node.slice.elts[-1]
        if isinstance(last, ast.Constant) and isinstance(last.value, str):
            return f"shape ({', '.join(last.value.split())},)"
    return ""


def _comments_beside(module: Module, arguments: list[ast.arg]) -> Iterator[tuple[str, str]]:
    """`x: torch.Tensor,  # [rows, cols]`: one parameter to a line."""
    lines = [argument.lineno for argument in arguments]
    for argument in arguments:
        _, hash_sign, comment = module.lines[argument.lineno - 1].partition("#")
        if hash_sign and lines.count(argument.lineno) == 1:
            yield argument.arg, comment


def _comments_in(module: Module, node: ast.FunctionDef, names: list[str]) -> Iterator[tuple[str, str]]:
    """`# x: [rows, cols]` in the body."""
    for line in module.lines[node.lineno - 1 : node.end_lineno]:
        match = re.match(r"\s*#\s*(\w+)\s*(?::|is|has|=|\()(.*)", line)
        if match is not None and match[1] in names:
            yield match[1], match[0].partition(match[1])[2]


def _docstring_parts(docstring: str, names: list[str]) -> Iterator[tuple[str, str]]:
    """What a docstring says of each parameter: from a line that begins with its name to the next such line."""
    current, text = "", ""
    for line in docstring.splitlines():
        match = re.match(r"\s*(?:[-*]\s+|:param\s+(?:[\w.]+\s+)?)?[`*]*(\w+)[`*]*\s*(?=[:(,=]|\bof\b|-\s)", line)
        is_section = re.match(r"\s*(?:Returns?|Yields|Raises|Examples?|Notes?)\b.*:*\s*$", line) is not None
        if match is not None and match[1] in names:
            if current:
                yield current, text
            current, text = match[1], line[match.end() :]
        elif is_section:
            break
        else:
            text += f" {line.strip()}"
    if current:
        yield current, text


# -- what a note says ----------------------------------------------------------------------------------------------

_ANY = ("...", "*")  # any number of dimensions
_BRACKET = re.compile(r"[\[(]([^\[\]()]*(?:\([^()]*\)[^\[\]()]*)*)[\])]")
_DTYPE = re.compile(r"\b(int8|int16|int32|int64|uint8|bool|fp32|float32|float64|float8\w*|Long|Int|Bool)(?:Tensor)?\b")
_DTYPES = {"fp32": "float32", "Long": "int64", "Int": "int32", "Bool": "bool"}
_NO_DIMS = re.compile(
    r"\b(?:optional|int|float|bool|str|tensor|list|tuple|default|none|required|true|false|torch|callable|dtype)\b",
    re.IGNORECASE,
)


def _read(text: str) -> Note:
    dtype = _DTYPE.search(text)
    name = None if dtype is None else _DTYPES.get(dtype[1], dtype[1])
    known = name if name in (*FLOATING, *INTEGER) else None
    for match in _BRACKET.finditer(text):
        is_named = re.search(
            r"(?:shape|size|dim)\w*\W{0,4}(?:(?:of|is)\W+|:math:`)?$", text[: match.start()], re.IGNORECASE
        )
        parts = _dims(match[1], is_sure=is_named is not None)
        if parts is not None:
            is_partial = bool(parts) and parts[0] in _ANY
            return Note(tuple(parts[is_partial:]), known, is_partial)
    return Note(None, known)


def _dims(text: str, *, is_sure: bool) -> list[Dimension] | None:
    """The dimensions in a bracket; None where it holds something else."""
    text = text.strip()
    parts = [part.strip() for part in text.split(",")]
    has_tail = len(parts) > 1 and not parts[-1]
    parts = parts[:-1] if has_tail else parts
    if not parts or not all(parts) or _NO_DIMS.search(text):
        return None
    if len(parts) == 1 and not (is_sure or has_tail or parts[0].isupper()):
        return None
    dims = [_dim(part) for part in parts]
    if any(dim is None for dim in dims) or not any(isinstance(dim, str) for dim in dims):
        return None
    if any(dim in _ANY for dim in dims[1:]):
        return None
    return [dim for dim in dims if dim is not None]


def _dim(text: str) -> Dimension | None:
    """A dimension as it is written: a name, a number, or arithmetic on them."""
    if text in _ANY:
        return text
    if text.isdigit():
        return int(text)
    try:
        node = ast.parse(re.sub(r"(?<!/)/(?!/)", "//", text), mode="eval").body
        check_dimension(ast.unparse(node))
    except (SyntaxError, ValueError):
        return None
    return ast.unparse(node)
