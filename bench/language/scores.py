"""What was predicted against what the compiler did."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.finding import Confidence, Finding, Severity

REJECTIONS = frozenset(
    {"TAC102", "TAC103", "TAC104", "TAC105", "TAC106", "TAC107", "TAC108", "TAC112", "TAC202", "TAC205", "TAC211"}
    | {f"TAC{number}" for number in range(120, 128)}
)
"""Codes whose errors say that a kernel does not compile."""

_ALONE = Path(tempfile.gettempdir(), "tritonaudit-alone", "snippet.py")
"""The name of every text that is judged: a folder that holds no other file, since others may launch a kernel."""


@dataclass(frozen=True)
class Judged:
    """One case under one release: whether the compiler rejects it and what it said, and the findings that say so."""

    group: str
    case: str
    release: str
    rejected: bool
    predicted: tuple[Finding, ...]
    said: str = ""
    text: str = ""

    @property
    def right(self) -> bool:
        return self.rejected == bool(self.predicted)


@dataclass(frozen=True)
class Score:
    """How the predictions of some cases fared."""

    right_errors: int
    false_alarms: int
    misses: int
    silent: int

    @classmethod
    def of(cls, judged: Iterable[Judged]) -> Score:
        counts = {(True, True): 0, (False, True): 0, (True, False): 0, (False, False): 0}
        for one in judged:
            counts[one.rejected, bool(one.predicted)] += 1
        return cls(counts[True, True], counts[False, True], counts[True, False], counts[False, False])

    @property
    def precision(self) -> float | None:
        predicted = self.right_errors + self.false_alarms
        return self.right_errors / predicted if predicted else None

    @property
    def recall(self) -> float | None:
        rejected = self.right_errors + self.misses
        return self.right_errors / rejected if rejected else None


def predictions(text: str, release: str) -> tuple[Finding, ...]:
    """The findings on a file, for one release, that say that a kernel of it does not compile."""
    version = ".".join(release.split(".")[:2])
    config = Config(Path.cwd(), target_triton=f"=={version}", select=tuple(sorted(REJECTIONS)))
    audit = check_text(text.encode(), _ALONE, config)
    if audit.problems:
        raise ValueError(f"{audit.problems[0].message}\n{text}")
    # What is selected by name is shown whatever its confidence.
    shown = (f for f in audit.findings if f.confidence is not Confidence.LOW)
    return tuple(f for f in shown if f.code in REJECTIONS and f.severity is Severity.ERROR)


def read_matrix(path: Path, gpu: str) -> dict[tuple[str, str], dict[str, bool]]:
    """For each case, whether each release compiles it for `gpu`."""
    table: Mapping[str, Mapping[str, Mapping[str, Mapping[str, bool]]]] = json.loads(path.read_text(encoding="utf-8"))
    return {
        (group, case): {
            key.partition("/")[0]: bool(outcome["ok"])
            for key, outcome in outcomes.items()
            if key.partition("/")[2] == gpu and not key.startswith("2.")
        }
        for group, named in table.items()
        for case, outcomes in named.items()
    }
