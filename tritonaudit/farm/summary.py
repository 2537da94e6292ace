"""What the lines of a farm come to, read from their file."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHEATS = frozenset((*(f"TAC{number}" for number in range(410, 418)), "TAC212"))
"""Codes of what tries to look right."""
MOST_SHOWN = 20


class LineError(Exception):
    """A file that holds something else than lines of an audit; the message names file and line."""


@dataclass(frozen=True)
class Speed:
    """How many times faster than PyTorch a subject is at one size, in its 95 % interval, and its share of the roof."""

    path: str
    line: int
    size: str
    value: float
    low: float
    high: float
    efficiency: float | None


@dataclass(frozen=True)
class Counted:
    """A rule, how many files it has findings in, and the first of their lines."""

    code: str
    name: str
    files: int
    path: str
    line: int


@dataclass(frozen=True)
class Entry:
    """The last line of a file, with its number in the results."""

    path: str
    line: int
    verdict: str
    why: str


@dataclass(frozen=True)
class Summary:
    """The verdicts, and what stands behind them. `entries` are those that do not pass."""

    source: str
    verdicts: Counter[str]
    failures: tuple[Counted, ...]
    cheats: tuple[Counted, ...]
    speeds: tuple[Speed, ...]
    entries: tuple[Entry, ...]

    @property
    def slowest(self) -> tuple[Speed, ...]:
        return tuple(sorted(self.speeds, key=lambda speed: speed.value)[:MOST_SHOWN])

    @property
    def typical_speed(self) -> float | None:
        """The geometric mean of all speed-ups."""
        logs = [math.log(speed.value) for speed in self.speeds if speed.value > 0]
        return math.exp(sum(logs) / len(logs)) if logs else None


def summary_of(file: Path) -> Summary:
    """The summary of the last line of each path. Raises LineError."""
    lines = _last_lines(file)
    counts: Counter[str] = Counter()
    first: dict[str, tuple[str, str, int]] = {}
    speeds: list[Speed] = []
    entries: list[Entry] = []
    for number, line in lines:
        try:
            found = {one["code"]: one["name"] for one in line["findings"] if one["severity"] != "info"}
            counts.update(found.keys())
            for code, name in found.items():
                first.setdefault(code, (name, line["path"], number))
            speeds.extend(_speeds(line, number))
            if line["verdict"] not in ("pass", "no subject"):
                entries.append(Entry(line["path"], number, line["verdict"], _why(line)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise LineError(f"{file}:{number}: no line of an audit") from error
    kinds = [
        Counted(code, first[code][0], files, *first[code][1:])
        for code, files in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return Summary(
        str(file),
        Counter(line["verdict"] for _, line in lines),
        tuple(kind for kind in kinds if kind.code not in CHEATS),
        tuple(kind for kind in kinds if kind.code in CHEATS),
        tuple(speeds),
        tuple(entries),
    )


def _last_lines(file: Path) -> list[tuple[int, dict[str, Any]]]:
    """The last line of each path, with its number; one that is half written in the end is not one yet."""
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    number = 1
    try:
        with file.open(encoding="utf-8") as texts:
            for number, text in enumerate(texts, 1):
                if not text.endswith("\n"):
                    break
                line = json.loads(text)
                if not isinstance(line["verdict"], str) or not isinstance(line["path"], str):
                    raise TypeError("no text")
                found[line["path"]] = number, line
    except OSError as error:
        raise LineError(f"{file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise LineError(f"{file}:{number}: no line of an audit") from error
    return sorted(found.values(), key=lambda one: one[0])


def _why(line: dict[str, Any]) -> str:
    """The first thing that is said of it."""
    for error in line["errors"]:
        return str(error["message"])
    severe = sorted(line["findings"], key=lambda one: ("error", "warning", "info").index(one["severity"]))
    for finding in severe:
        return f"{finding['code']} {finding['message']}"
    for subject in line.get("ran", {}).get("subjects", ()):
        for missing in subject["coverage"]["missing"]:
            return f"not tried: {missing['what']}: {missing['why']}"
    return ""


def _speeds(line: dict[str, Any], number: int) -> list[Speed]:
    found = []
    for subject in line.get("measured", {}).get("subjects", ()):
        for row in subject["rows"]:
            efficiency = (row["roofline"] or {}).get("reached")
            for one in row["contenders"]:
                ratio = one["speedup"]
                if one["role"] == "pytorch" and ratio is not None:
                    value, low, high = (float(ratio[name]) for name in ("value", "low", "high"))
                    found.append(Speed(line["path"], number, row["size"], value, low, high, efficiency))
    return found
