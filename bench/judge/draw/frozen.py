"""A draw as it is kept: the commit, the packages, the findings that were drawn, and what readers said of them."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TypeVar

HOLDER = Path(__file__).parent
VERDICTS = ("true", "useless", "false", "unsure")
"""True and worth reporting; true, but of no use to anybody; false; the reader cannot tell."""


@dataclass(frozen=True)
class Frozen:
    """One package of a draw at the commit: its archive, and what the tool said of it, and adds with `--pedantic`."""

    commit: str
    package: str
    version: str
    sha256: str
    kernels: int
    errors: int
    warnings: int
    infos: int
    pedantic: int
    reason: str = ""


@dataclass(frozen=True)
class Drawn:
    """A finding that was drawn; one of low confidence is shown only by `--pedantic`.

    `line_hash` is of the line's text, which shows whether it is still that.
    """

    index: int
    code: str
    severity: str
    confidence: str
    package: str
    path: str
    line: int
    kernel: str
    fingerprint: str
    line_hash: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """What a reader said of a finding."""

    reader: str
    index: int
    verdict: str
    reason: str


Row = TypeVar("Row", Frozen, Drawn, Verdict)


@dataclass(frozen=True)
class Draw:
    """The files of a draw."""

    number: int

    @property
    def packages_file(self) -> Path:
        return HOLDER / f"{self.number}-packages.tsv"

    @property
    def findings_file(self) -> Path:
        return HOLDER / f"{self.number}-findings.tsv"

    @property
    def verdicts_file(self) -> Path:
        return HOLDER / f"{self.number}-verdicts.tsv"

    @property
    def packages(self) -> Sequence[Frozen]:
        return read(self.packages_file, Frozen)

    @property
    def findings(self) -> Sequence[Drawn]:
        return read(self.findings_file, Drawn)

    @property
    def verdicts(self) -> Sequence[Verdict]:
        return read(self.verdicts_file, Verdict) if self.verdicts_file.is_file() else ()


def read(path: Path, kind: type[Row]) -> list[Row]:
    """The rows of a file. Leaves with a message where there is no such file, or a row is none."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        return [
            kind(**{one.name: int(row[one.name]) if one.type == "int" else row[one.name] or "" for one in fields(kind)})
            for row in rows
        ]
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"{path}: {type(error).__name__}: {error}")


def write(path: Path, kind: type[Row], rows: Iterable[Row]) -> None:
    """Write rows under their titles; a tab or a line's end in a text becomes a blank."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(one.name for one in fields(kind)) + "\n")
        for row in rows:
            file.write("\t".join(" ".join(str(value).split()) for value in astuple(row)) + "\n")
