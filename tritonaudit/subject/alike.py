"""Which pairs are judged by the same text and by nothing else of the user's. Nothing is imported or run."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.subject.apart import users_file
from tritonaudit.subject.find import SubjectKind, kind_of, reference_of


def judged_alike(pair: Path) -> str:
    """What pairs of the same reference have in common; empty where more than that is run to judge one.

    So it is where the reference is in the pair's own file, or in one that is judged itself, or imports a file.
    """
    reference = reference_of(pair) if kind_of(pair) is SubjectKind.PAIR else None
    if reference is None or reference == pair or kind_of(reference) is not None:
        return ""
    try:
        data = reference.read_bytes()
        tree = ast.parse(decode(data))
    except (OSError, Undecodable, SyntaxError, ValueError):
        return ""
    if any(not name or users_file(reference, name) is not None for name in _imported(tree)):
        return ""
    return hashlib.sha256(data).hexdigest()


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names of modules that a file imports, or of what may be one; empty ones of its own package's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "" if node.level else node.module or ""
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
