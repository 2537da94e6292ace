"""Checks files one after the other and says of each what it came to; run as a process, since a file may kill it."""

from __future__ import annotations

import ast
import json
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import libcst

from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.finding import Audit, Status
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Unparsable, may_hold_kernels, outline
from tritonaudit.source.tree import FunctionTree, TooDeep


def main(mode: str, listing: str) -> None:
    """Check the files of a JSON list; `mode` is `every` (all files, all functions) or `kernels`."""
    for name in json.loads(Path(listing).read_text(encoding="utf-8")):
        print(json.dumps({"path": name}), flush=True)
        path = Path(name)
        data = path.read_bytes()
        if mode == "every":
            print(json.dumps(_every_function(path, data)), flush=True)
        elif may_hold_kernels(data):
            print(json.dumps(_seen(path, data, data)), flush=True)


def _every_function(path: Path, data: bytes) -> dict[str, object]:
    """The file as it is must be read and parsed as Python does; then all of its functions are made kernels."""
    try:
        text = decode(data)
        outline(str(path), text)
    except (Undecodable, Unparsable) as error:
        return _entry(path, data, Audit(), [error.message])
    except Exception as error:
        return _entry(path, data, Audit(), [f"tritonaudit failed: {traceback.format_exception_only(error)[-1]}"])
    return _seen(path, data, as_kernels(text).encode("utf-8", "surrogatepass"))


def _seen(path: Path, data: bytes, audited: bytes) -> dict[str, object]:
    audit = check_text(audited, path, Config(path.parent, pedantic=True))
    return _entry(path, data, audit, [problem.message for problem in audit.problems], _reasons(path, audited, audit))


def _entry(
    path: Path, data: bytes, audit: Audit, problems: list[str], reasons: Counter[str] | None = None
) -> dict[str, object]:
    return {
        "path": str(path),
        "analysed": audit.kernels,
        "findings": len(audit.findings),
        "problems": problems,
        "not_analysed": dict(reasons or {}),
        "python": _python_says(data),
    }


def as_kernels(text: str) -> str:
    """The text with Triton's decorator on every function that stands in no other; it passes the prefilter."""
    lines = text.split("\n")
    for node in sorted(_outermost(ast.parse(text)), key=_first_line, reverse=True):
        first = _first_line(node) - 1
        lines.insert(first, " " * (len(lines[first]) - len(lines[first].lstrip())) + "@triton.jit")
    lines[:2] = [line.replace("coding", "c0ding") if line.lstrip().startswith("#") else line for line in lines[:2]]
    changed = "\n".join([*lines, "import triton  # jit", ""])
    try:
        ast.parse(changed)
    except (SyntaxError, ValueError):
        return text  # the decorator has no place on a line of its own, behind a backslash
    return changed


def _outermost(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        elif not isinstance(node, ast.expr):
            yield from _outermost(node)


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _reasons(path: Path, data: bytes, audit: Audit) -> Counter[str]:
    """Why functions were not analysed."""
    reasons: Counter[str] = Counter()
    refused = {outcome.subject for outcome in audit.outcomes if outcome.status is Status.NOT_RUN}
    if not refused:
        return reasons
    module = outline(str(path), decode(data))
    for function in module.jit:
        if not any(subject.endswith(f":{function.first_line}") for subject in refused):
            continue
        try:
            FunctionTree(module, function)
            reasons["nested too deeply for the analysis"] += 1
        except (TooDeep, RecursionError):
            reasons["nested too deeply for LibCST"] += 1
        except libcst.ParserSyntaxError as error:
            reasons[f"LibCST refuses `{path.name}:{function.qualname}`: {error.message[:150]}"] += 1
    return reasons


def _python_says(data: bytes) -> str | None:
    """What Python has against the file, None when it accepts it."""
    try:
        compile(data, "<file>", "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
