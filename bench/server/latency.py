"""How long after a key is pressed the findings of the text are there."""

from __future__ import annotations

import ast
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.corpus import KernelFile
from bench.server.client import Client
from tritonaudit.source.decode import decode
from tritonaudit.source.outline import outline

_TYPED = "y = 2 * 3"
_EVALUATED, _DIGITS = "y = [1]", "23456"
IN_KERNEL, ELSEWHERE = "in a kernel", "elsewhere in the file"
IN_VALUE = "in a list elsewhere"
"""Digits of a statement that does not count as dead: after each the host code is evaluated again."""
_PLACES = (IN_KERNEL, ELSEWHERE, IN_VALUE)
TARGET = 0.2
"""Seconds."""


@dataclass(frozen=True)
class Key:
    """One key that was pressed in a file: where, how long until the findings were there, and what that cost."""

    place: str
    seconds: float
    processor: float


@dataclass(frozen=True)
class Typed:
    """What was measured with one file: `opened` is the time until its first findings were there."""

    path: Path
    lines: int
    kernels: int
    opened: float
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class Place:
    """Where a statement can be typed: after this row, indented so."""

    name: str
    row: int
    indent: str


def places_in(file: KernelFile, rng: random.Random) -> list[Place]:
    """One in a kernel and one in another function, where there are such."""
    text = decode(file.path.read_bytes())
    return [place for kernel in (True, False) if (place := _place(file.path, text, rng, kernel=kernel)) is not None]


def typed(file: KernelFile, places: Sequence[Place], root: Path) -> Typed:
    """Open the file in a new server and type a statement at each place, waiting after each key."""
    text = decode(file.path.read_bytes())
    with Client(root) as client:
        start = time.perf_counter()
        uri = client.open(file.path, text)
        client.diagnostics(uri, 1)
        opened = time.perf_counter() - start
        keys: list[Key] = []
        typing = _Typing(client, uri, text)
        for place in places:
            keys += [Key(place.name, *cost) for cost in typing.keys(place, "", _TYPED)]
        for place in places:
            if place.name == ELSEWHERE:
                keys += [Key(IN_VALUE, *cost) for cost in typing.keys(place, _EVALUATED, _DIGITS)[1:]]
    return Typed(file.path, file.lines, len(file.slices), opened, tuple(keys))


@dataclass
class _Typing:
    """Types in an open file, each time from the same text."""

    client: Client
    uri: str
    text: str
    version: int = 1

    def keys(self, place: Place, given: str, typed: str) -> list[tuple[float, float]]:
        """What each key costs: a line with what is `given` before its last bracket, and then what is typed there."""
        line = place.indent + given
        found = [self._press((place.row, len(self.text.split("\n")[place.row])), f"\n{line}")]
        start = len(line) - given.endswith("]")
        found += [self._press((place.row + 1, column), key) for column, key in enumerate(typed, start)]
        self.version += 1
        self.client.change(self.uri, self.version, {"text": self.text})
        self.client.diagnostics(self.uri, self.version)
        return found

    def _press(self, at: tuple[int, int], key: str) -> tuple[float, float]:
        self.version += 1
        return _press(self.client, self.uri, self.version, at, key)


def _press(client: Client, uri: str, version: int, at: tuple[int, int], key: str) -> tuple[float, float]:
    place = {"line": at[0], "character": at[1]}
    start, spent = time.perf_counter(), client.processor_seconds()
    client.change(uri, version, {"range": {"start": place, "end": place}, "text": key})
    client.diagnostics(uri, version)
    return time.perf_counter() - start, client.processor_seconds() - spent


def _place(path: Path, text: str, rng: random.Random, *, kernel: bool) -> Place | None:
    module = outline(str(path), text)
    inside = [(jit.first_line, jit.last_line) for jit in module.jit]
    rows = [
        (node.end_lineno - 1, " " * node.col_offset)
        for node in _statements(module.tree)
        if any(first <= node.lineno <= last for first, last in inside) is kernel
        and node.end_lineno is not None
        and module.lines[node.end_lineno - 1].isascii()
    ]
    if not rows:
        return None
    return Place(IN_KERNEL if kernel else ELSEWHERE, *rng.choice(rows))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The simple statements inside of functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield from (
                node
                for node in ast.walk(function)
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) and node is not function.body[0]
            )


def table(found: Sequence[Typed], root: Path) -> Iterator[str]:
    """The figures as Markdown."""
    yield "| where | keys | median | 95th percentile | slowest | within 200 ms | processor: median | 95th percentile |"
    yield "|---|---|---|---|---|---|---|---|"
    every = [key for one in found for key in one.keys]
    for name in (IN_KERNEL, ELSEWHERE, "either of these", IN_VALUE):
        keys = [key for key in every if key.place == name or (name not in _PLACES and key.place != IN_VALUE)]
        times, costs = sorted(key.seconds for key in keys), sorted(key.processor for key in keys)
        if times:
            within = sum(one <= TARGET for one in times) / len(times)
            waited = _shown(statistics.median(times), _percentile(times, 95), times[-1])
            cost = _shown(statistics.median(costs), _percentile(costs, 95))
            yield f"| {name} | {len(times):,} | {waited} | {within:.1%} | {cost} |"
    yield ""
    yield "| file | lines | kernels | opened | median | slowest |"
    yield "|---|---|---|---|---|---|"
    for one in sorted(found, key=lambda one: -max(key.seconds for key in one.keys)):
        times = [key.seconds for key in one.keys]
        waited = _shown(one.opened, statistics.median(times), max(times))
        yield f"| {one.path.relative_to(root).as_posix()} | {one.lines} | {one.kernels} | {waited} |"


def _shown(*seconds: float) -> str:
    return " | ".join(f"{1000 * one:,.0f} ms" for one in seconds)


def _percentile(ordered: Sequence[float], percent: int) -> float:
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]
