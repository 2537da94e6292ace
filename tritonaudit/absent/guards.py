"""Whether the user's code is prepared for what goes wrong: then it is left to it, as it would be without us."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType

from tritonaudit.execute.blame import is_users
from tritonaudit.source.decode import Undecodable, decode


@dataclass(frozen=True)
class Importing:
    """The frame whose import statement, or call of `import_module`, is being carried out.

    `is_of_name` tells that it is `from package import name`, where the name need not be a module.
    """

    frame: FrameType
    is_of_name: bool


def importing() -> Importing | None:
    """Who is importing; None for a mere look-up."""
    frame: FrameType | None = sys._getframe(1)
    is_of_name = False
    while frame is not None and (_is_importing(frame) or frame.f_globals.get("__name__") == _IMPORTER):
        if frame.f_code.co_name == "find_spec" and frame.f_globals.get("__name__") == "importlib.util":
            return None
        is_of_name = is_of_name or frame.f_code.co_name == "_handle_fromlist"
        frame = frame.f_back
    return None if frame is None else Importing(frame, is_of_name)


_IMPORTER = "tritonaudit.absent.importer"


def _is_importing(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return frame.f_code.co_filename.startswith("<frozen importlib") or str(name).startswith("importlib")


def users_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the user's code, from the innermost outwards."""
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def is_caught(frame: FrameType | None, error: type[BaseException]) -> bool:
    """Whether the user's code around what the frame does catches such an error, and goes on."""
    names = {base.__name__ for base in error.__mro__ if base is not object}
    return any(_catches(one, names) for one in users_frames(frame))


def _catches(frame: FrameType, names: set[str]) -> bool:
    tree = parsed(frame.f_code.co_filename)
    if tree is None:
        return False
    return any(
        _is_prepared(node, names)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Try, ast.With)) and _is_within(frame.f_lineno, node.body)
    )


def _is_within(line: int, body: list[ast.stmt]) -> bool:
    return body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno)


def _is_prepared(node: ast.Try | ast.With, names: set[str]) -> bool:
    if isinstance(node, ast.With):
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        return any(_last(call.func) == "suppress" and any(_last(one) in names for one in call.args) for call in calls)
    handler = next((one for one in node.handlers if _handles(one.type, names)), None)
    return handler is not None and not any(isinstance(inner, ast.Raise) for inner in handler.body)


def _handles(caught: ast.expr | None, names: set[str]) -> bool:
    some = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(one is None or _last(one) in names for one in some)


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


@lru_cache(maxsize=64)
def parsed(path: str) -> ast.Module | None:
    """A file's tree; None where it cannot be read as Python."""
    try:
        with open(path, "rb") as file:
            return ast.parse(decode(file.read()), path)
    except (OSError, Undecodable, SyntaxError, ValueError):
        return None
