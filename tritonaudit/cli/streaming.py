"""`tritonaudit audit --output-format jsonl`: each file's line is written as soon as it is known."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonaudit.cli import INTERRUPTED, terminal
from tritonaudit.report.escape import visible
from tritonaudit.report.shortfall import problem_line
from tritonaudit.report.status import Exit

if TYPE_CHECKING:
    from tritonaudit.audit import AuditRequest
    from tritonaudit.config import Config
    from tritonaudit.finding import Problem
    from tritonaudit.progress import Progress

JSONL = "jsonl"
_CODES = {"error": Exit.ERROR, "fail": Exit.FOUND, "incomplete": Exit.INCOMPLETE}
_TRIED_AGAIN = ("error", "incomplete")
"""Verdicts that another try may change, though nothing else did."""
_DECISIVE = (Exit.ERROR, Exit.FOUND, Exit.INCOMPLETE)


@dataclass
class Lines:
    """Where lines go: to the end of a file, or to the standard output; and what they say."""

    file: int | None
    name: str = ""
    verdicts: dict[str, str] = field(default_factory=dict)
    has_problems: bool = False

    def add(self, line: dict[str, Any]) -> None:
        from tritonaudit.report.jsonl import written

        self.add_text(written(line), line["path"], line["verdict"])

    def add_text(self, text: str, path: str, verdict: str) -> None:
        """Add a line that is written already, of that path and verdict."""
        if self.file is None:
            terminal.write(text)
        else:
            self._append(text.encode())
        self.verdicts[path] = verdict

    def _append(self, data: bytes) -> None:
        """Add it to the file, all of it or nothing. Raises click.ClickException."""
        assert self.file is not None
        end = os.fstat(self.file).st_size
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self.file, rest) :]
        except OSError as error:
            with suppress(OSError):  # what is no regular file cannot be shortened
                os.ftruncate(self.file, end)
            message = f"cannot write {self.name}: {error.strerror}; the lines before are kept, and --resume continues"
            raise click.ClickException(message) from error

    def note(self, problems: Sequence[Problem]) -> None:
        """Say what has no line, since it could not be found or read."""
        for problem in problems:
            self.has_problems = True
            click.echo(f"tritonaudit: {problem_line(problem)}", err=True)

    def exit_code(self, *, exit_zero: bool) -> int:
        """Of all lines together: that of the most decisive."""
        if self.has_problems:
            return int(Exit.ERROR)
        found = {_CODES.get(verdict, Exit.CLEAN) for verdict in self.verdicts.values()}
        found -= {Exit.FOUND} if exit_zero else set()
        return int(next((code for code in _DECISIVE if code in found), Exit.CLEAN))


def streamed(
    sources: Sequence[Path],
    config: Config,
    request: AuditRequest,
    output_file: Path | None,
    progress: Progress,
    *,
    exit_zero: bool,
) -> int:
    """Audit the files, write their lines, and tell the exit code. Raises NoGpu.

    A request that `resumes` leaves the lines that are there, and audits what they do not tell of.
    """
    from tritonaudit.report.jsonl import line_of
    from tritonaudit.shown import shown_path
    from tritonaudit.stream import audit_files

    began = time.monotonic()
    seed = request.seed if request.seed_is_asked_for else None
    with opened_lines(output_file, resumes=request.resumes, seed=seed) as (lines, digests):

        def known(path: str, digest: str) -> bool:
            return digests.get(path) == digest

        is_interrupted = False
        try:
            for one in audit_files(sources, config, request, known, lines.note, progress):
                audit = one.full.audit
                lines.add(line_of(shown_path(one.path), one.digest, audit, one.full.sections, config))
        except KeyboardInterrupt:
            is_interrupted = True
        seconds = time.monotonic() - began
        print_totals(lines, seconds)
        return INTERRUPTED if is_interrupted else lines.exit_code(exit_zero=exit_zero)


def print_totals(lines: Lines, seconds: float) -> None:
    """Say on the standard error what all lines together say."""
    counts = Counter(lines.verdicts.values())
    reported = ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())
    click.echo(f"tritonaudit: {len(lines.verdicts)} files in {seconds:.0f} s: {reported or 'none'}", err=True)


@contextmanager
def opened_lines(
    path: Path | None, *, resumes: bool, seed: int | None = None
) -> Iterator[tuple[Lines, dict[str, str]]]:
    """The lines, with the digests by path of those that stay in the file, but for those of another `seed` than this."""
    if path is None:
        yield Lines(None), {}
        return
    kept = _kept(path) if resumes and path.is_file() else []
    text = "".join(text for text, _ in kept)
    try:
        if not kept or text != path.read_text("utf-8"):
            terminal.write_file(path, text)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error
    try:
        said = [line for _, line in kept]
        final = [line for line in said if line["verdict"] not in _TRIED_AGAIN and _is_of_seed(line, seed)]
        yield (
            Lines(file, str(path), {line["path"]: line["verdict"] for line in said}),
            {line["path"]: line["digest"] for line in final},
        )
    finally:
        os.close(file)


def _kept(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The lines of a file that an earlier audit wrote: the last of each path, but for one left half written."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for number, text in enumerate(path.read_text("utf-8").splitlines(keepends=True), 1):
        if not text.endswith("\n"):
            break
        try:
            line = json.loads(text)
            seeds = {subject["seed"] for subject in line.get("ran", {}).get("subjects", ())}
            found[line["path"]] = text, {**{name: line[name] for name in ("path", "digest", "verdict")}, "seeds": seeds}
        except (AttributeError, ValueError, TypeError, KeyError) as error:
            place = f"{visible(str(path))}:{number}"
            remedy = "move the file away, or leave out --resume"
            raise click.ClickException(f"{place}: not a line of an audit: {remedy}") from error
    return list(found.values())


def _is_of_seed(line: dict[str, Any], seed: int | None) -> bool:
    """Whether what was drawn at random for a line, if anything was, was drawn by that seed, if that matters."""
    return seed is None or line["seeds"] <= {None, seed}
