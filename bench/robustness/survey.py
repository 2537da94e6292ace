"""Puts many files through the checker and counts what no file may do to it."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.processes import Ran, run

_CHUNK = 60
_LIMIT = 300.0
_FAILED = "tritonaudit failed"


@dataclass
class Survey:
    """What the files came to; `defects` are pairs of a path and what went wrong."""

    files: int = 0
    analysed: int = 0
    findings: int = 0
    refused_by_both: int = 0
    defects: list[tuple[str, str]] = field(default_factory=list)
    not_analysed: Counter[str] = field(default_factory=Counter)

    def add(self, seen: dict[str, Any]) -> None:
        """Count one file."""
        self.analysed += seen["analysed"]
        self.findings += seen["findings"]
        self.not_analysed.update(seen["not_analysed"])
        for message in seen["problems"]:
            if message.startswith(_FAILED):
                self.defects.append((seen["path"], message))
            elif seen["python"] is None:
                self.defects.append((seen["path"], f"Python accepts it, tritonaudit says: {message}"))
            else:
                self.refused_by_both += 1
        if seen["python"] is not None and not seen["problems"]:
            self.defects.append((seen["path"], f"tritonaudit accepts it, Python says: {seen['python']}"))


def survey(files: Sequence[Path], mode: str, tell: Callable[[str], None]) -> Survey:
    """Check all the files, in processes that are replaced when a file kills or stops one."""
    found = Survey(files=len(files))
    waiting = [str(path) for path in files]
    while waiting:
        chunk, waiting = waiting[:_CHUNK], waiting[_CHUNK:]
        lines, ran = _run(chunk, mode)
        for seen in lines:
            if len(seen) > 1:
                found.add(seen)
        if ran.code != 0:
            started = [seen["path"] for seen in lines if len(seen) == 1]
            culprit = started[-1] if started else chunk[0]
            found.defects.append((culprit, _death(ran)))
            waiting = chunk[chunk.index(culprit) + 1 :] + waiting
        tell(f"{len(files) - len(waiting)} of {len(files)} files")
    return found


def report(found: Survey, name: Callable[[str], str]) -> Iterator[str]:
    """What to print of a survey; `name` shortens a path."""
    yield f"{found.files} files, {found.analysed} functions analysed, {found.findings} findings"
    yield f"{found.refused_by_both} files that Python refuses too"
    for reason, count in found.not_analysed.most_common():
        yield f"not analysed: {count} functions: {reason}"
    for path, what in found.defects:
        yield f"DEFECT {name(path)}: {what}"
    yield f"{len(found.defects)} defects"


def python_files(folder: Path, without: Iterable[str] = ()) -> list[Path]:
    """The Python files of a folder, but for some of its folders."""
    skipped = set(without)
    return sorted(path for path in folder.rglob("*.py") if path.is_file() and not skipped & set(path.parts))


def _run(paths: list[str], mode: str) -> tuple[list[dict[str, Any]], Ran]:
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder, "files.json")
        listing.write_text(json.dumps(paths), encoding="utf-8")
        ran = run([sys.executable, "-m", "bench.robustness.worker", mode, listing], limit=_LIMIT)
    lines = ran.out.decode().split("\n")
    return [json.loads(line) for line in lines[:-1]], ran


def _death(ran: Ran) -> str:
    if ran.code is None:
        return f"not done after {_LIMIT:g} s"
    last = ran.err.decode(errors="replace").strip().rpartition("\n")[2]
    return f"the process ended with {ran.code} {last}".rstrip()
