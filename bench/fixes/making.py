"""Texts of published kernels before a safe fix and after it, and what the rules find in both."""

from __future__ import annotations

import ast
import random
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from bench.fixes.seeds import SEEDS, Change
from bench.judge.faults.mutants import SourceFile, Target, source_file
from bench.mutation.sites import Function
from tritonaudit.config import Config
from tritonaudit.engine import text_checker
from tritonaudit.finding import Audit, Confidence, Finding
from tritonaudit.fixes.applying import apply_fixes, is_fixable
from tritonaudit.selection import ALL

if TYPE_CHECKING:
    from tritonaudit.domains.facts import KernelFlow

PUBLISHED = "as published"
_TRIES = 4
"""Rare faults that are put into a kernel at most until enough are found, and then common ones."""


@dataclass(frozen=True)
class Made:
    """A kernel with a finding, by its function's text without decorators, and with its safe fix.

    `seed` is the fault that was put in, or `PUBLISHED`; `imports` are those that the fix adds; `problem` says what the
    check of the fixed text tells that it should not, or why the fixed function is none to be executed.
    """

    target: Target
    rule: str
    seed: str
    before: str
    after: str
    imports: tuple[str, ...] = ()
    problem: str = ""
    is_executable: bool = True


def made_of(target: Target, number: int, most: int) -> Iterator[Made]:
    """Each rule's finding of the kernel as it is, and at most so many of faults that are put in, the rarer first."""
    text = Path(target.path).read_text(encoding="utf-8")
    node = source_file(text).function(target)
    if node is None:
        return
    reported = [one for one in _found(text, target.path) if _is_of(one, target) and is_fixable(one, unsafe=False)]
    for rule in dict.fromkeys(one.code for one in reported):
        yield _fixed(target, rule, PUBLISHED, text, text)
    yield from _seeded(target, text, number, most)


def _seeded(target: Target, text: str, number: int, most: int) -> Iterator[Made]:
    source, seeds = source_file(text), [*SEEDS[number % len(SEEDS) :], *SEEDS[: number % len(SEEDS)]]
    node = source.function(target)
    assert node is not None
    function = Function(node, is_kernel=True)
    chance = random.Random(f"{target.name} {target.line}")
    tries, found = Counter[bool](), 0
    for seed in sorted(seeds, key=lambda one: one.is_common):
        if found == most or tries[seed.is_common] == _TRIES:
            continue
        changes = list(seed.changes(function))
        whole = _edited(source, node, chance.choice(changes)) if changes else None
        if whole is None:
            continue
        tries[seed.is_common] += 1
        if _is_reported(target, seed.rule, whole):
            found += 1
            yield _fixed(target, seed.rule, seed.name, text, whole)


def _edited(source: SourceFile, node: object, change: Change) -> str | None:
    """The file's text with the change; None where that is no Python."""
    try:
        _, whole = source.edited(node, *change)  # type: ignore[arg-type]
        compile(whole, "kernel", "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return None if whole == source.text else whole


def _is_reported(target: Target, rule: str, text: str) -> bool:
    reported = _found(text, target.path, rule)
    return any(_is_of(one, target) and is_fixable(one, unsafe=False) for one in reported)


def _fixed(target: Target, rule: str, seed: str, original: str, before: str) -> Made:
    """Fixed by this rule alone, in this kernel alone."""

    def look(text: str) -> list[Finding]:
        return [one for one in _found(text, target.path, rule) if _is_of(one, target)]

    result = apply_fixes(before, look)
    problem = _problem(target, rule, original, result.text, seed)
    if not result.settled or result.dropped:
        problem = "a fix was dropped, or there is always another"
    parts = [_Parts.of(text, target) for text in (before, result.text)]
    imports = _imports(*parts)
    functions = [one.function for one in parts]
    return Made(target, rule, seed, functions[0], functions[1], imports or (), problem, imports is not None)


def _problem(target: Target, rule: str, published: str, fixed: str, seed: str) -> str:
    """What is found in the fixed text that is not found in the published one."""
    original, after = (_found(text, target.path) for text in (published, fixed))
    counts = [Counter((one.code, one.kernel) for one in found) for found in (original, after)]
    if more := counts[1] - counts[0]:
        return f"found after the fix: {', '.join(sorted({one for one, _ in more}))}"
    is_left = any(one.code == rule and _is_of(one, target) and is_fixable(one, unsafe=False) for one in after)
    return f"{rule} is still found" if is_left and seed == PUBLISHED else ""


@dataclass(frozen=True)
class _Parts:
    """The lines above a function, decorators among them, its own without them, and the lines below."""

    head: tuple[str, ...]
    function: str
    tail: tuple[str, ...]

    @classmethod
    def of(cls, text: str, target: Target) -> _Parts:
        """That of the name which is nearest to the line."""
        named = (
            one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef) and one.name == target.name
        )
        node = min(named, key=lambda one: abs(one.lineno - target.line))
        lines = text.split("\n")
        own = lines[node.lineno - 1 : node.end_lineno]
        return cls(
            tuple(lines[: node.lineno - 1]), textwrap.dedent("\n".join(own)) + "\n", tuple(lines[node.end_lineno :])
        )


def _imports(before: _Parts, after: _Parts) -> tuple[str, ...] | None:
    """The imports that a fix adds; None where it changes more than the function beside."""
    kept = tuple(line for line in after.head if line in before.head or not line.startswith(("from ", "import ")))
    added = tuple(line for line in after.head if line not in before.head)
    return added if (kept, after.tail) == (before.head, before.tail) else None


def _is_of(finding: Finding, target: Target) -> bool:
    return (finding.kernel or "").rpartition(".")[2] == target.name


@lru_cache(maxsize=16)
def _found(text: str, path: str, rule: str = ALL) -> tuple[Finding, ...]:
    """What the rule reports, or all rules do, where nobody asks for what is of low confidence."""
    found = _checker(rule)(text.encode(), Path(path)).findings
    return tuple(one for one in found if one.confidence is not Confidence.LOW)


@cache
def _checker(rule: str) -> Callable[[bytes, Path], Audit]:
    """One, which reads the project of the files once, and of a text only where it differs from the one before it."""
    return text_checker(Config(Path("/nowhere"), select=(rule,)), watch=_Unwatched())


class _Unwatched:
    def step(self) -> None:
        """Go on."""

    def met(self, kernel: KernelFlow) -> None:
        """The findings say all that is asked."""
