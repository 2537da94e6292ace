"""`--fix`, `--unsafe-fixes`, `--add-ignore` and `--diff`: what fixes, or suppressions, make of the audited files."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tritonaudit.finding import Audit, Finding, Problem
from tritonaudit.fixes.applying import MOST_ROUNDS, FixedText, Syntax, apply_fixes, is_fixable
from tritonaudit.replacing import replace_file
from tritonaudit.source.decode import encoding_of
from tritonaudit.source.ignoring import with_suppressions
from tritonaudit.source.notebook import edited, is_as_sound, is_notebook

if TYPE_CHECKING:
    from tritonaudit.config import Config

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--fix", is_flag=True, help="Apply the safe fixes to the files, and report what remains."),
    click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: the unsafe fixes as well."),
    click.option(
        "--add-ignore", metavar="REASON", help="Write comments that suppress what is found, and report what remains."
    ),
    click.option(
        "--diff",
        is_flag=True,
        help="Show what --fix or --add-ignore would change instead of the report, and change nothing.",
    ),
)


def fix_options(command: Command) -> Command:
    """Adds the options of fixing."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def refuse(fix: bool, unsafe_fixes: bool, diff: bool, reason: str | None) -> None:
    """Raise where the options contradict each other."""
    if reason is not None and (fix or unsafe_fixes):
        raise click.UsageError("--add-ignore suppresses what is found, so it cannot be combined with fixes")
    if reason is not None and (not reason.strip() or not reason.isprintable() or "#" in reason):
        raise click.UsageError("--add-ignore needs a one-line reason without `#`, which goes into each comment")
    if fix and diff:
        raise click.UsageError("--diff changes nothing, so it cannot be combined with --fix")
    if unsafe_fixes and not (fix or diff):
        raise click.UsageError("--unsafe-fixes needs --fix or --diff")


@dataclass(frozen=True)
class Change:
    """One file before and after its fixes; `problems` are fixes that could not be applied."""

    path: Path
    before: bytes
    after: bytes
    fixed: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def shown(self) -> str:
        return self.path.as_posix()


def changes(audit: Audit, config: Config, unsafe: bool, reason: str | None = None) -> Iterator[Change]:
    """What fixes make of the files in which the audit found something fixable; nothing is written.

    With a reason it is comments that suppress whatever is found.
    """
    from tritonaudit.engine import text_checker

    check = text_checker(config)
    wanted = (f.path for f in audit.findings if reason is not None or is_fixable(f, unsafe=unsafe))
    for path in dict.fromkeys(wanted):
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            yield Change(Path(path), b"", b"", problems=(Problem(path, f"cannot be read: {error.strerror or error}"),))
        else:
            yield change(Path(path), data, check, unsafe, reason)


def change(
    path: Path, data: bytes, check: Callable[[bytes, Path], Audit], unsafe: bool, reason: str | None = None
) -> Change:
    """What fixes, or suppressions for a reason, make of a file that holds this data: newlines and encoding stay."""
    encoding = encoding_of(data)
    text = data.decode(encoding)
    if text.encode(encoding) != data:
        problem = Problem(path.as_posix(), f"is not fixed: {encoding} would not write back what it reads")
        return Change(path, data, data, problems=(problem,))
    syntax = Syntax(edited, lambda changed: is_as_sound(changed, text)) if is_notebook(path) else None

    def look(text: str) -> Sequence[Finding]:
        found = check(text.encode(encoding), path).findings
        return found if reason is None else with_suppressions(found, text, reason)

    result = apply_fixes(text, look, unsafe=unsafe, syntax=syntax)
    return Change(path, data, result.text.encode(encoding), result.fixed, tuple(_left(path, result)))


def write(changed: Sequence[Change], root: Path) -> tuple[int, tuple[Problem, ...]]:
    """Write the files that changed; how many findings that fixed, and what could not be written.

    A file that holds something else by now is left alone, and so is one that a link puts outside `root`.
    """
    fixed = 0
    problems: list[Problem] = []
    for one in changed:
        problems += one.problems
        if one.before != one.after:
            obstacle = _written(one, root)
            fixed += 0 if obstacle else one.fixed
            problems += [Problem(one.shown, obstacle)] if obstacle else []
    return fixed, tuple(problems)


def diff(changed: Sequence[Change]) -> str:
    """The changes as a unified diff."""
    return "".join(line for one in changed for line in _diff(one))


def to_standard_output(data: bytes) -> None:
    """Write a fixed text as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _left(path: Path, result: FixedText) -> Iterator[Problem]:
    for finding in result.dropped:
        reason = f"the fix of {finding.code} is left out, because the file would not parse; please report it"
        yield Problem(path.as_posix(), reason, finding.span.line, finding.span.cell)
    if not result.settled:
        yield Problem(path.as_posix(), f"there is more to fix after {MOST_ROUNDS} rounds; please report it")


def _written(one: Change, root: Path) -> str | None:
    """Write one file; why that could not be done, None where it was."""
    target = one.path.resolve()
    if not target.is_relative_to(root.resolve()):
        return f"is not fixed: a link leads to {target}, outside the project"
    try:
        if target.read_bytes() != one.before:
            return "is not fixed: it changed while it was audited"
        replace_file(target, one.after)
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"
    return None


def _diff(one: Change) -> Iterator[str]:
    before, after = (data.decode(encoding_of(one.before)) for data in (one.before, one.after))
    for line in difflib.unified_diff(_lines(before), _lines(after), one.shown, one.shown):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines that a diff knows, which end with `\\n` alone."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
