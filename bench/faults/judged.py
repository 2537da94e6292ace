"""What readers found of the flags, and which files were reported as broken before."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.faults.run import Flag

_VERDICTS = Path(__file__).with_name("verdicts.tsv")
_REPORTED = Path(__file__).with_name("reported.tsv")


@dataclass(frozen=True)
class Verdict:
    """Whether a flag of this kind at this line is true, and why."""

    edition: str
    file: str
    line: int
    kind: str
    is_true: bool
    why: str

    def fits(self, edition: str, file: str, flag: Flag) -> bool:
        return (self.edition, self.file, self.line, self.kind) == (edition, file, flag.line, flag.kind)


@dataclass(frozen=True)
class Reported:
    """A file that https://github.com/thunlp/TritonBench/issues/12 names, and what is wrong in it.

    `line` and `kind` are of the original edition. The issue tells only the names; the rest was found by reading.
    """

    file: str
    line: int
    kind: str
    why: str


def verdicts() -> Sequence[Verdict]:
    """All that was judged."""
    return [
        Verdict(row["edition"], row["file"], int(row["line"]), row["kind"], row["verdict"] == "true", row["why"])
        for row in _rows(_VERDICTS)
    ]


def reported() -> Sequence[Reported]:
    """The files that were reported."""
    return [Reported(row["file"], int(row["line"]), row["kind"], row["why"]) for row in _rows(_REPORTED)]


def _rows(path: Path) -> Sequence[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))
