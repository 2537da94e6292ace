"""What a reader reads of each finding: the code in one file, and in a second what the tool says of it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.accuracy.sampling import hash_of
from bench.judge.draw.archives import unpacked
from bench.judge.draw.frozen import VERDICTS, Draw, Drawn, Frozen
from tritonaudit.source.outline import Module, outline

HOW = f"""\
Read NNN.code.txt first and write down what you would say of this code yourself. Only then read NNN.message.txt and
decide whether what the tool says is so; the whole package is at hand for callers and helpers.

Write one line for each finding, tabs between: index, verdict, reason. Verdicts: {", ".join(VERDICTS)}.
true: what it says is so, and a maintainer would want to know. useless: so, but nobody would act on it.
false: not so, or it cannot happen with what the callers give. unsure: the code does not tell.
Give the reason in one sentence that names what in the code decides.
"""
_AROUND = 40


def write_sheets(draw: Draw, work: Path, to: Path) -> None:
    """Two files for each finding of the draw, and a page that says how they are read."""
    for one in draw.packages:
        _be_there(one, work / f"{one.package}-{one.version}")
    to.mkdir(parents=True, exist_ok=True)
    (to / "HOW.txt").write_text(HOW, encoding="utf-8")
    for finding in draw.findings:
        path = work / finding.package / finding.path
        text = path.read_text(encoding="utf-8", errors="replace")
        code = "\n".join((f"{finding.package}/{finding.path}", "", *code_of(finding, str(path), text)))
        (to / f"{finding.index:03}.code.txt").write_text(code + "\n", encoding="utf-8")
        said = f"line {finding.line}, {finding.severity}, {finding.code}: " + finding.message.replace(" | ", "\n  ")
        (to / f"{finding.index:03}.message.txt").write_text(said + "\n", encoding="utf-8")


def _be_there(package: Frozen, folder: Path) -> None:
    """Unpack the archive that was frozen where the folder is not there. Leaves where there is none, or another one."""
    if not package.reason and not folder.is_dir():
        sha256, reason = unpacked(package.package, package.version, folder)
        if reason or sha256 != package.sha256:
            sys.exit(f"{folder.name}: {reason or 'this is another archive than the one that was frozen'}")


def code_of(finding: Drawn, path: str, text: str) -> Iterator[str]:
    """The lines of the kernel, of the functions that it calls and of those that name it, each with its number."""
    module = outline(path, text)
    lines = text.split("\n")
    if finding.line > len(lines) or hash_of(lines[finding.line - 1]) != finding.line_hash:
        raise ValueError(f"{path}:{finding.line} is not the line that was frozen")
    shown = {number for first, last in _parts(finding, module, lines) for number in range(first, last + 1)}
    before = 0
    for number in sorted(shown):
        if number != before + 1:
            yield "  ..."
        yield f"{number:5} {lines[number - 1]}"
        before = number


def _parts(finding: Drawn, module: Module, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    yield max(1, finding.line - _AROUND), min(len(lines), finding.line + _AROUND)
    kernel = next((one for one in module.jit if one.first_line <= finding.line <= one.last_line), None)
    if kernel is None:
        return
    yield kernel.first_line, kernel.last_line
    called = {node.id for node in ast.walk(kernel.node) if isinstance(node, ast.Name)}
    naming = re.compile(rf"\b{re.escape(kernel.name)}\b")
    for node in module.tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            last = node.end_lineno or node.lineno
            if node.name in called or naming.search("\n".join(lines[first - 1 : last])):
                yield first, last
